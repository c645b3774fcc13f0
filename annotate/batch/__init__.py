"""Annotating by an endpoint's Batch API."""
