"""Boxes of images: the columns of detection laid out in two tables and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ..arrays.arrays import MAX_EXACT, as_array, is_torch_array, to_numpy, widen, without_arrow
from ..arrays.box_objects import box_dict
from ..arrays.columns import as_flags, as_numbers, check_lengths
from ..arrays.compiled import worth_compiling
from ..arrays.options import as_choice
from ..arrays.states import check_arrays, check_rows, count_column, flag_column, integer_column, number_table
from ..arrays.threads import each_in_threads, threads_for

if TYPE_CHECKING:
    from typing_extensions import NotRequired

BOX_FORMATS = ("xyxy", "xywh", "cxcywh")
_ROWS = 1 << 13  # rows checked at a time, so that all arrays fit the cache


class DetectionState(TypedDict):
    """Boxes of N images in two tables, in float64, xyxy.

    num_predictions, num_references: (N,) rows of each image
    predictions: (Σn, 6) x1, y1, x2, y2, confidence, class
    references: (Σm, 5) x1, y1, x2, y2, class
    ignored: (Σm,) whether the object is ignored
    prediction_remainders, reference_remainders: (Σn, 4), (Σm, 4) the rounding errors of corners computed from sizes: an
    exact corner is the sum of the two
    counts: (N,) how many equal images each image stands for; absent, one each
    """

    num_predictions: np.ndarray
    num_references: np.ndarray
    predictions: np.ndarray
    references: np.ndarray
    ignored: np.ndarray
    prediction_remainders: np.ndarray
    reference_remainders: np.ndarray
    counts: NotRequired[np.ndarray]


def as_detection_state(state: Mapping[str, Any]) -> DetectionState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `reduce_boxes` cannot return."""
    check_arrays(state, [*DetectionState.__annotations__], ["counts"])
    checked: DetectionState = {
        "num_predictions": integer_column(state, "num_predictions", 0, MAX_EXACT),
        "num_references": integer_column(state, "num_references", 0, MAX_EXACT),
        "predictions": number_table(state, "predictions", 6, infinite=4),
        "references": number_table(state, "references", 5),
        "ignored": flag_column(state, "ignored"),
        "prediction_remainders": number_table(state, "prediction_remainders", 4),
        "reference_remainders": number_table(state, "reference_remainders", 4),
    }
    if "counts" in state:
        checked["counts"] = count_column(state)
    tables = ("predictions", "prediction_remainders"), ("references", "ignored", "reference_remainders")
    for columns in (("num_predictions", "num_references", "counts"), *tables):
        check_rows({name: column for name, column in checked.items() if name in columns})
    for name in ("predictions", "references"):
        counts, table = checked[f"num_{name}"], checked[name]  # type: ignore[literal-required]
        if sum(counts.tolist()) != len(table):
            raise ValueError(f"state: expected {sum(counts.tolist())} {name}, as num_{name} says, got {len(table)}")
        _check_table(table, counts, f"state[{name!r}]", "xyxy")
        remainders = checked[f"{name[:-1]}_remainders"]  # type: ignore[literal-required]
        with np.errstate(invalid="ignore", over="ignore"):
            if (np.abs(remainders) > np.spacing(np.abs(table[:, :4]))).any():
                raise ValueError(f"state: expected remainders of {name} within rounding, got larger ones")
    return checked


def box_state(predictions: Any, references: Any, *, box_format: str) -> DetectionState:
    """The state of a batch: see `reduce_boxes`."""
    as_choice(box_format, "box_format", BOX_FORMATS)
    predictions = _images(predictions, "predictions", box_format)
    references = _images(references, "references", box_format)
    boxes, num_predictions, boxes_off = _table(predictions, "predictions", ("boxes", "scores", "labels"), box_format)
    objects, num_references, objects_off = _table(references, "references", ("boxes", "labels"), box_format)
    check_lengths(predictions=num_predictions, references=num_references)
    return {
        "num_predictions": num_predictions,
        "num_references": num_references,
        "predictions": boxes,
        "references": objects,
        "ignored": _ignored(references, num_references),
        "prediction_remainders": boxes_off,
        "reference_remainders": objects_off,
    }


def checked_table(rows: Any, name: str, width: int, numbers: np.ndarray) -> np.ndarray:
    """Check a table of boxes by their corners, with a class at the end, and the number of each image's rows."""
    table = box_rows(rows, name, width)
    if sum(numbers.tolist()) != len(table):
        got = f"got {numbers.tolist()!r:.60}"
        raise ValueError(f"num_{name}: expected numbers that add up to the {len(table)} rows of {name}, {got}")
    _check_table(table, numbers, name, "xyxy")
    return table


def _images(images: Any, name: str, box_format: str) -> list[Any]:
    images = as_array(images, name) if is_torch_array(images) else without_arrow(images)
    if (
        isinstance(images, Mapping)
        or (hasattr(images, "ndim") and images.ndim == 2)
        or not isinstance(images, Iterable)
        or box_dict(images, name) is not images
    ):
        raise TypeError(f"{name}: expected a list with one table or dict of boxes per image, got a single one: [x]")
    images = list(images)
    if {*map(type, images)} <= {np.ndarray, list, dict}:  # the usual case
        return images
    dicts = [box_dict(image, f"{name}[{i}]") for i, image in enumerate(images)]
    if box_format != "xyxy":
        for i, (image, boxes) in enumerate(zip(images, dicts)):
            if boxes is not image:
                raise ValueError(
                    f"{name}[{i}]: expected box_format='xyxy' with {type(image).__name__}, got {box_format!r}"
                )
    return dicts


def _ignored(references: list[Any], counts: np.ndarray) -> np.ndarray:
    """Flag the ignored objects of all images: a dict says which are ignored or a crowd; a table has none."""
    ignored, starts = np.zeros(counts.sum(), dtype=bool), np.cumsum(counts) - counts
    if {*map(type, references)} <= {np.ndarray}:
        return ignored
    for i, image in enumerate(references):
        if not isinstance(image, Mapping):
            continue
        for key in ("ignored", "iscrowd"):
            if image.get(key) is None:
                continue
            flags = to_numpy(as_flags(image[key], f"references[{i}][{key!r}]"))
            if len(flags) != counts[i]:
                raise ValueError(f"references[{i}]: expected one length, got {counts[i]} boxes, {len(flags)} {key}")
            ignored[starts[i] : starts[i] + len(flags)] |= flags
    return ignored


def _table(images: list[Any], name: str, keys: Sequence[str], box_format: str) -> tuple[np.ndarray, ...]:
    """All images' boxes as rows x1, y1, x2, y2, (confidence,) class, the number of each image's, and remainders."""
    width = 3 + len(keys)
    table = _joined(images, width)
    if table is None:
        images = [_image_table(image, name, i, keys) for i, image in enumerate(images)]
        table = np.concatenate([np.zeros((0, width)), *images])
    counts = np.asarray([*map(len, images)], dtype=np.int64)
    _check_table(table, counts, name, box_format)
    return table, counts, _turn_into_corners(table, box_format)


def _joined(images: list[Any], width: int) -> np.ndarray | None:
    """One table of all images, if each is an array of float64 with so many columns, as nearly always; else None."""
    if {*map(type, images)} - {np.ndarray}:
        return None
    try:
        return np.concatenate([np.zeros((0, width)), *images], dtype=np.float64, casting="no")
    except (TypeError, ValueError):  # of another type or shape
        return None


def _image_table(image: Any, name: str, i: int, keys: Sequence[str]) -> np.ndarray:
    if not isinstance(image, Mapping):
        return box_rows(image, f"{name}[{i}]", 3 + len(keys))
    if any(key not in image for key in keys):
        raise TypeError(f"{name}[{i}]: expected keys {', '.join(keys)}, got {', '.join(map(str, image)) or 'none'}")
    columns = [box_rows(image[key], f"{name}[{i}][{key!r}]", 1 if k else 4) for k, key in enumerate(keys)]
    if len({len(column) for column in columns}) > 1:
        came = ", ".join(f"{len(column)} {key}" for column, key in zip(columns, keys))
        raise ValueError(f"{name}[{i}]: expected one length, got {came}")
    return np.concatenate(columns, axis=1)


def box_rows(x: Any, name: str, width: int) -> np.ndarray:
    """Rows of so many numbers, in float64, as a copy."""
    array = to_numpy(widen(as_numbers(x, name), name))
    if array.shape[:1] == (0,):
        return np.zeros((0, width))
    array = array.reshape(-1, 1) if width == 1 and array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != width:
        hint = ""
        if array.ndim == 2 and {array.shape[1], width} == {5, 6}:
            hint = "; predictions have 6 columns (…, confidence, class), references 5 (…, class): are they swapped?"
        raise ValueError(f"{name}: expected rows of {width} numbers, got shape {array.shape}{hint}")
    return array.astype(np.float64)


def _turn_into_corners(table: np.ndarray, box_format: str) -> np.ndarray:
    """Turn boxes into their corners in place, and return the rounding error of each corner."""
    if box_format == "xyxy":
        return np.broadcast_to(0.0, (len(table), 4))  # which takes no memory
    remainders = np.empty((len(table), 4))
    start, size = table[:, :2].copy(), table[:, 2:4].copy()
    if box_format == "cxcywh":
        table[:, :2], remainders[:, :2] = _sum_and_remainder(start, -size / 2)
        table[:, 2:4], remainders[:, 2:] = _sum_and_remainder(start, size / 2)
    else:
        remainders[:, :2] = 0.0
        table[:, 2:4], remainders[:, 2:] = _sum_and_remainder(start, size)
    return remainders


def _sum_and_remainder(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a + b rounded, and its rounding error, which float64 holds exactly. Source: Knuth's TwoSum."""
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


_NONE = np.zeros(0, dtype=bool)


def _are_plain(rows: np.ndarray, box_format: str) -> bool:
    """Whether a first look shows that all rows are valid, as it nearly always does; if it does not, they may be."""
    x1, y1, x2, y2, *_, label = rows.T
    if box_format != "xyxy":
        x1, y1 = 0.0, 0.0
    with np.errstate(invalid="ignore"):
        largest = max(-rows.min(), rows.max())  # NaN if there is one
        ordered = largest < MAX_EXACT and (x1 <= x2).all() and (y1 <= y2).all()  # so areas are finite
        return bool(ordered and (label == np.rint(label)).all())


def plain_rows(rows: Any, corners: bool) -> bool:
    """As `_are_plain`, of contiguous rows; corners, whether boxes are given by their corners."""
    plain, last = True, rows.shape[1] - 1
    for number in rows.reshape(-1):
        plain &= abs(number) < MAX_EXACT
    for i in range(len(rows)):
        x1, y1 = (rows[i, 0], rows[i, 1]) if corners else (0.0, 0.0)
        plain &= (rows[i, 2] >= x1) & (rows[i, 3] >= y1) & (rows[i, last] == np.rint(rows[i, last]))
    return plain


def _check_table(table: np.ndarray, counts: np.ndarray, name: str, box_format: str) -> None:
    """Raise ValueError for the first part of a table with an invalid row, as `_check_rows` does."""
    parts = [slice(start, start + _ROWS) for start in range(0, len(table), _ROWS)]
    loop = worth_compiling(plain_rows, table.size, table) if table.flags.c_contiguous else None

    def is_plain(part: slice) -> bool:
        return _are_plain(table[part], box_format) if loop is None else loop(table[part], box_format == "xyxy")

    plain = each_in_threads(is_plain, parts, [_ROWS] * len(parts), threads_for(table.size))
    for part, clear in zip(parts, plain):
        if not clear:
            _check_rows(table, part, counts, name, box_format)


def _check_rows(table: np.ndarray, part: slice, counts: np.ndarray, name: str, box_format: str) -> None:
    """Raise ValueError for an invalid row, with its image and its index there."""

    def refuse(bad: np.ndarray, expected: str, column: slice | int) -> None:
        if bad.any():
            row = part.start + int(np.argmax(bad))
            image = int(np.searchsorted(np.cumsum(counts), row, side="right"))
            place = row - int(counts[:image].sum())
            raise ValueError(f"{name}[{image}]: expected {expected}, got {table[row, column].tolist()} in row {place}")

    columns = np.ascontiguousarray(table[part].T)
    x1, y1, x2, y2, *_, label = columns
    with np.errstate(over="ignore", invalid="ignore"):
        nan = np.isnan(columns)
        refuse(nan.any(axis=0) if nan.any() else _NONE, "no NaN", slice(None))
        width, height = (x2 - x1, y2 - y1) if box_format == "xyxy" else (x2, y2)
        ordered = "x1 ≤ x2 and y1 ≤ y2" if box_format == "xyxy" else "a width and a height of at least 0"
        refuse((width < 0) | (height < 0), f"{ordered} (box_format={box_format!r})", slice(4))
        # so the union of two boxes is finite too
        finite = np.isfinite(4 * width * height) & np.isfinite(x1 + width) & np.isfinite(y1 + height)
        refuse(~(finite & np.isfinite(height)), "a box of finite area", slice(4))
        refuse(label != np.round(label), "an integer class", -1)
        refuse(np.abs(label) > MAX_EXACT, "a class within ±2**53", -1)
