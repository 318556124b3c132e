"""The text that commands print on a terminal instead of JSON."""
