"""Dask, and workers that die."""
