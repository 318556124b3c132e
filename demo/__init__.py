"""The eight metrics on real data that packages bundle: `python -m demo`."""
