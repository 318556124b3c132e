"""Boxes of images: the columns of detection laid out in two tables and checked, their exact IoU, and their order.

Boxes with a size in the input have rounded corners. The rounding error of each is kept beside it, so that an IoU is a
fraction of the numbers of the input. Images are ordered by the bytes of their sorted boxes, independent of the order of
images and of boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ..arrays.arrays import MAX_EXACT, as_array, check_not_sparse, is_torch_array, to_numpy, widen, without_arrow
from ..arrays.box_objects import box_dict
from ..arrays.checks import (
    as_flags,
    as_numbers,
    check_arrays,
    check_lengths,
    check_rows,
    count_column,
    flag_column,
    integer_column,
    number_table,
)
from ..arrays.exact import sum_and_rest
from ..arrays.threads import each_in_threads, threads_for

if TYPE_CHECKING:
    from typing_extensions import NotRequired


BOX_FORMATS = ("xyxy", "xywh", "cxcywh")
_TINY = 2.0**-900  # parts of areas below it may underflow
_ROWS = 1 << 13  # rows measured or checked at a time, so that all arrays fit the cache
_NONE = np.zeros(0, dtype=bool)


class Corners(NamedTuple):
    """Corners of boxes."""

    rounded: np.ndarray  # (n, 4) x1, y1, x2, y2
    remainders: np.ndarray  # (n, 4) the rounding error of each
    border: int  # pixels to add to the far corners, 0 or 1

    def parts(self, row: Any) -> list[float]:
        """Four corners of a box, the remainder to add to each of them, and the border."""
        return [*self.rounded[row].tolist(), *self.remainders[row].tolist(), float(self.border)]

    def doubt(self) -> np.ndarray:
        """Bounds on the relative error of the sides of each box in float64; that of an IoU is at most 4 times as large.

        It is infinite for a box whose area is too small for float64. Returns an array (n,), or a zero of shape () if
        no box is in doubt.
        """
        exact = not self.border and (repeats_zeros(self.remainders) or not self.remainders.any())
        sides = [self.rounded[:, far] - self.rounded[:, far - 2] for far in (2, 3)]
        if exact and all(side.min(initial=1.0) >= _TINY**0.5 for side in sides):  # the usual case
            return np.zeros(())
        sides = [side + self.border for side in sides]
        with np.errstate(over="ignore"):
            tiny = (sides[0] > 0) & (sides[1] > 0) & (sides[0] * sides[1] < _TINY)
        doubt = np.where(tiny, np.inf, 0.0)
        if exact:
            return doubt
        for far, side in zip((2, 3), sides):
            off = np.abs(self.remainders[:, far - 2]) + np.abs(self.remainders[:, far])
            if self.border:
                off += np.abs(self.rounded[:, far]) * 2.0**-52
            with np.errstate(divide="ignore"):
                doubt += np.divide(off, side, out=np.zeros_like(off), where=off > 0)
        return doubt


def repeats_zeros(remainders: np.ndarray) -> bool:
    """Whether remainders are a view that repeats zeros, as of corners in the input (see `_turn_into_corners`)."""
    return len(remainders) > 1 and remainders.strides[0] == 0


def exact_ious(
    ours: Corners, theirs: Corners, rows: np.ndarray, columns: np.ndarray
) -> tuple[list[Fraction], np.ndarray]:
    """Compute the IoU of each pair of boxes: the IoUs of distinct pairs, and the place of each pair among them."""
    keys = _numbered(ours, rows) * (len(columns) + 1) + _numbered(theirs, columns)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    exact = [_exact_iou(ours.parts(row), theirs.parts(column)) for row, column in zip(rows[first], columns[first])]
    return exact, place


def _numbered(corners: Corners, rows: np.ndarray) -> np.ndarray:
    """A number for the box of each row, from 0: the same for equal boxes."""
    some, place = np.unique(rows, return_inverse=True)
    boxes = np.concatenate([corners.rounded[some], corners.remainders[some]], axis=1)
    return np.unique(boxes, axis=0, return_inverse=True)[1].reshape(-1)[place.reshape(-1)].astype(np.int64)


def _exact_iou(box: list[float], other: list[float]) -> Fraction:
    """|A ∩ B| / |A ∪ B|; 0 where both have no area."""
    ratios = [part.as_integer_ratio() for part in (*box, *other)]
    unit = max(denominator for _, denominator in ratios)  # all of them are powers of two
    parts = [numerator * (unit // denominator) for numerator, denominator in ratios]
    a, b = _corners(parts[:9]), _corners(parts[9:])
    sides = [max(min(a[i + 2], b[i + 2]) - max(a[i], b[i]), 0) for i in (0, 1)]
    intersection = sides[0] * sides[1]
    union = sum((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in (a, b)) - intersection
    return Fraction(intersection, union) if union else Fraction()


def _corners(parts: Sequence[int]) -> list[int]:
    return [parts[i] + parts[i + 4] + (parts[8] if i > 1 else 0) for i in range(4)]


class DetectionState(TypedDict):
    """Boxes of N images in two tables, in float64, xyxy."""

    num_predictions: np.ndarray  # (N,) with num_references: rows of each image
    num_references: np.ndarray
    predictions: np.ndarray  # (Σn, 6) x1, y1, x2, y2, confidence, class
    references: np.ndarray  # (Σm, 5) x1, y1, x2, y2, class
    ignored: np.ndarray  # (Σm,) whether the object is ignored
    # (Σn, 4), (Σm, 4) the rounding errors of corners computed from sizes: an exact corner is the sum of the two
    prediction_remainders: np.ndarray
    reference_remainders: np.ndarray
    counts: NotRequired[np.ndarray]  # (N,) how many equal images each image stands for; absent, one each


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


def reduce_boxes(predictions: Any, references: Any, box_format: str) -> DetectionState:
    """Check the boxes of a batch of images and lay them out in two tables; see `OpenSetDetection.reduce`."""
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
    if not isinstance(images, list):
        images = as_array(images, name) if is_torch_array(images) else without_arrow(images)
        if (
            isinstance(images, Mapping)
            or getattr(images, "ndim", 0) == 2
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
    with suppress(TypeError, ValueError, LookupError):  # all dicts have flags, as those of the readers
        flags, lengths = _joined_column(references, "ignored")
        if np.array_equal(lengths, counts) and not any("iscrowd" in image for image in references):
            return to_numpy(as_flags(flags, "ignored"))
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
    joined = None
    with suppress(TypeError, ValueError, LookupError):  # all are alike and right, as nearly always
        joined = _joined_dicts(images, keys) if {*map(type, images)} == {dict} else _joined(images, width)
    table, counts = joined or _joined([_image_table(image, name, i, keys) for i, image in enumerate(images)], width)
    _check_table(table, counts, name, box_format)
    return table, counts, _turn_into_corners(table, box_format)


def _joined(images: list[Any], width: int) -> tuple[np.ndarray, np.ndarray]:
    """One table of all images, and the number of each image's rows. Columns are contiguous, since work is by column."""
    if {*map(type, images)} - {np.ndarray}:
        raise TypeError
    counts = np.asarray([*map(len, images)], dtype=np.int64)
    table = np.empty((width, counts.sum())).T
    return np.concatenate([table[:0], *images], out=table, casting="no"), counts


def _joined_dicts(images: list[Any], keys: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """As `_joined`, of dicts of arrays. Raises an error without a place for all that `_image_table` refuses."""
    columns, numbers = zip(*(_joined_column(images, key) for key in keys))
    if not all(np.array_equal(numbers[0], others) for others in numbers):
        raise ValueError
    rows = [box_rows(column, key, 1 if k else 4) for k, (key, column) in enumerate(zip(keys, columns))]
    return np.concatenate(rows, axis=1, out=np.empty((3 + len(keys), len(rows[0]))).T), numbers[0]


def _joined_column(images: list[Any], key: str) -> tuple[np.ndarray, np.ndarray]:
    """The entries of a key of all images, which are arrays of one type, and the number of each image's."""
    arrays = [image[key] for image in images]
    if {*map(type, arrays)} != {np.ndarray} or len({array.dtype for array in arrays}) > 1:
        raise TypeError  # of several types, some numbers would be rounded before they are checked
    return np.concatenate(arrays), np.asarray([*map(len, arrays)], dtype=np.int64)


def _image_table(image: Any, name: str, i: int, keys: Sequence[str]) -> np.ndarray:
    check_not_sparse(image, f"{name}[{i}]")
    if not isinstance(image, Mapping):
        return box_rows(image, f"{name}[{i}]", 3 + len(keys))
    if {*keys} - image.keys():
        raise TypeError(f"{name}[{i}]: expected keys {', '.join(keys)}, got {', '.join(map(str, image)) or 'none'}")
    columns = [box_rows(image[key], f"{name}[{i}][{key!r}]", 1 if k else 4) for k, key in enumerate(keys)]
    if len({*map(len, columns)}) > 1:
        came = ", ".join(f"{len(column)} {key}" for column, key in zip(columns, keys))
        raise ValueError(f"{name}[{i}]: expected one length, got {came}")
    return np.concatenate(columns, axis=1)


def box_rows(x: Any, name: str, width: int) -> np.ndarray:
    """A copy of rows of `width` numbers, in float64."""
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
        table[:, :2], remainders[:, :2] = sum_and_rest(start, -size / 2)
        table[:, 2:4], remainders[:, 2:] = sum_and_rest(start, size / 2)
    else:
        remainders[:, :2] = 0.0
        table[:, 2:4], remainders[:, 2:] = sum_and_rest(start, size)
    return remainders


def _are_plain(rows: np.ndarray, box_format: str) -> bool:
    """Whether a first look shows that all rows are valid, as it nearly always does; if it does not, they may be."""
    x1, y1, x2, y2, *_, label = rows.T
    if box_format != "xyxy":
        x1, y1 = 0.0, 0.0
    with np.errstate(invalid="ignore"):
        largest = max(-rows.min(), rows.max())  # NaN if there is one
        ordered = largest < MAX_EXACT and (x1 <= x2).all() and (y1 <= y2).all()  # so areas are finite
        return bool(ordered and (label == np.rint(label)).all())


def _check_table(table: np.ndarray, counts: np.ndarray, name: str, box_format: str) -> None:
    """Raise ValueError for the first part of a table with an invalid row, as `_check_rows` does."""

    def check(start: int) -> None:
        part = slice(start, start + _ROWS)
        if not _are_plain(table[part], box_format):
            _check_rows(table, part, counts, name, box_format)

    starts = range(0, len(table), _ROWS)
    if len(starts) == 1:
        check(0)
    elif starts:
        each_in_threads(check, starts, [_ROWS] * len(starts), threads_for(table.size))


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


def places_of_images(state: DetectionState) -> np.ndarray:
    """The place of each image among the distinct ones, (N,) int64, by the bytes of its sorted boxes.

    The first coordinate of an image's first box nearly always decides, so only images that share it are compared whole.
    """
    groups = _groups_by_first_box(state["num_predictions"], state["predictions"], state["prediction_remainders"])
    images = [*zip(groups.tolist(), *image_contents(state, np.bincount(groups)[groups] > 1))]
    place = {image: i for i, image in enumerate(sorted(set(images)))}
    return np.asarray([place[image] for image in images], dtype=np.int64)


def image_contents(state: DetectionState, chosen: np.ndarray) -> tuple[list[bytes], list[bytes]]:
    """The sorted predictions and objects of chosen images; none of the others."""
    objects = np.column_stack([state["references"], state["ignored"]])
    return (
        _contents(state["num_predictions"], state["predictions"], state["prediction_remainders"], chosen),
        _contents(state["num_references"], objects, state["reference_remainders"], chosen),
    )


def _groups_by_first_box(numbers: np.ndarray, boxes: np.ndarray, remainders: np.ndarray) -> np.ndarray:
    """Groups of images by the x1 of their first boxes, in the order of its bytes; 0 for images without boxes."""
    some = np.flatnonzero(numbers)
    groups = np.zeros(len(numbers), np.int64)
    if len(some):
        rows, starts = np.arange(len(boxes)), np.cumsum(numbers)[some] - numbers[some]
        image = np.repeat(np.arange(len(some)), numbers[some])
        columns = [*boxes.T] if repeats_zeros(remainders) else [*boxes.T, *remainders.T]
        for column in reversed(columns):  # the last counts first
            if len(rows) == len(some):
                break
            values = column[rows]
            first = values == np.minimum.reduceat(values, starts)[image]
            rows, image = rows[first], image[first]
            starts = np.flatnonzero(np.diff(image, prepend=-1))
        keys = (boxes[rows[starts], 0] + 0.0).view(np.uint64)  # 0.0 for −0.0
        in_bytes = keys.astype("<u8").view(">u8")
        groups[some] = 1 + np.unique(in_bytes, return_inverse=True)[1]
    return groups


def _contents(numbers: np.ndarray, boxes: np.ndarray, remainders: np.ndarray, chosen: np.ndarray) -> list[bytes]:
    """The boxes of chosen images, sorted, as bytes; none of the others."""
    rows, numbers = np.repeat(chosen, numbers), np.where(chosen, numbers, 0)
    table = np.concatenate([boxes[rows], remainders[rows]], axis=1) + 0.0  # 0.0 for −0.0
    image = np.repeat(np.arange(len(numbers)), numbers)
    content = table[np.lexsort((*table.T, image))].tobytes()
    ends = (np.cumsum(numbers) * table.itemsize * table.shape[1]).tolist()
    return [content[start:end] for start, end in zip([0, *ends], ends)]
