"""What keeps a page within its bounds: limits, costs, requests, uploads and what is kept of a visitor."""
