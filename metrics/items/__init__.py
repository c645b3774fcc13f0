"""What models' outcomes tell of items."""
