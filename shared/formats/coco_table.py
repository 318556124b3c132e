"""The entries of COCO's JSON as columns: half a million results are read in about the time that their JSON takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np


class Table:
    """A list of entries, read a column at a time; only where that fails, entry by entry to name the first bad one."""

    def __init__(self, entries: Sequence[Any], where: str, places: dict[Any, int]) -> None:
        self.entries, self.where = entries, where
        self.image = self._column("image_id", "an id of an image", lambda entry: places[entry["image_id"]], np.int64)

    def numbers(self, key: str) -> np.ndarray:
        """A column of finite numbers."""
        column = self._column(key, "a number", lambda entry: _number(entry[key]), np.float64)
        self.refuse(~np.isfinite(column), "a finite number", key)
        return column

    def integers(self, key: str) -> np.ndarray:
        """A column of integers."""
        return self._column(key, "an integer", lambda entry: _integer(entry[key]), np.int64)

    def flags(self, key: str) -> np.ndarray:
        """A column of 0, 1, false or true; 0 where an entry has none."""
        return self._column(key, "0, 1, false or true", lambda entry: _flag(entry.get(key, 0)), np.bool_)

    def boxes(self) -> np.ndarray:
        """The boxes, as x1, y1, x2, y2."""
        boxes = self._plain_boxes()
        if boxes is None:
            rows = self._column(
                "bbox", "x, y, width, height", lambda entry: [*map(_number, _four(entry["bbox"]))], object
            )
            boxes = np.asarray(rows.tolist(), dtype=np.float64).reshape(-1, 4)
        corners = boxes.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            corners[:, 2:] += corners[:, :2]
        bad = np.asarray(~(np.isfinite(boxes) & np.isfinite(corners)).all(axis=1) | (boxes[:, 2:] < 0).any(axis=1))
        self.refuse(bad, "x, y, width, height of at least 0", "bbox")
        return corners

    def _plain_boxes(self) -> np.ndarray | None:
        """All boxes at once; None if one of them is not four numbers."""
        try:
            flat = np.asarray([*chain.from_iterable(entry["bbox"] for entry in self.entries)])
            plain = flat.dtype.kind in "iuf" and {len(entry["bbox"]) for entry in self.entries} <= {4}
        except (TypeError, KeyError, ValueError, OverflowError):
            return None
        return flat.astype(np.float64).reshape(-1, 4) if plain else None

    def refuse(self, bad: np.ndarray, expected: str, key: str) -> None:
        """Raise ValueError for the first entry that is bad."""
        if bad.any():
            self._refuse(int(np.argmax(bad)), expected, key)

    def _column(self, key: str, expected: str, get: Callable[[Any], Any], dtype: Any) -> np.ndarray:
        try:
            return np.fromiter(map(get, self.entries), dtype, len(self.entries))
        except (TypeError, KeyError, ValueError, OverflowError):
            for i, entry in enumerate(self.entries):
                try:
                    np.fromiter([get(entry)], dtype, 1)
                except (TypeError, KeyError, ValueError, OverflowError):
                    self._refuse(i, expected, key)
            raise

    def _refuse(self, i: int, expected: str, key: str) -> None:
        entry = self.entries[i]
        came = repr(entry[key]) if isinstance(entry, dict) and key in entry else f"no {key}"
        raise ValueError(f"{self.where}[{i}]: expected {key} to be {expected}, got {came}")


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)


def _integer(value: Any) -> int:
    if _number(value) != int(value):
        raise ValueError
    return int(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        raise ValueError
    return bool(value)


def _four(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) != 4:
        raise ValueError
    return value
