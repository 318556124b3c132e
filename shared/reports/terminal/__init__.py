"""Lay out results for a terminal: a row for each metric, three decimals, intervals beside their numbers."""
