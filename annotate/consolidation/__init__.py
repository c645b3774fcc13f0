"""One value out of what several annotators said, and how far they agree."""
