"""The right half of a page: numbers, figures and exports."""
