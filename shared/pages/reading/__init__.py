"""Read uploads, archives and pasted cells as named arrays."""
