"""Anomaly maps."""
