"""What commands print on a terminal for people, beside what they print in a pipe."""
