"""Anomaly maps and masks, in the layouts of data sets."""
