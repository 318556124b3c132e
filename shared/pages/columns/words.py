"""Convert labels in words, such as `id` and `ood`, known and unknown, normal and anomaly, to 0 and 1."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

INSIDE = ("id", "ind", "in", "indistribution", "known", "normal", "good", "ok", "inlier", "nominal", "closed", "false")
OUTSIDE = (
    *("ood", "out", "outofdistribution", "unknown", "anomaly", "anomalous", "abnormal", "bad", "defect", "defective"),
    *("outlier", "novel", "novelty", "open", "true"),
)
UNKNOWN_WORD = (
    "is not a label; write 0 and 1, or id and ood, known and unknown, normal and anomaly"  # follows the cell's text
)
LOOKED_AT = 1_000


def is_label(array: np.ndarray) -> bool:
    """Whether a column holds two distinct values, whole numbers or words, or mostly words for labels.

    Empty cells are ignored.
    """
    if array.ndim == 1 and array.dtype.kind in "fOU":
        array = _without_gaps(array)
    if array.ndim != 1 or len(array) < 2 or (array.dtype.kind == "O" and not _is_text(array)):
        return False
    if _is_text(array) and _mostly_known(array):
        return True
    if len(pd.unique(array[:LOOKED_AT])) > 2:
        return False
    if _is_text(array):
        return len(distinct(array)) == 2
    return array.dtype.kind in "biuf" and len(pd.unique(array)) == 2 and bool((array == np.round(array)).all())


def _without_gaps(array: np.ndarray) -> np.ndarray:
    """The numbers of a column that is mostly numbers, otherwise its cells that are not empty."""
    numbers = pd.to_numeric(pd.Series(array), errors="coerce")
    if 2 * numbers.notna().sum() > len(array):
        return np.asarray(numbers.dropna())
    return array[pd.Series(array).replace("", None).notna().to_numpy()]


def as_labels(array: np.ndarray, line: int | None = None) -> np.ndarray | None:
    """Words as 0 (in-distribution) and 1 (OOD); None for an array of anything but text.

    Raises ValueError with the line or row of a word that is not a label.

    >>> as_labels(np.asarray(["id", "OOD", "id"], dtype=object)).tolist()
    [0, 1, 0]
    """
    if not _is_text(array):
        return None
    words = array.astype(str)
    for word in distinct(array):
        if not is_known(word):
            row = int(np.flatnonzero(words == word)[0])
            place = f"row {row + 1}" if line is None else f"line {line + row}"
            raise ValueError(f"{place}: {word!r} {UNKNOWN_WORD}")
    return np.isin(words, [word for word in distinct(array) if _letters(word) in OUTSIDE]).astype(int)


def is_known(word: str) -> bool:
    """Whether a word stands for a label.

    >>> is_known("OOD"), is_known("In-distribution"), is_known("cat")
    (True, True, False)
    """
    return _letters(word) in INSIDE + OUTSIDE


def distinct(array: np.ndarray) -> list[str]:
    """The distinct words of a column."""
    return [str(word) for word in pd.unique(array)]


def _is_text(array: np.ndarray) -> bool:
    return array.dtype.kind == "U" or (array.dtype.kind == "O" and all(isinstance(cell, str) for cell in array))


def _mostly_known(array: np.ndarray) -> bool:
    """Whether more than half of the first cells are words for labels."""
    return 2 * sum(map(is_known, array[:LOOKED_AT].tolist())) > len(array[:LOOKED_AT])


def _letters(word: str) -> str:
    return re.sub(r"[^a-z]", "", word.lower())
