"""The left half of a page: data, what columns are made of, and options."""
