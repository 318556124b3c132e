"""Text for people on a terminal, in place of what commands print in a pipe."""
