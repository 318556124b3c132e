"""Assemble the metric's columns from the arrays that were read."""
