"""Columns of rows: which array is which column of a metric, and how columns are made of arrays."""
