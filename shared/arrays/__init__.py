"""Input: arrays, columns, options and states, and how they are sorted and counted."""
