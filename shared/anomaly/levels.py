"""The levels of anomaly_suite: images, and their pixels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..arrays.options import as_choice, plain_value

LEVELS = ("image", "pixel")


def check_levels(levels: Any) -> list[str]:
    """Check the levels to report: "image", "pixel", or a list of them."""
    levels = plain_value(levels)
    if not isinstance(levels, Iterable):
        raise TypeError(f"levels: expected a list of {LEVELS}, got {levels!r}")
    chosen = [levels] if isinstance(levels, str) else list(levels)
    if not chosen:
        raise ValueError(f"levels: expected at least one of {LEVELS}, got none")
    return [as_choice(level, "levels", LEVELS) for level in chosen]
