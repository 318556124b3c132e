"""What to install when a package of the extra `detection` is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def detection_extra() -> Iterator[None]:
    """Around imports of Pillow, PyYAML or pycocotools: an ImportError that says how to get them."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(
            f"expected {error.name} to be installed, got none: pip install 'openworld-metrics[detection]'"
        ) from error
