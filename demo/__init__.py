"""Compute the eight metrics on real data bundled with packages: `python -m demo`."""
