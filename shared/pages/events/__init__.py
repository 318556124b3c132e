"""The events of a page: which parts each takes, and which it changes."""
