"""The package as a whole: its rooms, names, help and release."""
