"""Scores in order: counts, curves, areas, operating points, and their intervals."""
