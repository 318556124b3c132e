"""Generated files, and what goes to the Hub."""
