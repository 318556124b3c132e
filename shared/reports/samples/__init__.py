"""The report of single samples: known ones that look unknown, and unknown ones that look known."""
