"""Progress bars for long work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_SCALED = 10_000  # steps, from which a bar says 20.0k


def progress_bar(steps: Iterable[Any] | None = None, *, unit: str, shown: bool, total: int | None = None) -> Any:
    """A tqdm bar over steps, or one to update, shown only on a terminal; it disappears when done.

    Parameters: steps; unit, such as " images"; shown, whether to draw it; total, the number of steps if they have no
    length.
    """
    from tqdm import tqdm

    # disable=None: no bar unless standard error is a terminal
    scaled = {"unit_scale": True} if total is not None and total >= _SCALED else {}
    return tqdm(steps, total=total, unit=unit, **scaled, disable=None if shown else True, leave=False)
