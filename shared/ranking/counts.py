"""Exceedance counts: for each distinct score of the positives, the samples of both sides that reach it.

Positives are the samples to be detected (unknown, OOD, anomalous) and score higher. For every distinct positive
score t, two counts are taken: the negatives above t, and those at or above t. ROC and precision-recall curves follow
from them, since between two positive scores a curve only moves along the axis of the negatives. The full curve over all
negatives is never built; both sides are sorted separately, which is faster than sorting scores with labels.

The counts come in runs of thresholds that fit the cache, from the highest on, so they take little memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import NUMPY, Array, array_namespace, device_of, on_one_device, to_numpy, widen
from ..arrays.checks import as_scores, by_keyword, check_no_nan
from ..arrays.sorting import first_of_each, indices, sorted_by_kind, sorted_copy, sorted_with
from ..arrays.threads import worth_compiling
from ..metric.prepared import MissingClassError

_RUN = 1 << 16  # rows of both sides: a few arrays of 256 KiB
_DEVICE_RUN = 1 << 24
_MARKS = 16  # scores of a run that are looked at for a cut after it
_SKIPPED = 2  # negatives for each positive, from which steps over them alone are rarely mispredicted
_ROOM = 5 << 14  # groups of equal scores in a run, at most: a group of more rows than a run is one of its own
_COLUMNS = tuple(np.uint64(i * _ROOM) for i in range(8))
_APART = 1 << 16  # samples from which kinds are not taken apart before they are sorted

Cut = tuple[int, int]  # rows of positives and of negatives, whose scores are below those of all others


class Counts(NamedTuple):
    """Counts at distinct scores of the positives, in descending order of the scores: at all of them, or at a run."""

    thresholds: Array  # (T,) distinct positive scores s_1 > … > s_T
    sizes: Array  # (T,) positives with the score s
    tp: Array  # (T,) positives with the score s or a higher one, which are all that exceed the next lower score
    above: Array  # (T,) negatives with a higher score than s
    fp: Array  # (T,) negatives with the score s or a higher one
    num_positives: int  # in all
    num_negatives: int


@dataclass(eq=False)
class Side:
    """The scores of one side, in ascending order, as rows that may stand for several equal samples."""

    scores: Array  # (R,) float32 or float64, ascending
    # (R + 1,) int64, the number of samples before each row, then that of all; the rows then have different scores.
    # None if each row is one sample
    before: Array | None = None
    bits: int | None = None  # the number of significant bits that scores were cut to; None if they were not cut

    @cached_property
    def total(self) -> int:
        """How many samples there are."""
        return self.scores.shape[0] if self.before is None else int(self.before[-1])

    @property
    def sizes(self) -> Array:
        """How many samples each row stands for, (R,) int64."""
        xp = array_namespace(self.scores)
        return xp.ones_like(self.scores, dtype=xp.int64) if self.before is None else xp.diff(self.before)

    def below(self, rows: Any) -> Any:
        """The number of samples in the first `rows` rows: an int, or integers."""
        return rows if self.before is None else self.before[rows]

    def at(self, sample: int) -> float:
        """The score at an index, from 0, in ascending order."""
        if self.before is None:
            return float(self.scores[sample])
        xp = array_namespace(self.before)
        place = xp.asarray([sample], dtype=self.before.dtype, device=device_of(self.before))
        return float(self.scores[int(xp.searchsorted(self.before, place, side="right")[0]) - 1])

    def below_score(self, score: float) -> int:
        """How many samples score lower."""
        xp = array_namespace(self.scores)
        rounded = xp.asarray([score], dtype=self.scores.dtype, device=device_of(self.scores))
        # rounded down to a float32, it is lower than the score itself
        rows = int(xp.searchsorted(self.scores, rounded, side="left" if float(rounded[0]) >= score else "right")[0])
        return rows if self.before is None else int(self.before[rows])

    def on_cpu(self) -> Side:
        """The same with NumPy arrays."""
        return Side(to_numpy(self.scores), None if self.before is None else to_numpy(self.before), self.bits)

    def repeated(self) -> Array:
        """The score of each sample, in ascending order."""
        return self.scores if self.before is None else array_namespace(self.scores).repeat(self.scores, self.sizes)


def as_side(scores: Array | Side, counts: Array | None = None, *, bits: int | None = None) -> Side:
    """Sort scores, with `counts` of equal samples or one sample each; a side is returned as it is."""
    if isinstance(scores, Side):
        return scores
    if counts is None:
        return Side(ascending(scores), None, bits) if device_of(scores) is None else _on_device(widen(scores), bits)
    xp, (ordered, order) = array_namespace(counts), sorted_with(scores, indices(scores))
    before = xp.cumulative_sum(counts[order], include_initial=True)
    first = xp.nonzero(first_of_each(ordered))[0]
    return Side(ordered[first], xp.concat([before[first], before[-1:]]), bits)


def sides_of_kinds(
    scores: Array, kinds: Array, number: int, counts: Array | None = None, *, bits: int | None = None
) -> list[Side]:
    """The side of each kind of samples, in one type, all sorted at once.

    Parameters: scores (N,) without NaN; kinds (N,) uint8 or booleans, below `number`; counts and bits as of `as_side`.
    """
    xp = array_namespace(scores)
    scores = widen(scores) if counts is None else scores
    if counts is None and xp is NUMPY and len(scores) >= _APART and not _in_order(scores):
        return [Side(ordered, None, bits) for ordered in sorted_by_kind(scores, kinds, number)]
    kinds = kinds.view(xp.uint8)  # booleans would be widened for each comparison
    if counts is not None or xp is NUMPY:
        chosen = [kinds == kind for kind in range(number)]
        return [as_side(scores[here], None if counts is None else counts[here], bits=bits) for here in chosen]
    sides = [_on_device(scores[kinds == kind], bits) for kind in range(number - 1)]
    last, others = kinds == number - 1, sum(side.total for side in sides)
    if 2 * others > len(scores):
        return [*sides, _on_device(scores[last], bits)]
    # making few others infinite takes less time than taking many scores out
    return [*sides, _on_device(xp.where(last, scores, math.inf), bits, others)]


def _on_device(scores: Array, bits: int | None, excess: int = 0) -> Side:
    """The side of float32 or float64 scores on a device; `excess` scores of inf are no samples.

    Sorting and counting equal scores takes less time there than torch.sort, which orders indices too.
    """
    ordered, counts = scores.unique(return_counts=True)
    xp, before = array_namespace(counts), counts.new_empty(len(counts) + 1)
    before[:1] = 0
    if excess:
        counts[-1] -= excess
    xp.cumsum(counts, 0, out=before[1:])  # into its place: joining it with a 0 takes longer than the sum itself
    rows = len(counts) - (excess > 0 and int(counts[-1]) == 0)
    side = Side(ordered[:rows], before[: rows + 1], bits)
    side.total = scores.shape[0] - excess  # for which a device need not be waited for
    return side


@by_keyword
def exceedance_counts(*, positives: Any, negatives: Any) -> Counts:
    """Count, for every distinct positive score, the positives and the negatives that reach or exceed it.

    Parameters: positives (P,) and negatives (N,), real scores, higher is more positive, no NaN.
    Returns `Counts`, at all thresholds. Raises ValueError if either side is empty, or for NaN.

    >>> counts = exceedance_counts(positives=[0.9, 0.4, 0.4], negatives=[0.4, 0.1])
    >>> counts.thresholds.tolist(), counts.tp.tolist(), counts.above.tolist(), counts.fp.tolist()
    ([0.9, 0.4], [1, 3], [0, 0], [0, 1])
    """
    sides = checked_sides(positives=positives, negatives=negatives)
    counts: Any = _searched(sides, (0, 0), (sides[0].scores.shape[0], sides[1].scores.shape[0]), 0)
    return counts


def checked_sides(**sides: Any) -> tuple[Side, Side]:
    """Check the scores of two sides by their names, and sort them. Raises ValueError for NaN and an empty side."""
    positives, negatives = two_sides(**sides)
    check_both_classes(positives.total, negatives.total)
    return positives, negatives


def two_sides(**sides: Any) -> tuple[Side, Side]:
    """As `checked_sides`, but sides may be empty, and a `Side` with counted rows is used as it is."""
    columns = [side if isinstance(side, Side) else as_scores(side, name) for name, side in sides.items()]
    if not any(isinstance(column, Side) for column in columns):
        columns = on_one_device(*columns)
    return sort_sides(*columns)


def check_both_classes(
    num_positives: int, num_negatives: int, defined: Mapping[str, float] = MappingProxyType({})
) -> None:
    """Raise ValueError unless there are samples on both sides; `defined` are results that need no second one."""
    if not num_positives or not num_negatives:
        raise MissingClassError(
            f"references: expected samples of both classes, got {num_positives} unknown (OOD, anomalous) "
            f"and {num_negatives} known (in-distribution, normal)",
            defined,
        )


def ascending(scores: Array) -> Array:
    """Return scores in ascending order, as float32 or float64; without a copy if many are in order already."""
    return _sorted(widen(scores))  # NumPy 2.4 sorts large float16 arrays wrongly on some processors


def _sorted(scores: Array) -> Array:
    if isinstance(scores, np.ndarray):
        if len(scores) < _APART:
            return np.sort(scores)
        return scores if _in_order(scores) else sorted_copy(scores)
    return scores if _in_order(scores) else array_namespace(scores).sort(scores)


def _in_order(scores: Array) -> bool:
    xp, first = array_namespace(scores), scores[:1000]
    return bool(xp.all(first[1:] >= first[:-1])) and bool(xp.all(scores[1:] >= scores[:-1]))


def sort_sides(positives: Array | Side, negatives: Array | Side) -> tuple[Side, Side]:
    """Return both sides sorted, in one type. Raises ValueError for NaN."""
    sides = []
    for column, name in ((positives, "positives"), (negatives, "negatives")):
        side = as_side(column)
        scores = side.scores
        # NaN is sorted to an end, where one look finds it
        if any(map(math.isnan, scores[:: max(1, scores.shape[0] - 1)].tolist())):
            check_no_nan(scores if isinstance(column, Side) else column, name)  # which says where it came
        sides.append(side)
    first, second = sides
    if first.scores.dtype == second.scores.dtype:
        return first, second
    xp = array_namespace(first.scores, second.scores)
    dtype = xp.result_type(first.scores, second.scores)
    first, second = (replace(side, scores=xp.astype(side.scores, dtype, copy=False)) for side in sides)
    return first, second


def runs(positives: Side, negatives: Side) -> Iterator[Counts]:
    """Count as `exceedance_counts` does, in runs of thresholds from the highest on.

    Parameters: the two sides, in one type and without NaN.
    """
    for counts, _ in runs_of_both(positives, negatives, cuts_of(positives, negatives), (True, False)):
        if counts is not None:
            yield counts


def cuts_of(positives: Side, negatives: Side) -> list[Cut]:
    """Cut two sides into blocks that fit a cache, ascending; equal scores stay together."""
    sides = positives.scores, negatives.scores
    xp, ends = array_namespace(*sides), [(0, 0), (sides[0].shape[0], sides[1].shape[0])]
    length = _RUN if xp is NUMPY else _DEVICE_RUN
    if sum(ends[1]) <= length:
        return ends
    spacing = max(1, length // _MARKS)
    marks = xp.sort(xp.concat([side[::spacing] for side in sides]))[:: length // spacing]
    below, upto = (
        np.stack([to_numpy(xp.searchsorted(side, marks, side=where)) for side in sides]) for where in ("left", "right")
    )
    large = (upto - below).sum(axis=0) > length  # a group that is a block of its own
    return sorted({*ends, *zip(*below.tolist()), *zip(*upto[:, large].tolist())})


def runs_of_both(
    positives: Side, negatives: Side, cuts: Sequence[Cut], wanted: tuple[bool, bool] = (True, True)
) -> Iterator[tuple[Counts | None, Counts | None]]:
    """Count as `runs` does, and in the same pass for negatives as positives, with negated scores.

    Returns the counts of both for each block between two cuts, from that of the highest scores on, so that the last run
    of negatives comes first; None where there are none, or none are wanted.
    """
    sides = positives, negatives
    scores, others = positives.scores, negatives.scores
    blocks = [(low, high) for low, high in pairwise(cuts) if wanted[1] or low[0] < high[0]][::-1]
    loop = worth_compiling(merge, scores.shape[0] + others.shape[0], scores, others)
    if loop is None:
        for low, high in blocks:
            first, second = (_searched(sides, low, high, i) if each else None for i, each in enumerate(wanted))
            yield first, second
        return
    skips = None if wanted[1] else others.shape[0] > _SKIPPED * scores.shape[0]
    columns, thresholds = np.empty((2, 4, _ROOM), np.int64), np.empty((2, _ROOM), scores.dtype)
    for low, high in blocks:
        options, flat = (scores.dtype.type(math.nan), skips), (columns.reshape(-1), thresholds.reshape(-1))
        number, place = map(int, loop(scores, others, np.asarray((low, high), np.uint64), *options, *flat))
        first = second = None
        if wanted[0] and number:
            first = _merged(positives, negatives, thresholds[0, :number].copy(), columns[0, :, :number].copy(), 0)
        if wanted[1] and place < _ROOM:
            second = _merged(negatives, positives, thresholds[1, place:].copy(), columns[1, :, place:].copy(), 1)
        yield first, second


def _merged(side: Side, others: Side, thresholds: np.ndarray, columns: np.ndarray, which: int) -> Counts:
    """Turn counts of rows into counts of samples; which: 0 of positives, from the highest on, 1 of negatives."""
    sizes, tp, above, fp = columns
    if side.before is not None:
        before, tp = _samples(side, tp - sizes, which), _samples(side, tp, which)
        sizes = tp - before
    if others.before is not None:
        above, fp = _samples(others, above, which), _samples(others, fp, which)
    return Counts(thresholds, sizes, tp, above, fp, side.total, others.total)


def _samples(side: Side, rows: np.ndarray, which: int) -> np.ndarray:
    """The samples of numbers of rows, the lowest ones or, of positives, the highest."""
    before: Any = side.before
    return before[rows] if which else before[-1] - before[len(side.scores) - rows]


def _searched(sides: tuple[Side, Side], low: Cut, high: Cut, which: int) -> Counts | None:
    """The counts of one side of a block, from searches for its scores in the other side's."""
    scores, (start, stop), (begin, end) = sides[which].scores, *((low[i], high[i]) for i in (which, 1 - which))
    if start == stop:
        return None
    xp = array_namespace(scores)
    first = xp.nonzero(first_of_each(scores[start:stop]))[0] + start
    after = xp.concat([first[1:], xp.full_like(first[:1], stop)])
    if not which:
        first, after = xp.flip(first), xp.flip(after)
    theirs, thresholds = sides[1 - which].scores[begin:end], scores[first]
    below, upto = (xp.searchsorted(theirs, thresholds, side=where) + begin for where in ("left", "right"))
    side, others = sides[which], sides[1 - which]
    if side.before is not None:  # from rows to samples
        first, after = side.before[first], side.before[after]
    if others.before is not None:
        below, upto = others.before[below], others.before[upto]
    totals = side.total, others.total
    if which:
        return Counts(-thresholds, after - first, after, below, upto, *totals)
    return Counts(thresholds, after - first, totals[0] - first, totals[1] - upto, totals[1] - below, *totals)


def merge(positives: Any, negatives: Any, block: Any, unlike: Any, skips: Any, columns: Any, thresholds: Any) -> Any:
    """Merge a block of two ascending sides from the highest score down, in steps without a branch to be mispredicted.

    Parameters: block, the lowest row of both, and the one after the highest; unlike, NaN, which equals no score; skips,
    None for the counts of both, else whether many negatives between two positives are skipped, for those of positives
    alone. None and booleans are two types, for each of which numba compiles a loop: in that of booleans, `skips is
    None` is false by its type, and what counts negatives is not there.
    For each group of equal scores with positives, sizes, tp, above and fp of `Counts`, in rows, are written into four
    columns of `_ROOM`, from the start on, and for each group with negatives, whose counts have negated scores, into
    four more, from the end on; likewise the thresholds of both. Returns the number of the former and the first place of
    the latter.
    """
    zero, one, eight = np.uint64(0), np.uint64(1), np.uint64(8)
    num_positives, num_negatives = np.uint64(positives.size), np.uint64(negatives.size)
    (lowest, other_lowest), (i, j) = block
    start, other_start, last = i, j, unlike  # of the group
    place, other_place = zero, np.uint64(_ROOM - 1)
    for rest in range(2):  # of one side, where the other has ended
        while (i > lowest and j > other_lowest) or (rest and (i > lowest or j > other_lowest)):
            if rest:
                is_other = np.uint64(i == lowest)
                score = negatives[j - one] if i == lowest else positives[i - one]
                if skips is not None and i == lowest and score != last:
                    break
            else:
                score = positives[i - one]
                if skips is not None and skips and negatives[j - one] != last:
                    while j > other_lowest + eight and negatives[j - eight] > score:
                        j -= eight
                    while j > other_lowest and negatives[j - one] > score:
                        j -= one
                if j == other_lowest:
                    continue
                other = negatives[j - one]
                is_other = np.uint64(score < other)
                score = max(score, other)
            is_new = np.uint64(score != last)
            place += is_new & np.uint64(start > i)  # if the last group had positives
            other_place -= is_new & np.uint64(other_start > j)
            start = i if is_new else start
            other_start = j if is_new else other_start
            last, i, j = score, i - (one - is_other), j - is_other
            # columns at constant distances, so that no registers are needed for their addresses
            columns[place], columns[place + _COLUMNS[1]] = start - i, num_positives - i
            columns[place + _COLUMNS[2]] = num_negatives - other_start
            columns[place + _COLUMNS[3]] = num_negatives - j
            thresholds[place] = score
            if skips is None:
                columns[other_place + _COLUMNS[4]], columns[other_place + _COLUMNS[5]] = other_start - j, other_start
                columns[other_place + _COLUMNS[6]], columns[other_place + _COLUMNS[7]] = i, start
                thresholds[other_place + _COLUMNS[1]] = -score
    return place + np.uint64(start > i), other_place + np.uint64(other_start == j)


def exceeded_threshold(score: float | None, sides: Sequence[Side]) -> float:
    """The threshold t that exactly the samples of this score and of higher ones exceed.

    It is the next lower score of all sides, or −inf below all, so it decides alike in every precision. It is inf for
    None, which detects nothing, and NaN for a score of −inf, which exceeds no t.
    """
    if score is None:
        return math.inf
    if score == -math.inf:
        return math.nan
    lower = [-math.inf]
    for side in sides:
        scores = side.scores
        xp = array_namespace(scores)
        at = xp.asarray([score], dtype=scores.dtype, device=device_of(scores))  # a score of either: their type holds it
        lower += scores[: int(xp.searchsorted(scores, at, side="left")[0])][-1:].tolist()
    return max(lower) + 0.0  # 0.0 for −0.0
