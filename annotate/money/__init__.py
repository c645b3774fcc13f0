"""What an annotation costs: counted before, and capped while it runs."""
