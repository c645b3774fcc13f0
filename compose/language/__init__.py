"""The criteria file: what may be written in it, and whether it fits the items."""
