"""Agreement of raters, with one another and with the truth."""
