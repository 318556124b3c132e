"""Find and read anomaly maps and masks, in the layouts of data sets."""
