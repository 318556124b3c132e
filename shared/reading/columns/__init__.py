"""Columns of a metric: the names, kinds and values by which arrays of tables are recognised as them."""
