"""Read lines of YOLO's text files: class, cx, cy, w, h (fractions of the image), and for predictions the confidence.

As in Ultralytics, a line with the corners of a polygon (or of a rotated box) becomes its bounding box, key points after
a box are passed over, and a label that repeats a line of its file is not another object. Unlike there, a malformed line
is an error, while Ultralytics leaves its image out.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import orjson

LISTS_OF_CLASSES = ("classes.txt", "labels.txt", "obj.names.txt")  # files of annotation tools beside the labels
_EDGE = 0.01  # how far true boxes may extend beyond the image, because of rounding
_FAR = 1.0  # how far predicted boxes may; coordinates in pixels are farther off
_MINUS_ZERO = re.compile(rb"-0(?![.0-9])")  # an integer in JSON, which has no sign
_END_OF_IDS = 2.0**53  # float64 does not hold all integers from here on
_MOST = 0.75  # of lines with key points that have these near a box in the image; of polygons read so, fewer have
_NEAR = 0.6  # how far from a box's centre its key points may be, in widths and heights of the box


class Tables(NamedTuple):
    """The lines of text files.

    tables: for each file, (n, 5) class, cx, cy, w, h, or (n, 6) with the confidence
    repeated: the places of labels that repeat a line of their file, and are not in the tables
    """

    tables: list[np.ndarray]
    repeated: list[str]


def read_texts(texts: Sequence[Any], *, confidence: bool = False, key_points: int | None = None) -> Tables:
    """The lines of the text files of one data set, or of one detector.

    Parameters: texts, paths; confidence, whether they are predictions; key_points, how many numbers a line has for its
    key points; None if no data.yaml tells: longer lines are then polygons.

    Raises ValueError, with the file and the line, for a line of another length, a value that is not a number, a class
    that is not an integer, coordinates outside the image, or a confidence outside [0, 1]; and for lines that may be
    polygons as well as boxes with key points, or class confidence cx cy w h.
    """
    width = 6 if confidence else 5
    parts = [_plain_table(_content(text), width) for text in texts]
    others = {i: _cells(text) for i, (text, part) in enumerate(zip(texts, parts)) if part is None}
    if key_points is None:
        longer = (
            (f"{texts[i]}:{number}", _numbers(cells, f"{texts[i]}:{number}"))
            for i, lines in others.items()
            for number, cells in lines.items()
            if len(cells) > width
        )
        _check_polygons(longer, width)
    repeated: list[str] = []
    tables = [
        _table(others[i], texts[i], width, key_points or 0, repeated) if part is None else part
        for i, part in enumerate(parts)
    ]
    if confidence:
        _check_order(tables, texts)
    return Tables(tables, repeated)


def _content(text: Any) -> bytes:
    try:
        content: bytes = text.read_bytes()
        return content.removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise ValueError(f"{text}: expected text, got {error.strerror or error}") from error


def _cells(text: Any) -> dict[int, list[str]]:
    """The cells of the lines that are not blank, by the lines' numbers from 1."""
    try:
        lines = _content(text).decode().splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{text}: expected text, got {error}") from error
    return {number: cells for number, line in enumerate(lines, 1) if (cells := line.split())}


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
    if {*map(len, rows)} != {width} or (width == 5 and len({*map(tuple, rows)}) < len(rows)):
        return None
    table = np.fromiter(chain.from_iterable(rows), np.float64, width * len(rows)).reshape(-1, width)
    return table if _reason(table) is None else None


def _numbers(cells: list[str], place: str) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        raise ValueError(f"{place}: expected numbers, got {' '.join(cells)!r}") from None


def _check_polygons(rows: Iterable[tuple[str, list[float]]], width: int) -> None:
    """Raise ValueError for lines that may be boxes with key points as well as polygons.

    They are of one length, and most have points in or near a box in the image. Key points are x, y or x, y, visibility.
    """
    first, length, count, boxes, right = "", 0, 0, 0, True
    for place, row in rows:
        more = len(row) - width
        if more % 2 or (count and len(row) != length):  # polygons have an even number of coordinates, and any of points
            return
        first, length, count = first or place, len(row), count + 1
        visibilities = row[7 : length - (width - 5) : 3]
        flags = more % 3 == 0 and all(v in (0, 1, 2) if width == 5 else 0 <= v <= 1 for v in visibilities)
        boxes += _has_key_points(row, width, 2) or (flags and _has_key_points(row, width, 3))
        right = right and _is_rectangle(row, width)
    if count and boxes >= _MOST * count and not right:
        raise ValueError(
            f"{first}: expected a box or a polygon, got lines of {length} numbers, which may be polygons as well as"
            " boxes with key points; for key points, use a data.yaml with their kpt_shape; for polygons, write boxes:"
            f" class cx cy w h{' confidence' * (width == 6)}"
        )


def _check_order(tables: Sequence[np.ndarray], texts: Sequence[Any]) -> None:
    """Raise ValueError where only class confidence cx cy w h, as of YOLOv5 3.1, puts all boxes into the image."""
    rows = np.concatenate([np.zeros((0, 6)), *tables])
    last, second = (_are_within(rows[:, first : first + 4]) for first in (1, 2))
    if last.all() or not second.all():
        return
    place = int(np.argmin(last))
    ends = np.cumsum([*map(len, tables)])
    file = int(np.searchsorted(ends, place, side="right"))
    number = [*_cells(texts[file])][place - int(ends[file]) + len(tables[file])]
    raise ValueError(
        f"{texts[file]}:{number}: expected class cx cy w h confidence, got a box that leaves the image, while each line"
        " fits as class confidence cx cy w h; write the confidence last"
    )


def _are_within(boxes: np.ndarray) -> np.ndarray:
    """Whether boxes cx, cy, w, h lie in the image, up to rounding."""
    return (np.abs(2 * boxes[:, :2] - 1) + boxes[:, 2:] <= 1 + 2 * _EDGE).all(axis=1)


def _has_key_points(row: list[float], width: int, values: int) -> bool:
    """Whether a line may be a box in the image, with half of the key points or more in or near it."""
    end = len(row) - (width - 5)
    centre, size = np.asarray(row[1:3]), np.asarray(row[3:5])
    points = np.asarray(row[5:end]).reshape(-1, values)[:, :2]
    points = points[points.any(axis=1)]  # others are not labelled
    inside = (np.abs(points - centre) <= _NEAR * size + _EDGE).all(axis=1)
    return bool(
        _reason(np.asarray([row[:5] + row[end:]])) is None
        and row[end:] != [1]  # the id of a track, after a confidence
        and _are_within(np.asarray([row[1:5]])).all()
        and 2 * np.count_nonzero(inside) >= len(inside)
    )


def _is_rectangle(row: list[float], width: int) -> bool:
    """Whether a line has the four corners of a box, turned or not; as fractions they are a parallelogram's."""
    return len(row) == width + 4 and all(abs(row[i] - row[i + 2] + row[i + 4] - row[i + 6]) < 1e-5 for i in (1, 2))


def _table(lines: dict[int, list[str]], place: object, width: int, key_points: int, repeated: list[str]) -> np.ndarray:
    """The boxes of the lines of a file; the places of labels that repeat another are added to `repeated`."""
    boxes, seen = [], set()
    for number, cells in lines.items():
        numbers = _numbers(cells, f"{place}:{number}")
        box = _box(numbers, cells, f"{place}:{number}", width, key_points)
        if width == 5 and tuple(numbers) in seen:
            repeated.append(f"{place}:{number}")
        else:
            boxes.append(box)
            seen.add(tuple(numbers))
    return np.asarray(boxes).reshape(-1, width)


def _box(row: list[float], cells: list[str], place: str, width: int, key_points: int) -> list[float]:
    count = len(row)
    if key_points and count == width + key_points:
        row = row[:5] + row[5 + key_points :]
    elif not key_points and count > 6 and count % 2 == width % 2:
        row = _around(row, width)
    if len(row) != width:
        expected = "class cx cy w h" + f" and {key_points} numbers of key points" * (key_points > 0)
        expected += " confidence" * (width == 6)
        hint = "; key points need a data.yaml with their kpt_shape" if count > 6 and not key_points else ""
        hints = {5: "; save predictions with their confidences (save_conf=True)", 6: "; are these predictions?"}
        raise ValueError(f"{place}: expected {expected}, got {count} numbers{hints.get(count, hint)}")
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
