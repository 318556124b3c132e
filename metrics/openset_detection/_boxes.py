"""Object detection with unknown objects: greedy one-to-one matching of boxes, and its counts.

The pairs of all images that reach the IoU threshold are listed and ranked together, best first; one pass over the
list takes each pair whose boxes are both still free. That is the same as taking the best pair of each image again and
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ._arrays import (
    MAX_EXACT,
    State,
    as_bool,
    as_choice,
    as_fraction,
    as_int,
    as_int_list,
    as_numbers,
    as_real,
    to_numpy,
)
from ._compiled import pairs_above, worth_compiling

BOX_FORMATS = ("xyxy", "xywh", "cxcywh")
_INT64 = (-(2**63), 2**63 - 1)
_PAIRS = 1 << 22  # pairs of boxes compared at a time
_PAIR_WORK = 16  # comparing a pair of boxes takes about as long as so many scores


def reduce_boxes(predictions: Any, references: Any, *, box_format: str = "xyxy") -> State:
    """Check the boxes of a batch of images and lay them out in two tables.

    Parameters: predictions, per image (n, 6) rows x1, y1, x2, y2, confidence, class, or {"boxes", "scores",
    "labels"}; references, per image (m, 5) rows x1, y1, x2, y2, class, or {"boxes", "labels"}; box_format, "xyxy",
    "xywh" (corner and size) or "cxcywh" (centre and size).

    Returns `num_predictions` and `num_references` (N,), and `predictions` (Σn, 6) and `references` (Σm, 5), xyxy.
    Raises ValueError naming the image for shapes, NaN, x2 < x1, fractional classes; TypeError for what is no box.
    """
    as_choice(box_format, "box_format", BOX_FORMATS)
    predicted, num_predictions = _table(predictions, "predictions", ("boxes", "scores", "labels"), box_format)
    true, num_references = _table(references, "references", ("boxes", "labels"), box_format)
    if len(num_predictions) != len(num_references):
        raise ValueError(
            f"expected columns of one length, got {len(num_predictions)} predictions, {len(num_references)} references"
        )
    return {
        "num_predictions": num_predictions,
        "num_references": num_references,
        "predictions": predicted,
        "references": true,
    }


def _table(images: Any, name: str, keys: Sequence[str], box_format: str) -> tuple[np.ndarray, np.ndarray]:
    """All images' boxes as rows x1, y1, x2, y2, (confidence,) class in float64, and the number of each image's."""
    if (
        isinstance(images, Mapping)
        or (hasattr(images, "ndim") and images.ndim == 2)
        or not isinstance(images, Iterable)
    ):
        raise TypeError(f"{name}: expected a list with one table or dict of boxes per image, got a single one: [x]")
    tables = [_image_table(image, name, i, keys) for i, image in enumerate(images)]
    counts = np.asarray([len(table) for table in tables], dtype=np.int64)
    table = np.concatenate([np.zeros((0, 3 + len(keys))), *tables])
    _check_table(table, counts, name, box_format)
    return _as_corners(table, box_format), counts


def _image_table(image: Any, name: str, i: int, keys: Sequence[str]) -> np.ndarray:
    width = 3 + len(keys)
    if isinstance(image, np.ndarray) and image.shape[1:] == (width,) and image.dtype == np.float64:
        return image
    if not isinstance(image, Mapping):
        return _rows(image, f"{name}[{i}]", width)
    if any(key not in image for key in keys):
        raise TypeError(f"{name}[{i}]: expected keys {', '.join(keys)}, got {', '.join(map(str, image)) or 'none'}")
    columns = [_rows(image[key], f"{name}[{i}][{key!r}]", 1 if k else 4) for k, key in enumerate(keys)]
    if len({len(column) for column in columns}) > 1:
        came = ", ".join(f"{len(column)} {key}" for column, key in zip(columns, keys))
        raise ValueError(f"{name}[{i}]: expected one length, got {came}")
    return np.concatenate(columns, axis=1)


def _rows(x: Any, name: str, width: int) -> np.ndarray:
    array = to_numpy(as_numbers(x, name))
    if array.shape[:1] == (0,):
        return np.zeros((0, width))
    if array.dtype.kind in "iu" and max(int(array.max()), -int(array.min())) > MAX_EXACT:
        raise ValueError(f"{name}: expected integers within ±2**53, got larger ones")
    array = array.reshape(-1, 1) if width == 1 and array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != width:
        hint = ""
        if array.ndim == 2 and {array.shape[1], width} == {5, 6}:
            hint = "; predictions have 6 columns (…, confidence, class), references 5 (…, class): are they swapped?"
        raise ValueError(f"{name}: expected rows of {width} numbers, got shape {array.shape}{hint}")
    return array.astype(np.float64)


def _as_corners(table: np.ndarray, box_format: str) -> np.ndarray:
    if box_format == "cxcywh":
        table[:, :2] -= table[:, 2:4] / 2
    if box_format != "xyxy":
        table[:, 2:4] += table[:, :2]
    return table


_NONE = np.zeros(0, dtype=bool)


def _check_table(table: np.ndarray, counts: np.ndarray, name: str, box_format: str) -> None:
    """Raise ValueError for the first bad row, with its image and its place there."""

    def refuse(bad: np.ndarray, expected: str, column: slice | int) -> None:
        if bad.any():
            row = int(np.argmax(bad))
            image = int(np.searchsorted(np.cumsum(counts), row, side="right"))
            place = row - int(counts[:image].sum())
            raise ValueError(f"{name}[{image}]: expected {expected}, got {table[row, column].tolist()} in row {place}")

    with np.errstate(over="ignore", invalid="ignore"):
        nan = np.isnan(table)
        refuse(nan.any(axis=1) if nan.any() else _NONE, "no NaN", slice(None))
        size = table[:, 2:4] - table[:, :2] if box_format == "xyxy" else table[:, 2:4]
        ordered = "x1 ≤ x2 and y1 ≤ y2" if box_format == "xyxy" else "a width and a height of at least 0"
        refuse((size[:, 0] < 0) | (size[:, 1] < 0), f"{ordered} (box_format={box_format!r})", slice(4))
        # of two such boxes the union is finite too
        finite = np.isfinite(4 * size[:, 0] * size[:, 1]) & np.isfinite(table[:, 0] + table[:, 1] + size[:, 0])
        refuse(~(finite & np.isfinite(size[:, 1])), "a box of finite area", slice(4))
        refuse(table[:, -1] != np.round(table[:, -1]), "an integer class", -1)
        refuse(np.abs(table[:, -1]) > MAX_EXACT, "a class within ±2**53", -1)


def box_iou(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of each pair of rows of two (N, 4) arrays of xyxy boxes; 0 where both have no area.

    IoU = |A ∩ B| / |A ∪ B|, in [0, 1]. Source: Everingham et al., The Pascal VOC Challenge, IJCV 2010.

    >>> box_iou(np.asarray([[0, 0, 2, 2]]), np.asarray([[0, 0, 2, 1]])).tolist()
    [0.5]
    """
    x1, y1, x2, y2 = (column.astype(np.float64) for column in boxes.T)
    u1, v1, u2, v2 = (column.astype(np.float64) for column in others.T)
    width = np.minimum(x2, u2) - np.maximum(x1, u1)
    height = np.minimum(y2, v2) - np.maximum(y1, v1)
    intersection = np.maximum(width, 0) * np.maximum(height, 0)
    union = (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - intersection
    return np.divide(intersection, union, out=np.zeros_like(union), where=union > 0)


def match_boxes(
    predictions: np.ndarray,
    references: np.ndarray,
    num_predictions: np.ndarray,
    num_references: np.ndarray,
    iou_threshold: float = 0.5,
) -> tuple[np.ndarray, np.ndarray]:
    """Match boxes one to one within each image, whatever their classes, highest IoU first.

    The pair with the highest IoU is matched and its boxes are taken out, until every IoU left is below the
    threshold. Of equal IoUs the more confident prediction goes first, then the smaller class and coordinates, so
    that the order of the boxes does not matter.

    Parameters: predictions (Σn, 6), references (Σm, 5) as `reduce_boxes` lays them out, with the number of each
    image's rows; iou_threshold in (0, 1], matched at IoU ≥ threshold.
    Returns the matched pairs as two index arrays, into predictions and into references.

    >>> one = np.asarray([1])
    >>> match_boxes(np.asarray([[0, 0, 4, 4, 0.9, 1]]), np.asarray([[0, 0, 4, 2, 1]]), one, one)
    (array([0]), array([0]))
    """
    threshold = as_fraction(iou_threshold, "iou_threshold")
    counts = np.repeat(num_references, num_predictions)  # of the references in each prediction's image
    starts = np.repeat(np.cumsum(num_references) - num_references, num_predictions)
    found = [
        _candidates(predictions, references, part, counts[part], starts[part], threshold) for part in _chunks(counts)
    ]
    rows, columns, ious = (np.concatenate(parts) for parts in zip(*found))
    ranked = np.argsort(-ious)
    if (ious[ranked[1:]] == ious[ranked[:-1]]).any():
        ranked = _rank_with_ties(predictions[rows], references[columns], ious)
    return _match_ranked(rows[ranked], columns[ranked], len(predictions), len(references))


def _rank_with_ties(predictions: np.ndarray, references: np.ndarray, ious: np.ndarray) -> np.ndarray:
    """Order of pairs by IoU, then confidence, then class and coordinates of both boxes."""
    boxes, others = predictions[:, 3::-1].T, references[:, 3::-1].T  # the last key of lexsort counts first
    return np.lexsort([*others, references[:, 4], *boxes, predictions[:, 5], -predictions[:, 4], -ious])


def _chunks(counts: np.ndarray) -> Iterator[slice]:
    """Cut prediction rows into runs of a few million pairs."""
    chunk = np.cumsum(counts) // _PAIRS
    cuts = [0, *(np.flatnonzero(chunk[1:] != chunk[:-1]) + 1).tolist(), len(counts)]
    return (slice(start, stop) for start, stop in pairwise(cuts))


def _candidates(
    predictions: np.ndarray,
    references: np.ndarray,
    part: slice,
    counts: np.ndarray,
    starts: np.ndarray,
    threshold: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs of a run of prediction rows with the references of their images that reach the threshold."""
    total = int(counts.sum())
    loop = worth_compiling(pairs_above, _PAIR_WORK * total, predictions, references)
    if loop is not None:
        rows, columns, ious = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total)
        size = loop(predictions[part], references, counts, starts, threshold, rows, columns, ious)
        return rows[:size] + part.start, columns[:size], ious[:size]
    rows = np.repeat(np.arange(part.start, part.stop), counts)
    columns = np.arange(total) - np.repeat(np.cumsum(counts) - counts - starts, counts)
    ious = box_iou(predictions[rows, :4], references[columns, :4])
    keep = np.flatnonzero(ious >= threshold)
    return rows[keep], columns[keep], ious[keep]


def _match_ranked(
    rows: np.ndarray, columns: np.ndarray, num_rows: int, num_columns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Take pairs listed best first, each whose boxes are both still free."""
    row_used, column_used, matched = bytearray(num_rows), bytearray(num_columns), []
    for pair, (row, column) in enumerate(zip(rows.tolist(), columns.tolist())):
        if not row_used[row] and not column_used[column]:
            row_used[row] = column_used[column] = 1
            matched.append(pair)
    return rows[matched], columns[matched]


def count_openset_detections(
    state: State,
    known_classes: Any,
    *,
    unknown_class_id: int = -1,
    iou_threshold: float = 0.5,
    conf_threshold: float = 0.0,
    count_background: bool = False,
) -> dict[str, int]:
    """Count right and wrong detections of known and of unknown objects.

    A reference is known if its class is among `known_classes`, else unknown; a prediction says "unknown" if its
    class is `unknown_class_id`, else it says a known class. Predictions below `conf_threshold` are left out, the
    rest are matched by `match_boxes`.

    matched to →          known object                      unknown object
    its class             TP_known                          –
    another known class   FP_known, FN_known                FP_known, FN_unknown
    "unknown"             FP_unknown, FN_known              TP_unknown

    Unmatched objects are FN of their kind. Unmatched predictions are FP_known, or if they say "unknown", nothing,
    unless `count_background` makes them FP_unknown.

    Parameters: state of `reduce_boxes`. Returns the counts TP, FP, FN and total, each _known and _unknown.
    Raises TypeError without known_classes, ValueError if they hold the unknown id or a threshold is out of range.
    Source: the evaluation guide of OW-DLN; `count_background` follows its code.
    """
    known, unknown_id = check_known_classes(known_classes, unknown_class_id)
    predictions, references, num_predictions = state["predictions"], state["references"], state["num_predictions"]
    confident = predictions[:, 4] >= as_real(conf_threshold, "conf_threshold")
    if not confident.all():
        image = np.repeat(np.arange(len(num_predictions)), num_predictions)
        num_predictions = np.bincount(image[confident], minlength=len(num_predictions))
        predictions = predictions[confident]
    rows, columns = match_boxes(predictions, references, num_predictions, state["num_references"], iou_threshold)

    is_known = np.isin(references[:, -1], known)
    says_unknown = predictions[:, -1] == unknown_id
    right = predictions[rows, -1] == references[columns, -1]
    to_known, unknown_said = is_known[columns], says_unknown[rows]

    tp_known = int(np.sum(to_known & right))
    tp_unknown = int(np.sum(~to_known & unknown_said))
    known_called_unknown = int(np.sum(to_known & unknown_said))
    total_known = int(np.sum(is_known))
    total_unknown = len(references) - total_known
    background = int(np.sum(says_unknown)) - int(np.sum(unknown_said))
    return {
        "TP_known": tp_known,
        "FP_known": int(np.sum(~says_unknown)) - tp_known,
        "FN_known": total_known - tp_known,
        "TP_unknown": tp_unknown,
        "FP_unknown": known_called_unknown + background * as_bool(count_background, "count_background"),
        "FN_unknown": total_unknown - tp_unknown,
        "total_known": total_known,
        "total_unknown": total_unknown,
    }


def check_known_classes(known_classes: Any, unknown_class_id: Any) -> tuple[list[int], int]:
    """Check the list of known class ids (required) and the id that says "unknown", which must not be among them."""
    unknown_id = as_int(unknown_class_id, "unknown_class_id", *_INT64)
    if known_classes is None:
        raise TypeError("known_classes: expected a list of the known class ids, got None; the option is required")
    known = as_int_list(known_classes, "known_classes", *_INT64)
    if unknown_id in known:
        raise ValueError(f"known_classes: expected them without unknown_class_id, got {unknown_id} in {known}")
    return known, unknown_id


def openset_detection_rates(counts: Mapping[str, int]) -> dict[str, float]:
    """The rates of open-set detection; 0/0 is 0.

    U-Recall = TP_unknown / total_unknown                              in [0, 1], higher is better
    WI = FP_unknown / total_known                                      lower is better
    A-OSE = (FP_known + FN_known + FP_unknown + FN_unknown) / total    lower is better
    Precision(Known) = TP_known / (TP_known + FP_known),  Recall(Known) = TP_known / total_known

    Parameters: counts of `count_openset_detections`. Source: the evaluation guide of OW-DLN.

    >>> counts = {"TP_known": 3, "FP_known": 1, "FN_known": 1, "total_known": 4}
    >>> counts |= {"TP_unknown": 1, "FP_unknown": 1, "FN_unknown": 1, "total_unknown": 2}
    >>> openset_detection_rates(counts)["U-Recall"], openset_detection_rates(counts)["WI"]
    (0.5, 0.25)
    """
    errors = sum(counts[name] for name in ("FP_known", "FN_known", "FP_unknown", "FN_unknown"))
    return {
        "U-Recall": _ratio(counts["TP_unknown"], counts["total_unknown"]),
        "WI": _ratio(counts["FP_unknown"], counts["total_known"]),
        "A-OSE": _ratio(errors, counts["total_known"] + counts["total_unknown"]),
        "Precision(Known)": _ratio(counts["TP_known"], counts["TP_known"] + counts["FP_known"]),
        "Recall(Known)": _ratio(counts["TP_known"], counts["total_known"]),
    }


def _ratio(count: int, total: int) -> float:
    return count / total if total else 0.0
