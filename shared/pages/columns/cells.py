"""Cells that are no values of their column: told by line, with what stands there and what helps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from ..page import Column
from .words import UNKNOWN_WORD, is_known

_NUMBERS = ("score", "vector", "scores", "matrix", "classes")


def unreadable(column: Column, value: Any) -> np.ndarray:
    """Which cells of a column are empty, or no number where numbers are expected, or no label: (N,) booleans.

    None of what is no plain column, of groups, and of columns that may end before others do.

    >>> unreadable(Column("scores", (), "score"), np.asarray(["0.5", "n/a", ""], dtype=object)).tolist()
    [False, True, True]
    """
    looked_at = isinstance(value, np.ndarray) and value.ndim == 1 and column.kind in (*_NUMBERS, "label")
    if looked_at and not column.part_of and value.dtype.kind == "f":
        return np.asarray(np.isnan(value))
    if not looked_at or column.part_of or value.dtype.kind not in "OU":
        return np.zeros(len(value), bool)
    if _are_words(column, value):
        return ~np.asarray([isinstance(cell, str) and is_known(cell) for cell in value.tolist()], dtype=bool)
    return ~_are_numbers(value)


def _are_numbers(value: np.ndarray) -> np.ndarray:
    return np.asarray([_is_numeric(cell) for cell in value.tolist()], dtype=bool)


def _are_words(column: Column, value: np.ndarray) -> bool:
    """Whether a column of text is one of labels in words, not one of 0 and 1 with other cells among them."""
    return column.kind == "label" and bool(2 * np.count_nonzero(_are_numbers(value)) < len(value))


def wrong_cells(column: Column, name: str, value: Any, line: int | None) -> str:
    """What is wrong with the first unreadable cell of a column, with its line or row and how many more; "" for none.

    name: the column in the file; line: the line of its first value there, None for data without lines
    """
    wrong = unreadable(column, value)
    if not wrong.any():
        return ""
    first, count = int(np.argmax(wrong)), int(np.count_nonzero(wrong))
    place = f"line {line + first}" if line is not None else f"row {first + 1}"
    others = f" and {count - 1:,} more" if count > 1 else ""
    if _is_empty(value[first]):
        return f"{name}, {place}{others}: no {'label' if column.kind == 'label' else 'number'} stands there"
    said = UNKNOWN_WORD if _are_words(column, value) else "is not a number"
    return f"{name}, {place}{others}: {str(value[first])[:60]!r} {said}"


def check_cells(column: Column, name: str, value: Any, line: int | None) -> None:
    """Raise ValueError for the first cell of a column that is text or empty where a number or label is expected."""
    said = wrong_cells(column, name, value, line)
    if said:
        advice = "Fill it in" if "stands there" in said else "Correct it"
        raise ValueError(f"{said}. {advice}, or leave the row out.")


def _is_empty(cell: Any) -> bool:
    return not cell.strip() if isinstance(cell, str) else bool(pd.isna(cell))


def _is_numeric(cell: Any) -> bool:
    try:
        return not math.isnan(float(cell))
    except (ValueError, TypeError):
        return False
    except OverflowError:  # an integer of more digits than a float holds, which the metric refuses in words
        return True
