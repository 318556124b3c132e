"""Void pixels of masks: neither normal nor anomalous, and not counted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, equal, on_device
from ..arrays.options import as_int
from ..arrays.states import integer_scalar

_LOWEST, _HIGHEST = -(2**31), 2**31 - 1


def check_ignore_value(ignore_value: Any) -> int | None:
    """Check the value of void pixels: None, or an int that is neither 0 nor 1."""
    if ignore_value is None:
        return None
    value = as_int(ignore_value, "ignore_value", _LOWEST, _HIGHEST)
    if value in (0, 1):
        raise ValueError(
            f"ignore_value: expected an int other than 0 and 1, which are normal and anomalous, got {value}"
        )
    return value


def checked_ignore_value(state: Mapping[str, Any], ignore_value: Any) -> dict[str, np.ndarray]:
    """The ignore_value of a state from elsewhere, as an entry. Raises ValueError if it differs from the option."""
    expected, entry = check_ignore_value(ignore_value), None
    if "ignore_value" in state:
        entry = int(integer_scalar(state, "ignore_value", _LOWEST, _HIGHEST))
    if entry != expected:
        raise ValueError(f"state: expected ignore_value={expected}, as here, got {entry}")
    return {} if expected is None else {"ignore_value": np.asarray(expected)}


def without_void(masks: Any, ignore_value: int) -> tuple[Any, Any]:
    """Masks, a stack or a list, with 0 for void pixels; and where these are, None if there are none.

    >>> without_void([np.asarray([[0, 255, 1]])], 255)
    ([array([[0, 0, 1]])], [array([[False,  True, False]])])
    """
    if not isinstance(masks, list):
        void = equal(masks, ignore_value)
        xp = array_namespace(void)
        return (xp.where(void, xp.zeros_like(masks), masks), void) if bool(xp.any(void)) else (masks, None)
    parts = [without_void(mask, ignore_value) for mask in masks]
    if all(void is None for _, void in parts):
        return masks, None
    cleared = [mask for mask, _ in parts]
    return cleared, [
        array_namespace(m).zeros_like(m, dtype=array_namespace(m).bool) if v is None else v for m, v in parts
    ]


def pixels_left(maps: Any, voids: Any) -> list[Array]:
    """The scores of each map's pixels that are not void, (P_i,)."""
    return [score_map[~on_device(void, score_map)] for score_map, void in zip(maps, voids)]


def check_left(voids: Any) -> None:
    """Raise ValueError for an entirely void image, whose pixels give neither a score nor a label."""
    for i, void in enumerate(voids):
        if math.prod(void.shape) and bool(array_namespace(void).all(void)):
            raise ValueError(
                f"references[{i}]: expected a pixel that is not void, since the image's score and label come of its "
                "pixels; give image_scores and image_labels where images are all void"
            )
