"""Find cells of a column that are numbers, and cells that are empty."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd


def are_numbers(value: np.ndarray) -> np.ndarray:
    """Whether each cell is a number, (N,) booleans.

    >>> are_numbers(np.asarray(["0.5", "n/a", ""], dtype=object)).tolist()
    [True, False, False]
    """
    return np.asarray([_is_number(cell) for cell in value.tolist()], dtype=bool)


def is_blank(cell: Any) -> bool:
    """Whether a cell is empty, missing or white space."""
    return bool(pd.isna(cell)) or not str(cell).strip()


def as_floats(value: np.ndarray) -> np.ndarray:
    """The cells as floats; unchanged if one is not a number, or is too large for a float."""
    try:
        return value.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return value


def _is_number(cell: Any) -> bool:
    try:
        return not math.isnan(float(cell))
    except (ValueError, TypeError):
        return False
    except OverflowError:  # an integer too large for a float, which the metric refuses with a message
        return True
