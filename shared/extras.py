"""Errors that say what to install where an optional library is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# import name → name on PyPI, where they differ
DISTRIBUTIONS = {
    "PIL": "pillow",
    "apache_beam": "apache-beam",
    "array_api_compat": "array-api-compat",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


@contextmanager
def extra(name: str = "") -> Iterator[None]:
    """Around imports of libraries that may be missing: an ImportError that says how to get them.

    name: the extra of this package that brings them, if one does
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = str(error.name).partition(".")[0]
        package = DISTRIBUTIONS.get(library, library)
        checkout = f", or, in a checkout of openworld-metrics, pip install '.[{name}]'" if name else ""
        raise ImportError(f"expected {package} to be installed, got none: pip install {package}{checkout}") from error
