"""Hooks of `make docs` for MkDocs: pages from cards and notebooks, figures, formulas, and checks of the site."""
