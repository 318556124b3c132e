"""Look up the direction and kind of a result; they are never inferred from its key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...written.results import Direction

Kinds = Mapping[str, Mapping[str, Any]]  # of `Summary.kinds`


def direction(key: str, kinds: Kinds) -> Direction | None:
    """Whether higher values of a key are better, and whether it is a rate; None if it has no direction.

    >>> direction("auroc", {"auroc": {"kind": "rate", "higher": True, "share": True}}), direction("auroc", {})
    (Direction(higher=True, rate=True), None)
    """
    kind = kinds.get(key, {})
    higher = kind.get("higher")
    return Direction(higher, kind.get("share") is True) if isinstance(higher, bool) else None


def is_share(key: str, kinds: Kinds) -> bool:
    """Whether a key's values are rates in [0, 1], which may be shown in percent."""
    return kinds.get(key, {}).get("share") is True
