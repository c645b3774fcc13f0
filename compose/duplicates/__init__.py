"""Items that are copies of others."""
