"""Recall of unknown objects within a budget of predictions per image, whatever their classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..metric.results import Rate, Results
from .matching import RECALL_IOUS, rank_pairs, take_free
from .outcomes import SelectedBoxes, as_rows, in_total, ratio, ratios
from .overlap import Overlaps, Pairs

BUDGETS = ("unknown", "all", "called unknown")


class BudgetRecall:
    """AR@k of unknown objects for some k; see `found_within`."""

    def __init__(self, boxes: SelectedBoxes, overlaps: Overlaps, sizes: Sequence[int], budget: str) -> None:
        self._counts = boxes.counts
        self._matched = found_within(boxes, overlaps, sizes, budget)
        objects = boxes.object_image[(boxes.object_label == boxes.unknown_id) & ~boxes.ignored]
        self._total = len(RECALL_IOUS) * np.bincount(objects, minlength=len(boxes.num_predictions))

    def rates(self, counts: np.ndarray) -> Results:
        """The mean recall over ten IoU thresholds; NaN without unknown objects."""
        total = int(counts @ self._total)
        return {name: Rate(ratio(number, total), True) for name, number in in_total(self._matched, counts).items()}

    def table_by_image(self) -> dict[str, list[Any]]:
        """AR@k of each image; NaN for one without unknown objects."""
        rows, total = as_rows(self._matched, self._counts), np.repeat(self._total, self._counts)
        return {name: ratios(column, total) for name, column in rows.items()}


def found_within(boxes: SelectedBoxes, overlaps: Overlaps, sizes: Sequence[int], budget: str) -> dict[str, np.ndarray]:
    """Count, in each image, unknown objects that the k most confident predictions find, over ten IoU thresholds.

    The predictions of an image are ranked by confidence; equal ones by coordinates. At each IoU of 0.5, 0.55, …, 0.95,
    one after the other takes the free unknown object that it overlaps most. With budget="unknown", predictions on known
    objects are left out first: at an IoU of 0.5, a prediction that overlaps no free unknown object takes the free known
    object that it overlaps most, or lies on an ignored object. With budget="called unknown", only the predictions
    called unknown are ranked.

    Parameters: overlaps from an IoU of at most 0.5 on; sizes, each k.
    Returns "AR@k": (N,) counts, for each k; AR@k is their sum over 10 · total_unknown.
    Sources: Kim et al., Learning Open-World Object Proposals without Learning to Classify, RA-L 2022 (OLN; its code
    lets a prediction that it leaves out at 0.5 take an unknown object at a higher IoU); Wang et al., Unidentified Video
    Objects, ICCV 2021, for budget="all".
    """
    confidence, label = boxes.confidence, boxes.label
    ranked = np.lexsort((-confidence, boxes.image))
    columns = confidence[ranked], boxes.image[ranked]
    if np.logical_and(*(column[1:] == column[:-1] for column in columns)).any():
        ranked = np.lexsort((label, *boxes.predictions[:, 3::-1].T, -confidence, boxes.image))
    rank = np.empty(len(ranked), dtype=np.int64)
    rank[ranked] = np.arange(len(ranked))
    is_unknown = boxes.object_label == boxes.unknown_id
    in_budget = np.ones(len(ranked), dtype=bool)
    if budget == "called unknown":
        in_budget &= label == boxes.unknown_id
    if budget == "unknown":
        in_budget &= ~_on_known(boxes, overlaps, rank, is_unknown)
    overlaps = overlaps.take((is_unknown & ~boxes.ignored)[overlaps.pairs.columns] & in_budget[overlaps.pairs.rows])
    before = np.concatenate([[0], np.cumsum(in_budget[ranked])])  # kept predictions that are ranked before each
    first = np.cumsum(boxes.num_predictions) - boxes.num_predictions
    place = before[rank] - before[first[boxes.image]]  # among the predictions of its image

    pairs = overlaps.ranked()
    reached = [pairs.take(overlaps.compared(iou)[0] >= 0) for iou in RECALL_IOUS]
    rows = np.concatenate([_taking(boxes, some, [-some.ranks, rank[some.rows]]).rows for some in reached])
    size = len(boxes.num_predictions)
    return {f"AR@{k}": np.bincount(boxes.image[rows[place[rows] < k]], minlength=size) for k in sizes}


def _on_known(boxes: SelectedBoxes, overlaps: Overlaps, rank: np.ndarray, is_unknown: np.ndarray) -> np.ndarray:
    """Flag the predictions that take a known object at an IoU of 0.5, or take none and lie on an ignored one."""
    pairs = overlaps.reaching(RECALL_IOUS[0])
    to_ignored = boxes.ignored[pairs.columns]
    counted = pairs.take(~to_ignored)
    taking = _taking(boxes, counted, [-counted.ranks, ~is_unknown[counted.columns], rank[counted.rows]])
    leaves = np.zeros(len(boxes.predictions), dtype=bool)
    leaves[pairs.rows[to_ignored]] = True
    leaves[taking.rows] = ~is_unknown[taking.columns]
    return leaves


def _taking(boxes: SelectedBoxes, pairs: Pairs, keys: list[np.ndarray]) -> Pairs:
    """Match pairs one after the other, in the order of the keys; the last key counts first."""
    return take_free(pairs.take(rank_pairs(pairs, boxes.tables, keys)), boxes.tables)
