"""What to install where a package that only some of the project needs is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# import name → name on PyPI, where they differ
DISTRIBUTIONS = {
    "PIL": "pillow",
    "array_api_compat": "array-api-compat",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Around imports of what the extra `name` of this package installs: an ImportError that says how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = DISTRIBUTIONS.get(str(error.name), error.name)
        raise ImportError(
            f"expected {package} to be installed, got none: pip install {package}, or this package with [{name}]"
        ) from error
