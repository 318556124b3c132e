"""Errors that say which extra brings an optional library that is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

PACKAGE = "openworld-metrics"
# import name → name on PyPI, where they differ
DISTRIBUTIONS = {
    "PIL": "pillow",
    "apache_beam": "apache-beam",
    "array_api_compat": "array-api-compat",
    "markdown_it": "markdown-it-py",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


@contextmanager
def extra(name: str = "") -> Iterator[None]:
    """Around imports of libraries that may be missing: an ImportError that says how to get them.

    name: the extra of this package that brings all of them, if one does. Where the package is installed, pip adds what
    an extra brings without asking an index for the package; where only a file of it is, such as a kernel, it is no help
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = str(error.name).partition(".")[0]
        missing = DISTRIBUTIONS.get(library, library)
        wanted = f'"{PACKAGE}[{name}]"' if name and _is_installed() else missing
        raise ImportError(f"expected {missing} to be installed, got none: pip install {wanted}") from error


def _is_installed() -> bool:
    try:
        return bool(version(PACKAGE))
    except PackageNotFoundError:
        return False
