"""Task files for evaluation harnesses, and the proof that they hold."""
