"""Progress bars for long work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def progress_bar(steps: Iterable[Any] | None = None, *, unit: str, shown: bool, total: int | None = None) -> Any:
    """A tqdm bar over steps, or one to update, shown only on a terminal; it disappears when done.

    Parameters: steps; unit, such as " images"; shown, whether to draw it; total, the number of steps if they have no
    length.
    """
    from tqdm import tqdm

    # disable=None: no bar unless standard error is a terminal
    return tqdm(steps, total=total, unit=unit, disable=None if shown else True, leave=False)
