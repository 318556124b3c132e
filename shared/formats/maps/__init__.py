"""Anomaly maps and masks: the layouts of data sets, and the files in them."""
