"""The pictures on the pages."""
