"""Which of the items that are left are drawn."""
