"""Out-of-distribution detection."""
