"""Rows of tables: the inputs as tables, joined by the names of their rows, and the columns of each model."""
