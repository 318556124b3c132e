"""What `make docs` does beside MkDocs: pages from cards and notebooks, pictures, formulas, and checks of the site."""
