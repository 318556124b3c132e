"""Read the entries of COCO's JSON as columns, about as fast as the JSON is parsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

# errors raised by values of an unexpected type
_WRONG = (TypeError, LookupError, ValueError, OverflowError, RuntimeError)


class Entries:
    """A list of entries, read a column at a time; if that fails, entry by entry, to name the first bad one."""

    def __init__(self, entries: Sequence[Any], where: str, places: dict[Any, int]) -> None:
        self.entries, self.where = entries, where
        self.objects = all(issubclass(kind, dict) for kind in {*map(type, entries)})
        self.image = self._column("image_id", "an id of an image", places.__getitem__, np.int64)

    def numbers(self, key: str) -> np.ndarray:
        """A column of finite numbers."""
        column = self._plain(key, np.float64, int, float)
        if column is None:
            column = self._column(key, "a number", _json_number, np.float64)
        self.refuse(~np.isfinite(column), "a finite number", key)
        return column

    def integers(self, key: str) -> np.ndarray:
        """A column of integers."""
        column = self._plain(key, np.int64, int)
        if column is None or max(-int(column.min(initial=0)), int(column.max(initial=0))) >= 2**53:
            column = self._column(key, "an integer", _json_integer, np.int64)  # float64 does not hold all of these
        return column

    def flags(self, key: str) -> np.ndarray:
        """A column of 0, 1, false or true; 0 for entries without the key."""
        return self._column(key, "0, 1, false or true", _json_flag, np.bool_, lambda entry: entry.get(key, 0))

    def boxes(self) -> np.ndarray:
        """The boxes, as x1, y1, x2, y2."""
        boxes = self._plain_boxes()
        if boxes is None:
            rows = self._column("bbox", "x, y, width, height", lambda bbox: [*map(_json_number, _four(bbox))], object)
            boxes = np.asarray(rows.tolist(), dtype=np.float64).reshape(-1, 4)
        corners = boxes.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            corners[:, 2:] += corners[:, :2]
        bad = np.asarray(~(np.isfinite(boxes) & np.isfinite(corners)).all(axis=1) | (boxes[:, 2:] < 0).any(axis=1))
        self.refuse(bad, "x, y, width, height of at least 0", "bbox")
        return corners

    def _plain(self, key: str, dtype: Any, *types: type) -> np.ndarray | None:
        """A whole column at once; None if a value has another type, or does not fit."""
        try:
            values = [*map(itemgetter(key), self.entries)]
            return np.fromiter(values, dtype, len(values)) if {*map(type, values)} <= {*types} else None
        except _WRONG:
            return None

    def _plain_boxes(self) -> np.ndarray | None:
        """All boxes at once; None if any of them is not four numbers."""
        try:
            boxes = [*map(itemgetter("bbox"), self.entries)]
            flat = [*chain.from_iterable(boxes)]
            types = {*map(type, flat)}
            if bool in types or not {*map(len, boxes)} <= {4}:
                return None
            numbers = np.fromiter(flat, np.float64, len(flat)) if types <= {int, float} else np.asarray(flat)
        except _WRONG:
            return None
        return numbers.astype(np.float64, copy=False).reshape(-1, 4) if numbers.dtype.kind in "iuf" else None

    def refuse(self, bad: np.ndarray, expected: str, key: str) -> None:
        """Raise ValueError for the first entry that is bad."""
        if bad.any():
            self._refuse(int(np.argmax(bad)), expected, key)

    def _column(
        self,
        key: str,
        expected: str,
        convert: Callable[[Any], Any],
        dtype: Any,
        get: Callable[[Any], Any] | None = None,
    ) -> np.ndarray:
        get = get or itemgetter(key)
        try:
            if not self.objects:
                raise TypeError(f"{self.where}: expected objects")
            return np.fromiter(map(convert, map(get, self.entries)), dtype, len(self.entries))
        except _WRONG:
            for i, entry in enumerate(self.entries):
                try:
                    np.fromiter([convert(get(entry))] if isinstance(entry, dict) else [], dtype, 1)
                except _WRONG:
                    self._refuse(i, expected, key)
            raise

    def _refuse(self, i: int, expected: str, key: str) -> None:
        entry = self.entries[i]
        came = in_message(entry[key]) if isinstance(entry, dict) and key in entry else f"no {key}"
        raise ValueError(f"{self.where}[{i}]: expected {key} to be {expected}, got {came}")


def in_message(value: Any) -> str:
    """A value for an error message; JSON may be nested too deeply for repr."""
    try:
        return repr(value)
    except RecursionError:
        return "a value nested too deeply"


def _json_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)


def _json_integer(value: Any) -> int:
    if _json_number(value) != int(value):
        raise ValueError
    return int(value)


def _json_flag(value: Any) -> bool:
    if not isinstance(value, (bool, int, float)) or value not in (0, 1):
        raise ValueError
    return bool(value)


def _four(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) != 4:
        raise ValueError
    return value
