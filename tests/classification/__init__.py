"""Top-k."""
