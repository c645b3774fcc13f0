"""Annotating on a Ray cluster."""
