"""Columns of scores and labels."""
