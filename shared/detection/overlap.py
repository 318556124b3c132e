"""Pairs of boxes by their IoU: listed image by image, compared with thresholds and ranked, exactly.

The IoU of each pair is computed in float64, with a known bound on its error. Only pairs within this bound of a
threshold, or of another pair of their image, are compared in fractions of the numbers of the input, and so are boxes
too small for float64, such as one of width 1 at 1e16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays.checks import check_lengths
from ..arrays.exact import as_written
from ..arrays.sorting import sorted_copy
from ..arrays.threads import in_threads, runs_of_work, threads_for, worth_compiling
from .boxes import Corners, box_rows, exact_ious

_PAIRS = 1 << 17  # pairs of boxes compared at a time, so that all arrays fit the cache
_PAIR_WORK = 16  # comparing a pair of boxes takes about as long as so many scores
_ROUNDING = 2.0**-46  # above the error of an IoU of exact corners, with some 16 rounded sums and products
_LOST = 2.0**-30  # a box with sides of a larger relative error is left to fractions
_LOW = 2.0**-20  # as all overlapping boxes are below this threshold


Two = tuple[np.ndarray, np.ndarray]  # arrays of the predictions and of the objects


class Pairs(NamedTuple):
    """Pairs of a prediction and an object of its image."""

    rows: np.ndarray  # with columns: of the two tables
    columns: np.ndarray
    ious: np.ndarray  # in float64
    # the order of the pairs of an image by their IoU, equal for equal ones; after `Overlaps.reaching` by their exact
    # IoU, and then meaningless for a pair that shares neither of its boxes with another
    ranks: np.ndarray

    def take(self, which: np.ndarray) -> Pairs:
        """Some of the pairs, by a mask or by their places; no copy where the mask keeps all."""
        if which.dtype == bool:
            if which.all():
                return self
            which = np.flatnonzero(which)  # by which each column is taken in a third of the time
        return Pairs(self.rows[which], self.columns[which], self.ious[which], self.ranks[which])


def box_iou(boxes: Any, others: Any) -> np.ndarray:
    """Intersection over union of each pair of rows of two (N, 4) arrays of xyxy boxes; 0 where both have no area.

    IoU = |A ∩ B| / |A ∪ B|, in [0, 1]. One row is paired with each row of the other array.
    Raises ValueError for other shapes, numbers that are not finite, and boxes without x1 ≤ x2 and y1 ≤ y2.
    Source: Everingham et al., The Pascal VOC Challenge, IJCV 2010.

    >>> box_iou([[0, 0, 2, 2]], [[0, 0, 2, 1]]).tolist()
    [0.5]
    """
    tables = {"boxes": box_rows(boxes, "boxes", 4), "others": box_rows(others, "others", 4)}
    for name, table in tables.items():
        wrong = ~(np.isfinite(table).all(axis=1) & (table[:, :2] <= table[:, 2:]).all(axis=1))
        if wrong.any():
            expected = "finite corners with x1 ≤ x2 and y1 ≤ y2"
            raise ValueError(f"{name}: expected {expected}, got {table[wrong][0].tolist()} in row {np.argmax(wrong)}")
    if 1 not in map(len, tables.values()):
        check_lengths(**tables)
    return ious_of_rows(*tables.values())


def ious_of_rows(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """As `box_iou`, of checked boxes."""
    x1, y1, x2, y2 = np.ascontiguousarray(boxes.T, dtype=np.float64)
    u1, v1, u2, v2 = np.ascontiguousarray(others.T, dtype=np.float64)
    width = np.minimum(x2, u2) - np.maximum(x1, u1)
    height = np.minimum(y2, v2) - np.maximum(y1, v1)
    intersection = np.maximum(width, 0) * np.maximum(height, 0)
    union = (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - intersection
    return np.divide(intersection, union, out=np.zeros_like(union), where=union > 0)


def listed_pairs(tables: Two, numbers: Two, threshold: float) -> Pairs:
    """List all pairs of a prediction and an object of one image with an IoU in float64 at a threshold > 0 or above."""
    number = numbers[0] * numbers[1]  # of pairs in each image
    work = _PAIR_WORK * int(number.sum())
    loop = worth_compiling(pairs_above, work, *tables)
    if loop is None:
        counts, starts = objects_of_rows(*numbers)
        listed = []
        for start, stop in pairwise(cuts_of_pairs(counts)):
            rows, columns = all_pairs(np.arange(start, stop), counts[start:stop], starts[start:stop])
            listed.append(_pairs_reaching(*tables, rows, columns, threshold))
    else:
        threads = threads_for(work)
        pieces = [
            partial(_pairs_by_loop, loop, tables, numbers, threshold, part) for part in runs_of_work(number, threads)
        ]
        listed = in_threads(pieces, threads)
    return listed[0] if len(listed) == 1 else Pairs(*map(np.concatenate, zip(*listed)))


def _pairs_by_loop(loop: Callable[..., int], tables: Two, numbers: Two, threshold: float, part: slice) -> Pairs:
    """The pairs of a run of images."""
    numbers_of_run = [each[part] for each in numbers]
    starts = [int(each[: part.start].sum()) for each in numbers]
    boxes, others = (
        tuple(np.ascontiguousarray(table[start : start + int(n.sum()), :4].T))
        for table, start, n in zip(tables, starts, numbers_of_run)
    )
    length = 2 * len(boxes[0])
    while True:  # once, unless most predictions overlap several objects
        rows, columns, ious = np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length)
        size = loop(boxes, others, *numbers_of_run, threshold, rows, columns, ious)
        if size <= length:
            return Pairs(rows[:size] + starts[0], columns[:size] + starts[1], ious[:size], ious[:size])
        length = size


def pairs_above(
    boxes: Any, others: Any, num_boxes: Any, num_others: Any, threshold: float, rows: Any, columns: Any, ious: Any
) -> int:
    """List the pairs of a prediction and an object of one image with an IoU that reaches the threshold.

    Parameters: boxes and others, x1, y1, x2, y2 of each as four arrays.
    Returns the number of pairs; those beyond the length of `rows` are not listed. IoU as in `box_iou`, operation by
    operation; the division is skipped where the product decides. For each prediction, a first pass over the objects of
    its image only counts those that may reach the threshold: without a branch, it compares several at a time.
    """
    size = box = start = 0
    clear = 0.999 * threshold
    left, top, right, bottom = others
    area_of = (right - left) * (bottom - top)
    for image in range(len(num_boxes)):
        number = num_others[image]
        part = slice(start, start + number)
        u1, v1, u2, v2, areas = left[part], top[part], right[part], bottom[part], area_of[part]
        for i in range(box, box + num_boxes[image]):
            x1, y1, x2, y2 = boxes[0][i], boxes[1][i], boxes[2][i], boxes[3][i]
            area = (x2 - x1) * (y2 - y1)
            near = 0
            for listing in range(2):
                for j in range(number):
                    width = max(min(x2, u2[j]) - max(x1, u1[j]), 0.0)
                    height = max(min(y2, v2[j]) - max(y1, v1[j]), 0.0)
                    intersection = width * height
                    union = area + areas[j] - intersection
                    if not listing:
                        near += intersection >= clear * union
                    elif intersection >= clear * union and union > 0:
                        iou = intersection / union
                        if iou >= threshold:
                            if size < len(rows):
                                rows[size], columns[size], ious[size] = i, start + j, iou
                            size += 1
                if not near:
                    break
        box += num_boxes[image]
        start += number
    return size


def cuts_of_pairs(counts: np.ndarray) -> list[int]:
    """Cut prediction rows into runs of about `_PAIRS` pairs."""
    chunk = np.cumsum(counts) // _PAIRS
    return [0, *(np.flatnonzero(chunk[1:] != chunk[:-1]) + 1).tolist(), len(counts)]


def _pairs_reaching(
    predictions: np.ndarray, references: np.ndarray, rows: np.ndarray, columns: np.ndarray, threshold: float
) -> Pairs:
    """The pairs of some rows and columns with an IoU that reaches the threshold."""
    for low, high in ((0, 2), (1, 3)):  # boxes that overlap do so on either axis
        start = np.maximum(predictions[:, low][rows], references[:, low][columns])
        stop = np.minimum(predictions[:, high][rows], references[:, high][columns])
        overlap = np.flatnonzero(start < stop)
        rows, columns = rows[overlap], columns[overlap]
    ious = ious_of_rows(predictions[rows, :4], references[columns, :4])
    return Pairs(rows, columns, ious, ious).take(ious >= threshold)


def objects_of_rows(num_predictions: np.ndarray, num_references: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of objects in each prediction's image, and the row of the first."""
    starts = np.cumsum(num_references) - num_references
    return np.repeat(num_references, num_predictions), np.repeat(starts, num_predictions)


def all_pairs(rows: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each row with its `counts` columns from `starts` on."""
    before = np.cumsum(counts) - counts
    return np.repeat(rows, counts), np.arange(int(counts.sum())) - np.repeat(before - starts, counts)


class Overlaps(NamedTuple):
    """Pairs of boxes that may reach a lowest IoU, from which any higher one is decided exactly."""

    pairs: Pairs  # with their IoU in float64
    ends: np.ndarray  # (N,) the row after the predictions of each image
    error: float  # a bound on the error of their IoUs
    corners: tuple[Corners, Corners]  # those of predictions and of objects, exactly

    def compared(self, threshold: Fraction | float) -> tuple[np.ndarray, np.ndarray]:
        """Compare the IoU of each pair with a threshold, exactly; the threshold is a decimal as it is written.

        Returns two arrays (P,): the sign of IoU − threshold, and the IoU, correctly rounded where it is close to it.
        """
        ious, over = self.pairs.ious, self.pairs.ious - float(threshold)
        signs, near = np.sign(over).astype(np.int8), np.abs(over) <= self.error
        if not near.any():
            return signs, ious
        ious = ious.copy()
        exact, place = exact_ious(*self.corners, self.pairs.rows[near], self.pairs.columns[near])
        bound = as_written(threshold)
        sides = [(iou > bound) - (iou < bound) for iou in exact]
        signs[near] = np.asarray(sides, dtype=np.int8)[place]
        ious[near] = np.asarray([float(iou) for iou in exact])[place]
        return signs, ious

    def take(self, which: np.ndarray) -> Overlaps:
        """Some of the pairs, by a mask or by their places."""
        return self._replace(pairs=self.pairs.take(which))

    def reaching(self, threshold: Fraction | float) -> Pairs:
        """The pairs with an IoU of at least the threshold, ranked."""
        some = self.take(self.pairs.ious >= float(threshold) - 2 * self.error)
        signs, ious = some.compared(threshold)
        return some._replace(pairs=some.pairs._replace(ious=ious)).take(signs >= 0).ranked()

    def ranked(self) -> Pairs:
        """The pairs, ranked by their exact IoU."""
        return self.pairs._replace(ranks=_exact_ranks(self.pairs, self.ends, self.error, *self.corners))


def overlaps(tables: Two, numbers: Two, lowest: float, corners: tuple[Corners, Corners] | None = None) -> Overlaps:
    """List all pairs of a prediction and an object of one image that may reach the lowest of some IoUs > 0.

    Parameters: tables, predictions (n, ≥ 4) and references (m, ≥ 4), xyxy; numbers of each image's rows in both;
    corners of both, where the tables are rounded.
    """
    if corners is None:
        ours, theirs = (Corners(table[:, :4], np.zeros((len(table), 4)), 0) for table in tables)
        corners = ours, theirs
    off, lost = 0.0, []
    for boxes in corners:
        doubt = boxes.doubt() if lowest >= _LOW else np.full(len(boxes.rounded), np.inf)
        lost.append(doubt > _LOST)
        off += float(doubt.max(initial=0, where=~lost[-1]))
    error = _ROUNDING + 4 * off  # |IoU in float64 − IoU|: that of its sums, and four times that of its sides
    pairs = listed_pairs(tables, numbers, max(lowest, _LOW) - error)
    if lost[0].any() or lost[1].any():
        lost = [np.broadcast_to(boxes, len(table)) for boxes, table in zip(lost, tables)]
        pairs = pairs.take(~(lost[0][pairs.rows] | lost[1][pairs.columns]))
        rows, columns = _pairs_of_lost(tables, lost, *objects_of_rows(*numbers))
        exact, place = exact_ious(*corners, rows, columns)
        ious = np.asarray([float(iou) for iou in exact])[place]
        pairs = Pairs(*map(np.append, pairs, (rows, columns, ious, ious)))
    return Overlaps(pairs, np.cumsum(numbers[0]), error, corners)


def _pairs_of_lost(
    tables: Sequence[np.ndarray], lost: Sequence[np.ndarray], counts: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """List all pairs with a lost box that may overlap."""
    before = np.concatenate([[0], np.cumsum(lost[1])])
    some = np.flatnonzero(lost[0] | (before[starts + counts] > before[starts]))  # or with a lost object in their image
    parts = []
    for part in np.split(some, cuts_of_pairs(counts[some])[1:-1]):
        rows, columns = all_pairs(part, counts[part], starts[part])
        with_lost = lost[0][rows] | lost[1][columns]
        rows, columns = rows[with_lost], columns[with_lost]
        for near, far in ((0, 2), (1, 3)):
            start = np.maximum(tables[0][rows, near], tables[1][columns, near])
            stop = np.minimum(tables[0][rows, far], tables[1][columns, far])
            overlap = start <= stop + 2 * np.spacing(np.abs(stop))  # neither is off by as much as one unit
            rows, columns = rows[overlap], columns[overlap]
        parts.append((rows, columns))
    rows, columns = (np.concatenate(column) for column in zip(*parts))
    return rows, columns


def _exact_ranks(pairs: Pairs, ends: np.ndarray, error: float, ours: Corners, theirs: Corners) -> np.ndarray:
    """Rank the pairs of each image by their exact IoU; `error` bounds the error of each IoU in float64."""
    alone = (np.bincount(pairs.rows)[pairs.rows] == 1) & (np.bincount(pairs.columns)[pairs.columns] == 1)
    order = np.flatnonzero(~alone)
    if len(order) < 2 or not (np.diff(sorted_copy(pairs.ious[order])) <= 2 * error).any():
        return pairs.ious
    order = order[np.argsort(pairs.ious[order])]
    close = np.diff(pairs.ious[order]) <= 2 * error
    ranks = np.zeros(len(pairs.rows), np.int64)
    ranks[order] = np.arange(len(order))
    some = order[_of_either(close)]
    image = np.searchsorted(ends, pairs.rows[some], side="right")
    order = np.lexsort((ranks[some], image))
    some, image = some[order], image[order]
    close = (np.diff(pairs.ious[some]) <= 2 * error) & (np.diff(image) == 0)
    if not close.any():
        return pairs.ious
    run, some = np.insert(np.cumsum(~close), 0, 0)[_of_either(close)], some[_of_either(close)]
    exact, place = exact_ious(ours, theirs, pairs.rows[some], pairs.columns[some])
    number = {iou: i for i, iou in enumerate(sorted(set(exact)))}
    numbers = np.asarray([number[iou] for iou in exact])[place]
    # the ranks of each run of doubtful pairs are dealt out again by their exact IoUs, of equal ones the first to all
    ascending = np.lexsort((numbers, run))
    run, numbers = run[ascending], numbers[ascending]
    first = np.insert((np.diff(run) > 0) | (np.diff(numbers) > 0), 0, True)
    ranks[some[ascending]] = ranks[some[first]][np.cumsum(first) - 1]
    return ranks


def _of_either(between: np.ndarray) -> np.ndarray:
    """Which entries have a flag between them and one of their neighbours."""
    return np.append(between, False) | np.insert(between, 0, False)
