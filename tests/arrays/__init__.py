"""Columns, arrays and equal rows."""
