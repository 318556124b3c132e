"""Kinds of result keys, as the results state them; nothing is read out of a key's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...reports.directions import Direction

Kinds = Mapping[str, Mapping[str, Any]]  # of `Summary.kinds`


def direction(key: str, kinds: Kinds) -> Direction | None:
    """Which way a key is better, and whether it is a share; None where neither way is, or nothing is said.

    >>> direction("auroc", {"auroc": {"kind": "rate", "higher": True, "share": True}}), direction("auroc", {})
    (Direction(higher=True, rate=True), None)
    """
    stated = kinds.get(key, {})
    higher = stated.get("higher")
    return Direction(higher, stated.get("share") is True) if isinstance(higher, bool) else None


def is_share(key: str, kinds: Kinds) -> bool:
    """Whether a key is a share, in [0, 1], which may be shown in percent."""
    return kinds.get(key, {}).get("share") is True
