"""Lists of thresholds of open-set scores, and states with scores rounded up to them."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.columns import as_scores


def check_thresholds(t_list: Any) -> np.ndarray:
    """Check a list of thresholds without NaN and return it as float64."""
    if isinstance(t_list, numbers.Real) or getattr(t_list, "ndim", 1) == 0:
        t_list = [t_list]
    thresholds = np.asarray(to_numpy(as_scores(t_list, "t_list")), dtype=np.float64)
    if not len(thresholds):
        raise ValueError("t_list: expected at least one threshold, got none")
    return thresholds


def as_text(thresholds: np.ndarray) -> np.ndarray:
    """The distinct thresholds in ascending order, as a zero-dimensional array.

    >>> as_text(np.asarray([0.5, 0.1, 0.5]))
    array('0.1 0.5', dtype='<U7')
    """
    return np.asarray(" ".join(map(repr, (np.unique(thresholds) + 0.0).tolist())))


def check_applied(state: Mapping[str, Any], t_list: Any) -> None:
    """Raise ValueError for a t_list other than the one that the scores of a state were rounded up to."""
    if "thresholds" in state and (t_list is None or state["thresholds"] != as_text(check_thresholds(t_list))):
        raise ValueError("t_list: it was applied as batches were added; give it at load, not at compute")


def checked_thresholds(state: Mapping[str, Any], t_list: Any) -> dict[str, np.ndarray]:
    """The thresholds of a state from elsewhere, as an entry. Raises ValueError if they differ from t_list."""
    if "thresholds" not in state:
        return {}
    entry: Any = state["thresholds"]
    text = str(entry) if isinstance(entry, str) or getattr(entry, "ndim", None) == 0 else ""
    try:
        known = as_text(check_thresholds([float(number) for number in text.split()]))
    except ValueError:
        raise ValueError(f"state: expected thresholds as a text of numbers, got {text[:80]!r}") from None
    if known != text or (t_list is not None and known != as_text(check_thresholds(t_list))):
        raise ValueError(f"state: expected the thresholds of t_list, got {text[:80]!r}")
    return {"thresholds": known}
