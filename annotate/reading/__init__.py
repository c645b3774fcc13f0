"""From the body of an answer to validated values."""
