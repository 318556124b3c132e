"""True and predicted boxes."""
