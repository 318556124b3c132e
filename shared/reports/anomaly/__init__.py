"""The report of anomaly maps: one HTML file with numbers, decisions, curves and the worst images."""
