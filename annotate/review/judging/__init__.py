"""What people's answers tell of each other and of the models."""
