"""Cells of a column: which are numbers, and which are empty."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd


def are_numbers(value: np.ndarray) -> np.ndarray:
    """Which cells are numbers, (N,) booleans.

    >>> are_numbers(np.asarray(["0.5", "n/a", ""], dtype=object)).tolist()
    [True, False, False]
    """
    return np.asarray([_is_number(cell) for cell in value.tolist()], dtype=bool)


def is_blank(cell: Any) -> bool:
    """Whether a cell holds nothing."""
    return bool(pd.isna(cell)) or not str(cell).strip()


def as_floats(value: np.ndarray) -> np.ndarray:
    """The cells as floats; as they are where one is no number, or an integer of too many digits."""
    try:
        return value.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return value


def _is_number(cell: Any) -> bool:
    try:
        return not math.isnan(float(cell))
    except (ValueError, TypeError):
        return False
    except OverflowError:  # an integer of more digits than a float holds, which the metric refuses in words
        return True
