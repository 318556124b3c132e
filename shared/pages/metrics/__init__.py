"""The page of each metric, as data."""
