"""Uploads, archives and pasted cells as named arrays."""
