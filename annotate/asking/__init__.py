"""Asking models: what is asked of whom, in which form, and what is kept of a run."""
