"""What comes in: arrays, columns, options and states, and how they are sorted and counted."""
