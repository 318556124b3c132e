"""Cells that are no numbers where numbers are expected: told by line, with what stands there and what helps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from .page import Column

_NUMBERS = ("score", "vector", "scores", "matrix", "classes")


def check_cells(column: Column, name: str, value: Any, line: int | None) -> None:
    """Raise ValueError for the first cell of a column of numbers that is text or empty, with its line or row.

    name: the column in the file; line: the line of its first value there, None for data without lines
    """
    if not isinstance(value, np.ndarray) or value.ndim != 1 or column.kind not in _NUMBERS or column.part_of:
        return
    if value.dtype.kind in "OU":
        empty = np.asarray(pd.isna(pd.Series(value.astype(object))))
        wrong = ~np.asarray([_is_number_cell(cell) for cell in value.tolist()], dtype=bool) & ~empty
        said, advice = "is not a number", "Correct it, or leave the row out"
    elif value.dtype.kind == "f":
        wrong = np.isnan(value)
        said, advice = "no number stands there", "Fill it in, or leave the row out"
    else:
        return
    if wrong.any():
        first, count = int(np.argmax(wrong)), int(np.count_nonzero(wrong))
        place = f"line {line + first}" if line is not None else f"row {first + 1}"
        others = f" and {count - 1:,} more" if count > 1 else ""
        what = f"{str(value[first])[:60]!r} " if value.dtype.kind in "OU" else ""
        raise ValueError(f"{name}, {place}{others}: {what}{said}. {advice}.")


def _is_number_cell(cell: Any) -> bool:
    try:
        return not math.isnan(float(cell))
    except (ValueError, TypeError):
        return False
    except OverflowError:  # an integer of more digits than a float holds, which the metric refuses in words
        return True
