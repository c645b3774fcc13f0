"""Counting pairs of models."""
