"""The metric's columns, put together from the arrays that were read."""
