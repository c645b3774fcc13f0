"""Attributes that are computed from an item's text."""
