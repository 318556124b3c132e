"""Anomaly maps and masks."""
