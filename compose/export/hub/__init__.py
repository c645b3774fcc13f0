"""A subset on the Hugging Face Hub: pushed and taken up again."""
