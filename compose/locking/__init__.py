"""What a composition rests on, and what has moved since."""
