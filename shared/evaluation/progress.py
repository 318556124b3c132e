"""The bar of progress of long work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def progress_bar(steps: Iterable[Any] | None = None, *, unit: str, shown: bool, total: int | None = None) -> Any:
    """A bar of tqdm over steps, or one to update, shown on a terminal only; it disappears when done.

    Parameters: steps; unit, what is counted, such as " images"; shown, whether to draw it; total, if steps do not say.
    """
    from tqdm import tqdm

    # disable=None: no bar where standard error is not a terminal
    return tqdm(steps, total=total, unit=unit, disable=None if shown else True, leave=False)
