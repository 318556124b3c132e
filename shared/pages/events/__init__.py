"""What happens on a page: which event takes which parts, and what it changes."""
