"""What is written."""
