"""Columns of scores and labels: .npy, .csv, .parquet, .json and similar files."""
