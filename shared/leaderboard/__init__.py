"""Saved results of several models: their numbers by group and seed, and which do not differ from the best."""
