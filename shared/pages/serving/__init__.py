"""Serve pages within limits: of costs, requests, uploads and kept computations."""
