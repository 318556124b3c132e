"""One-to-one matching of predictions and objects within each image, whatever their classes.

The pairs of all images that reach the IoU threshold are listed and ranked together, best first; one pass over the
list takes each pair of boxes that are both still free. Ranked by IoU, this repeatedly takes the best pair of each
image; ranked by confidence and then IoU, it goes through the predictions of each image, most confident first, and
gives each the free object that it overlaps most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.checks import as_choice, as_counts, check_lengths
from .boxes import Corners, DetectionState, checked_table
from .overlap import Overlaps, Pairs, overlapping_pairs, overlaps
from .rules import MATCHINGS, Rules, evaluated_classes, rows_of

_LISTED = 1 << 16  # pairs that are numbers of Python at a time, which take some 70 bytes each


def match_boxes(
    predictions: Any,
    references: Any,
    num_predictions: Any,
    num_references: Any,
    iou_threshold: float = Rules.iou_threshold,
    *,
    matching: str = Rules.matching,
) -> tuple[np.ndarray, np.ndarray]:
    """Match boxes one to one within each image, whatever their classes.

    "iou": the pair with the highest IoU is matched and its boxes are taken out, until every IoU left is below the
    threshold. Of equal IoUs the more confident prediction goes first.
    "confidence": the most confident prediction takes the object that it overlaps most, then the next one takes what
    is still free, and so on. Of equal confidences the higher IoU goes first.
    Then the smaller class and coordinates go first, so that the order of the boxes never matters.

    Parameters: predictions (Σn, 6), references (Σm, 5) as `reduce_boxes` lays them out, with the number of each
    image's rows; iou_threshold in (0, 1], matched at IoU ≥ threshold.
    Returns the matched pairs as two index arrays, into predictions and into references.
    Raises ValueError for numbers of rows that do not add up, and the errors of `reduce_boxes`.

    >>> boxes = [[0, 0, 4, 3, 0.9, 1], [0, 0, 4, 4, 0.01, 1]]
    >>> for matching in ("iou", "confidence"):
    ...     print(match_boxes(boxes, [[0, 0, 4, 4, 1]], [2], [1], matching=matching)[0])
    [1]
    [0]
    """
    num_predictions = to_numpy(as_counts(num_predictions, "num_predictions"))
    num_references = to_numpy(as_counts(num_references, "num_references"))
    check_lengths(num_predictions=num_predictions, num_references=num_references)
    predictions = checked_table(predictions, "predictions", 6, num_predictions)
    references = checked_table(references, "references", 5, num_references)
    pairs = overlapping_pairs(predictions, references, num_predictions, num_references, iou_threshold)
    matched = match_pairs(pairs, predictions, references, matching)
    return matched.rows, matched.columns


def match_pairs(pairs: Pairs, predictions: np.ndarray, references: np.ndarray, matching: str) -> Pairs:
    """Choose the matched pairs; see `match_boxes`."""
    as_choice(matching, "matching", MATCHINGS)
    keys = [-predictions[pairs.rows, 4], -pairs.ranks]
    if matching == "confidence":
        keys.reverse()
    ranked = rank_pairs(pairs, predictions, references, keys)
    return take_free(pairs.take(ranked), len(predictions), len(references))


def first_pairs(
    pairs: Pairs,
    places: np.ndarray,
    of: np.ndarray,
    predictions: np.ndarray,
    references: np.ndarray,
    keys: list[np.ndarray],
) -> np.ndarray:
    """The place of the first pair of each prediction or of each object, ranked as by `rank_pairs`.

    Parameters: places of the pairs that are looked at; of, the rows or the columns of all pairs; keys of all pairs.
    Only pairs that their keys do not tell apart are ranked.
    """
    first = lowest_of_each(places, of, keys)
    equal = np.bincount(of[first])[of[first]] > 1
    several = first[equal]
    order = rank_pairs(pairs.take(several), predictions, references, [*(key[several] for key in keys), of[several]])
    several = several[order]
    return np.concatenate([first[~equal], several[first_of_each(of[several])]])


def lowest_of_each(places: np.ndarray, groups: np.ndarray, keys: list[np.ndarray]) -> np.ndarray:
    """The places of the entries with the lowest key in their group, all of equal ones; the last key counts first.

    Parameters: places of the entries to choose from; groups and keys of all entries.

    >>> groups, keys = np.asarray([0, 1, 0, 0]), [np.asarray([5, 5, 4, 5]), np.asarray([2.0, 3.0, 1.0, 1.0])]
    >>> lowest_of_each(np.arange(4), groups, keys).tolist()
    [1, 2]
    """
    for key in reversed(keys):
        if len(places):
            own, of = key[places], groups[places]
            lowest = np.full(int(of.max()) + 1, own.max())
            np.minimum.at(lowest, of, own)
            places = places[own == lowest[of]]
    return places


def rank_pairs(pairs: Pairs, predictions: np.ndarray, references: np.ndarray, keys: list[np.ndarray]) -> np.ndarray:
    """The order of pairs by keys, the last key first, then by class and coordinates of both boxes."""
    ranked = np.lexsort(keys)
    if np.logical_and.reduce([key[ranked[1:]] == key[ranked[:-1]] for key in keys]).any():
        boxes, others = box_ranks(predictions[:, [5, 0, 1, 2, 3]]), box_ranks(references[:, [4, 0, 1, 2, 3]])
        ranked = np.lexsort([others[pairs.columns], boxes[pairs.rows], *keys])
    return ranked


def box_ranks(columns: np.ndarray) -> np.ndarray:
    """Rank the rows of a table by their columns, the first column first; equal rows have equal ranks.

    >>> box_ranks(np.asarray([[1.0, 5.0], [0.0, 9.0], [1.0, 5.0]])).tolist()
    [1, 0, 1]
    """
    order = np.lexsort(columns.T[::-1])
    ordered = columns[order]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.concatenate([[0], np.cumsum((ordered[1:] != ordered[:-1]).any(1))])[: len(order)]
    return ranks


def take_free(ranked: Pairs, num_rows: int, num_columns: int) -> Pairs:
    """Take each pair of two boxes that are still free, from pairs listed best first."""
    row_used, column_used, taken = bytearray(num_rows), bytearray(num_columns), []
    for start in range(0, len(ranked.rows), _LISTED):
        part = slice(start, start + _LISTED)
        for pair, (row, column) in enumerate(zip(ranked.rows[part].tolist(), ranked.columns[part].tolist()), start):
            if not row_used[row] and not column_used[column]:
                row_used[row] = column_used[column] = 1
                taken.append(pair)
    return ranked.take(np.asarray(taken, dtype=np.int64))


def first_of_each(groups: np.ndarray) -> np.ndarray:
    """The first of each run of equal numbers."""
    first = np.ones(len(groups), dtype=bool)
    first[1:] = groups[1:] != groups[:-1]
    return first


# The boxes of an evaluation, and the outcome of each prediction, for any protocol.
#
# A protocol assigns each prediction one of seven outcomes from the boxes of its image alone, so it is determined once,
# however many equal images each image stands for.


OUTCOMES = ("TP_known", "FP_known", "TP_unknown", "FP_unknown", "background", "on ignored", "left out")
TP_KNOWN, FP_KNOWN, TP_UNKNOWN, FP_UNKNOWN, BACKGROUND, ON_IGNORED, LEFT_OUT_CLASS = range(len(OUTCOMES))
COUNTED = range(BACKGROUND)  # the outcomes that are counted
# for each outcome, whether the prediction is right, or wrong; an outcome that counts nowhere is neither
IS_RIGHT = np.isin(np.arange(len(OUTCOMES)), (TP_KNOWN, TP_UNKNOWN))
IS_WRONG = np.isin(np.arange(len(OUTCOMES)), (FP_KNOWN, FP_UNKNOWN, BACKGROUND))


class SelectedBoxes(NamedTuple):
    """The boxes of a state that are evaluated: confident predictions and all objects.

    predictions, references, num_predictions, num_references, ignored: as in a `DetectionState`
    counts: how many equal images each image stands for
    image, confidence, label: of each prediction
    object_image, object_label: of each object; the label of all unknown ones is the unknown id
    classes: the known classes, others that are predicted, and "unknown", in the order of tables by class
    rows, object_rows: the class of each prediction and of each object, as its row there
    rules: by which they were selected
    corners: those of predictions and of objects, exactly
    """

    predictions: np.ndarray
    references: np.ndarray
    num_predictions: np.ndarray
    num_references: np.ndarray
    ignored: np.ndarray
    counts: np.ndarray
    image: np.ndarray
    confidence: np.ndarray
    label: np.ndarray
    object_image: np.ndarray
    object_label: np.ndarray
    classes: list[int]
    rows: np.ndarray
    object_rows: np.ndarray
    rules: Rules
    corners: tuple[Corners, Corners]

    @property
    def known(self) -> list[int]:
        """Ids of the known classes."""
        return self.rules.known

    @property
    def unknown_id(self) -> int:
        """The class by which a prediction says "unknown"."""
        return self.rules.unknown_class_id

    def overlaps(self, lowest: float) -> Overlaps:
        """All pairs of a prediction and an object of one image that may reach an IoU."""
        counts = self.num_predictions, self.num_references
        return overlaps(self.predictions, self.references, *counts, lowest, self.corners)

    def pairs(self) -> Pairs:
        """The pairs with an IoU that reaches the threshold of the rules."""
        return self.overlaps(self.rules.iou_threshold).reaching(self.rules.iou_threshold)


class Outcomes(NamedTuple):
    """The outcome of each prediction.

    boxes: the boxes that take part
    outcome: (n,) int8, TP_KNOWN, FP_KNOWN, TP_UNKNOWN, FP_UNKNOWN; BACKGROUND, an "unknown" without an object where
        these do not count; ON_IGNORED; or LEFT_OUT_CLASS, of a class that is not evaluated
    matched: the row of the object that it takes, or −1
    """

    boxes: SelectedBoxes
    outcome: np.ndarray
    matched: np.ndarray


def select_boxes(state: DetectionState, rules: Rules) -> SelectedBoxes:
    """Drop predictions below the confidence threshold, and label the objects.

    With `unknown_below`, less confident predictions of known classes become "unknown".
    With `plus_one` each box is a pixel wider and higher: the VOC devkit counts both border pixels, so that its widths
    are x2 − x1 + 1.
    """
    predictions, references, num_predictions = state["predictions"], state["references"], state["num_predictions"]
    images = np.arange(len(num_predictions))
    image = np.repeat(images, num_predictions)
    remainders = state["prediction_remainders"]
    confidence, label = np.ascontiguousarray(predictions[:, 4:].T)
    confident = confidence >= rules.conf_threshold
    if not confident.all():
        image, confidence, label = image[confident], confidence[confident], label[confident]
        predictions, remainders = predictions[confident], remainders[confident]
        num_predictions = np.bincount(image, minlength=len(images))
    if rules.unknown_below is not None:
        unsure = (confidence < rules.unknown_below) & np.isin(label, rules.known)
        label = np.where(unsure, rules.unknown_class_id, label)
        predictions = np.column_stack([predictions[:, :5], label])
    corners = (
        Corners(predictions[:, :4], remainders, int(rules.plus_one)),
        Corners(references[:, :4], state["reference_remainders"], int(rules.plus_one)),
    )
    if rules.plus_one:
        border = np.asarray([0, 0, 1, 1])
        predictions = np.concatenate([predictions[:, :4] + border, predictions[:, 4:]], axis=1)
        references = np.concatenate([references[:, :4] + border, references[:, 4:]], axis=1)
    is_known = np.isin(references[:, 4], rules.known)
    object_label = np.where(is_known, references[:, 4], rules.unknown_class_id)
    classes = evaluated_classes(rules.known, rules.unknown_class_id, label)
    return SelectedBoxes(
        predictions,
        references,
        num_predictions,
        state["num_references"],
        state["ignored"],
        state.get("counts", np.ones(len(images), dtype=np.int64)),
        image,
        confidence,
        label,
        object_image=np.repeat(images, state["num_references"]),
        object_label=object_label,
        classes=classes,
        rows=rows_of(label, classes),
        object_rows=rows_of(object_label, classes),
        rules=rules,
        corners=corners,
    )


# Pascal VOC's matching of detections, class by class.
#
# A prediction points at the object of its class that it overlaps most, and matches no other object if that one is
# taken. So no loop is needed: of the predictions that point at one object, the most confident is the TP. The counts of
# all predictions that reach a confidence then depend on no order, and each distinct confidence is a threshold.


def voc_outcomes(boxes: SelectedBoxes, pairs: Pairs) -> Outcomes:
    """Outcomes of predictions within their classes; all unknown objects are of one class.

    A prediction on an ignored object is not counted. Of equal IoUs, an object that is not ignored comes first, then
    smaller class and coordinates; of equally confident predictions on one object, the one with the higher IoU, then
    smaller coordinates. Predictions of a class that is neither known nor the unknown id are not counted.
    """
    pairs = pairs.take(boxes.rows[pairs.rows] == boxes.object_rows[pairs.columns])
    keys = [boxes.ignored[pairs.columns], -pairs.ranks, pairs.rows]
    pairs = pairs.take(rank_pairs(pairs, boxes.predictions, boxes.references, keys))
    pointing = pairs.take(first_of_each(pairs.rows))
    to_ignored = boxes.ignored[pointing.columns]
    taking = pointing.take(~to_ignored)
    keys = [-taking.ranks, -boxes.confidence[taking.rows], taking.columns]
    taking = taking.take(rank_pairs(taking, boxes.predictions, boxes.references, keys))
    taking = taking.take(first_of_each(taking.columns))

    of_class = np.where(np.isin(boxes.classes, boxes.known), FP_KNOWN, LEFT_OUT_CLASS).astype(np.int8)
    of_class[-1] = FP_UNKNOWN
    outcome = of_class[boxes.rows]
    says_unknown = outcome[taking.rows] == FP_UNKNOWN
    outcome[pointing.rows[to_ignored]] = ON_IGNORED
    outcome[taking.rows] = np.where(says_unknown, TP_UNKNOWN, TP_KNOWN)
    matched = np.full(len(outcome), -1)
    matched[taking.rows] = taking.columns
    return Outcomes(boxes, outcome, matched)


# Changes of counts if all errors of one kind were mended.


class Mending(NamedTuple):
    """Changes of outcomes by mending errors.

    going: rows of the predictions that are no longer false positives
    taking, objects: rows of the predictions that become true positives instead, at their own confidence and with the
        right class, and of the objects that they take
    leaving: rows of the objects that no longer count
    """

    going: np.ndarray
    taking: np.ndarray
    objects: np.ndarray
    leaving: np.ndarray


_NO_ROWS = np.zeros(0, np.int64)


def matched_objects(outcomes: Outcomes) -> np.ndarray:
    """Whether each object is matched by a true positive."""
    is_matched = np.zeros(len(outcomes.boxes.references), dtype=bool)
    is_matched[outcomes.matched[IS_RIGHT[outcomes.outcome]]] = True
    return is_matched


def mending(boxes: SelectedBoxes, is_matched: np.ndarray, going: np.ndarray, target: np.ndarray) -> Mending:
    """Mend some false positives.

    A false positive with a target becomes a TP of the target's class at its own confidence, unless the object is
    already matched, by a TP or a more confident one of these. All others are removed.

    Parameters: is_matched, of `matched_objects`; going, the rows of the false positives; target (n,), the row of an
    object for each prediction, or −1.
    """
    taking = going[target[going] >= 0]
    taking = taking[~is_matched[target[taking]]]
    surest = lowest_of_each(np.arange(len(taking)), target[taking], [-boxes.confidence[taking]])
    taking = taking[surest]
    taking = taking[np.argsort(target[taking], kind="stable")]
    taking = taking[first_of_each(target[taking])]
    return Mending(going, taking, target[taking], _NO_ROWS)


def without_predictions(going: np.ndarray) -> Mending:
    """Take false positives out of the evaluation."""
    return Mending(going, _NO_ROWS, _NO_ROWS, _NO_ROWS)


def without_objects(objects: np.ndarray) -> Mending:
    """Take objects out of the evaluation."""
    return Mending(_NO_ROWS, _NO_ROWS, _NO_ROWS, objects)
