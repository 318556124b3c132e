"""Detection with unknown objects."""
