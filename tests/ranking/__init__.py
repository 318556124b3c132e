"""Counts, curves, areas and intervals of ranks."""
