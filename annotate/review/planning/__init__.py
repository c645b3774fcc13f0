"""What is reviewed, in which order, and by whom."""
