"""The right half of a page: numbers, pictures, and what can be taken away."""
