"""Read the lines of a YOLO text file: class, cx, cy, w, h (fractions of the image), and for predictions the confidence.

As in Ultralytics, a line with the corners of a polygon (or of a rotated box) becomes its bounding box. Unlike there, a
malformed line is an error, while Ultralytics leaves its image out, and repeated lines are kept.
"""

from __future__ import annotations

import codecs
import math
import re
from itertools import chain
from typing import Protocol

import numpy as np
import orjson

LISTS_OF_CLASSES = ("classes.txt", "labels.txt", "obj.names.txt")  # files of annotation tools beside the labels
_EDGE = 0.01  # how far true boxes may extend beyond the image, because of rounding
_FAR = 1.0  # how far predicted boxes may; coordinates in pixels are farther off
_MINUS_ZERO = re.compile(rb"-0(?![.0-9])")  # an integer in JSON, which has no sign
_END_OF_IDS = 2.0**53  # float64 does not hold all integers from here on


class Readable(Protocol):
    """A file, on disk or in an archive."""

    def read_bytes(self) -> bytes:
        """The content of the file."""


def read_lines(path: Readable, *, confidence: bool = False, place: str = "") -> np.ndarray:
    """The lines of a text file, (n, 5) class, cx, cy, w, h, or (n, 6) with the confidence.

    Raises ValueError, with the file (by the name `place`) and the line, for a line of another length, a value that is
    not a number, a class that is not an integer, coordinates outside the image, or a confidence outside [0, 1].
    """
    width, place = 6 if confidence else 5, place or str(path)
    try:
        data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
        table = _plain_table(data, width)
        if table is not None:
            return table
        lines = [line.split() for line in data.decode().splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{place}: expected text, got {getattr(error, 'strerror', None) or error}") from error
    # line by line: there are polygons, numbers in another notation, or errors
    rows = [_row(cells, f"{place}:{i}", width) for i, cells in enumerate(lines, 1) if cells]
    return np.asarray(rows).reshape(-1, width)


def _plain_table(data: bytes, width: int) -> np.ndarray | None:
    """Parse lines of numbers separated by single spaces, as in most files; None for any other text.

    Parsed as JSON, with a list for each line, they take a third of the time of `float`.
    """
    data = data.replace(b"\r\n", b"\n")
    if data.translate(None, b"0123456789.eE+- \n") or (b"-0" in data and _MINUS_ZERO.search(data)):
        return None
    try:
        rows = orjson.loads(b"[[" + data.rstrip(b"\n").replace(b" ", b",").replace(b"\n", b"],[") + b"]]")
    except orjson.JSONDecodeError:
        return None
    if {*map(len, rows)} != {width}:
        return None
    table = np.fromiter(chain.from_iterable(rows), np.float64, width * len(rows)).reshape(-1, width)
    return table if _reason(table) is None else None


def _row(cells: list[str], place: str, width: int) -> list[float]:
    try:
        row = [float(cell) for cell in cells]
    except ValueError:
        raise ValueError(f"{place}: expected numbers, got {' '.join(cells)!r}") from None
    if len(row) > 6 and len(row) % 2 == width % 2:
        row = _around(row, width)
    if len(row) != width:
        expected = "class cx cy w h" + " confidence" * (width == 6)
        hint = {5: "; save predictions with their confidences (save_conf=True)", 6: "; are these predictions?"}
        raise ValueError(f"{place}: expected {expected}, got {len(row)} numbers{hint.get(len(row), '')}")
    reason = _reason(np.asarray([row]))
    if reason is not None:
        raise ValueError(f"{place}: expected {reason}, got {' '.join(cells)!r}")
    return row


def _around(row: list[float], width: int) -> list[float]:
    """The bounding box of the corners x, y, x, y, … in a line."""
    end = len(row) - (width == 6)
    xs, ys = row[1:end:2], row[2:end:2]
    if not all(-_FAR <= share <= 1 + _FAR for share in row[1:end]):
        return row[:1] + [math.nan] * 4 + row[end:]  # refused with its line
    x1, y1, x2, y2 = min(xs), min(ys), max(xs), max(ys)
    return [row[0], (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, *row[end:]]


def _reason(rows: np.ndarray) -> str | None:
    """The first requirement that rows of the right length violate; None if they are valid."""
    low, high = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()  # NaN if a column has one
    slack = _EDGE if rows.shape[1] == 5 else _FAR
    if not all(-slack <= least and most <= 1 + slack for least, most in zip(low[1:5], high[1:5])):
        return "coordinates from 0 to 1, as fractions of the image"
    if min(low[3:5]) < 0:
        return "a width and a height of at least 0"
    if not all(least >= 0 and most <= 1 for least, most in zip(low[5:], high[5:])):
        return "a confidence from 0 to 1"
    labels = rows[:, 0]
    if not (math.isfinite(low[0]) and math.isfinite(high[0]) and np.array_equal(labels, np.round(labels))):
        return "an integer class"
    return None if low[0] > -_END_OF_IDS and high[0] < _END_OF_IDS else "a class of less than 2^53"
