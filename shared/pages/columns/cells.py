"""Find cells of a column that are numbers, and cells that are empty."""

from __future__ import annotations

import math
import re
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


def are_integers(value: np.ndarray) -> bool:
    """Whether all cells are integers, or text of integers of at most 64 bits.

    >>> are_integers(np.asarray(["1", 2], dtype=object)), are_integers(np.asarray(["1.0"], dtype=object))
    (True, False)
    """
    if value.dtype.kind in "iu":
        return True
    cells = value.tolist() if value.dtype.kind in "OU" else [0.5]
    whole = (isinstance(cell, int) or (isinstance(cell, str) and _INTEGER.fullmatch(cell.strip())) for cell in cells)
    return all(whole) and all(-(2**63) <= int(cell) < 2**63 for cell in cells)


_INTEGER = re.compile(r"[-+]?[0-9]{1,19}")


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
