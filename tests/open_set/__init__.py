"""Open-set recognition."""
