"""Bounds of a page: limits, costs, requests, uploads and kept computations."""
