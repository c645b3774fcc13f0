"""Resampling of items and models."""
