"""Anomaly maps and data sets on disk."""
