"""The left half of a page: data, columns and options."""
