"""What each detection counts as, and the counts and tables that are made of it, whatever the protocol.

A protocol gives each prediction one of five outcomes. All tables are that array counted by groups: one group for the
totals, or a group for each class or image; a sweep counts those that reach each threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ._arrays import MAX_EXACT, State
from ._options import as_bool, as_int, as_int_list, as_real

TP_KNOWN, FP_KNOWN, TP_UNKNOWN, FP_UNKNOWN, NEITHER = range(5)
CountColumns = dict[str, np.ndarray]


class SelectedBoxes(NamedTuple):
    """The boxes of a state that take part: confident predictions and all objects.

    predictions, references, num_predictions, num_references, ignored: as `reduce_boxes` lays them out
    image: of each prediction
    object_image, object_label: of each object; the label of all unknown ones is the unknown id
    """

    predictions: np.ndarray
    references: np.ndarray
    num_predictions: np.ndarray
    num_references: np.ndarray
    ignored: np.ndarray
    image: np.ndarray
    object_image: np.ndarray
    object_label: np.ndarray
    known: list[int]
    unknown_id: int


class Outcomes(NamedTuple):
    """What each prediction counts as.

    boxes: what takes part
    outcome: TP_KNOWN, FP_KNOWN, TP_UNKNOWN, FP_UNKNOWN, or NEITHER
    matched: the row of the object that it takes, or −1
    """

    boxes: SelectedBoxes
    outcome: np.ndarray
    matched: np.ndarray


def select_boxes(
    state: State, known_classes: Any, unknown_class_id: Any, conf_threshold: Any, plus_one: Any
) -> SelectedBoxes:
    """Drop predictions below the confidence threshold, and label the objects.

    With `plus_one` each box is a pixel wider and higher: the VOC devkit counts both border pixels, so that its widths
    are x2 − x1 + 1.
    """
    known, unknown_id = check_known_classes(known_classes, unknown_class_id)
    predictions, references, num_predictions = state["predictions"], state["references"], state["num_predictions"]
    images = np.arange(len(num_predictions))
    image = np.repeat(images, num_predictions)
    confident = predictions[:, 4] >= as_real(conf_threshold, "conf_threshold")
    if not confident.all():
        image, predictions = image[confident], predictions[confident]
        num_predictions = np.bincount(image, minlength=len(images))
    if as_bool(plus_one, "plus_one"):
        border = np.asarray([0, 0, 1, 1])
        predictions = np.concatenate([predictions[:, :4] + border, predictions[:, 4:]], axis=1)
        references = np.concatenate([references[:, :4] + border, references[:, 4:]], axis=1)
    return SelectedBoxes(
        predictions,
        references,
        num_predictions,
        state["num_references"],
        state["ignored"],
        image,
        object_image=np.repeat(images, state["num_references"]),
        object_label=np.where(np.isin(references[:, 4], known), references[:, 4], unknown_id),
        known=known,
        unknown_id=unknown_id,
    )


def total_counts(found: Outcomes) -> dict[str, int]:
    """The eight counts, of all images."""
    boxes = found.boxes
    counts = _counts_of(found, np.zeros_like(boxes.image), np.zeros_like(boxes.object_image), 1)
    return {name: int(column[0]) for name, column in counts.items()}


def counts_by_image(found: Outcomes) -> CountColumns:
    """The eight counts of each image."""
    return _counts_of(found, found.boxes.image, found.boxes.object_image, len(found.boxes.num_predictions))


def counts_by_class(found: Outcomes) -> dict[str, list[Any]]:
    """Objects, TP, FP, FN, precision and recall of each class; the last row is that of "unknown".

    Classes that are predicted but neither known nor the unknown id have a row too, without objects.
    """
    classes = class_rows(found.boxes)
    rows, object_rows = (
        rows_of(labels, classes) for labels in (found.boxes.predictions[:, 5], found.boxes.object_label)
    )
    counts = _counts_of(found, rows, object_rows, len(classes))
    objects, tp, fp = (counts[f"{name}_known"] + counts[f"{name}_unknown"] for name in ("total", "TP", "FP"))
    columns = {"objects": objects, "TP": tp, "FP": fp, "FN": objects - tp}
    return {
        "class": classes,
        **{name: column.tolist() for name, column in columns.items()},
        "Precision": ratios(tp, tp + fp),
        "Recall": ratios(tp, objects),
    }


def class_rows(boxes: SelectedBoxes) -> list[int]:
    """The classes of a table by class, in its order."""
    labels = np.union1d(np.asarray(boxes.known, dtype=np.float64), boxes.predictions[:, 5])
    return [*(int(label) for label in labels if label != boxes.unknown_id), boxes.unknown_id]


def rows_of(labels: np.ndarray, classes: Sequence[int]) -> np.ndarray:
    """The row of each label in a table by class."""
    *others, unknown_id = classes
    return np.where(labels == unknown_id, len(others), np.searchsorted(np.asarray(others, dtype=np.float64), labels))


def counts_above(found: Outcomes, thresholds: Sequence[float]) -> CountColumns:
    """The eight counts of the predictions that reach each confidence threshold."""
    boxes = found.boxes
    reached = (reaching(boxes.predictions[found.outcome == code, 4], thresholds) for code in range(NEITHER))
    totals = total_counts(found)
    return _named(*reached, totals["total_known"], totals["total_unknown"])


def reaching(confidences: np.ndarray, thresholds: Sequence[float]) -> np.ndarray:
    """How many confidences reach each threshold.

    >>> reaching(np.asarray([0.2, 0.9, 0.5]), [0.5, 1.0, 0.0]).tolist()
    [2, 0, 3]
    """
    return len(confidences) - np.searchsorted(np.sort(confidences), thresholds)


def _counts_of(found: Outcomes, groups: np.ndarray, object_groups: np.ndarray, size: int) -> CountColumns:
    """The eight counts of each group of predictions and objects."""
    boxes = found.boxes
    outcomes = np.bincount(groups * (NEITHER + 1) + found.outcome, minlength=size * (NEITHER + 1))
    is_known = boxes.object_label != boxes.unknown_id
    objects = (np.bincount(object_groups[kind & ~boxes.ignored], minlength=size) for kind in (is_known, ~is_known))
    return _named(*outcomes.reshape(size, NEITHER + 1).T[:NEITHER], *objects)


def _named(*columns: Any) -> CountColumns:
    tp_known, fp_known, tp_unknown, fp_unknown, total_known, total_unknown = columns
    return {
        "TP_known": tp_known,
        "FP_known": fp_known,
        "FN_known": total_known - tp_known,
        "TP_unknown": tp_unknown,
        "FP_unknown": fp_unknown,
        "FN_unknown": total_unknown - tp_unknown,
        "total_known": np.broadcast_to(total_known, tp_known.shape),
        "total_unknown": np.broadcast_to(total_unknown, tp_known.shape),
    }


def ratio(count: int, total: int) -> float:
    """Divide, with 0.0 for 0/0."""
    return count / total if total else 0.0


def ratios(counts: np.ndarray, totals: np.ndarray) -> list[float]:
    """Divide two columns, with 0.0 for 0/0."""
    return [ratio(count, total) for count, total in zip(counts.tolist(), totals.tolist())]


def check_known_classes(known_classes: Any, unknown_class_id: Any) -> tuple[list[int], int]:
    """Check the list of known class ids (required) and the id that says "unknown", which must not be among them."""
    unknown_id = as_int(unknown_class_id, "unknown_class_id", -MAX_EXACT, MAX_EXACT)
    if known_classes is None:
        raise TypeError("known_classes: expected a list of the known class ids, got None; the option is required")
    known = as_int_list(known_classes, "known_classes", -MAX_EXACT, MAX_EXACT)
    if unknown_id in known:
        raise ValueError(f"known_classes: expected them without unknown_class_id, got {unknown_id} in {known}")
    return known, unknown_id
