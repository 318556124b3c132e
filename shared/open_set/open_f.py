"""Open-set F-scores at every distinct score, or at a list of thresholds.

A sample is accepted as known when its score is at most the threshold t, and rejected as unknown when it is greater.
As t rises, each sample enters once and changes the counts of one class only, so one sort and one sweep give F after
each sample (see sweep.py). The same sweep serves any list of thresholds. F-scores are compared approximately, rounded
as results, and compared as fractions where rounding hides which is greater.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, concatenate, distinct_values, on_device, to_numpy
from ..arrays.checks import (
    as_choice,
    as_int,
    as_labels,
    as_scores,
    check_class_ids,
    check_not_negative,
    counted_columns,
)
from ..arrays.exact import ratio_of, sum_and_rest
from ..arrays.sorting import indices, sorted_with
from ..arrays.threads import in_threads, parts_of, threads_for
from ..ranking.counts import Side
from ..ranking.roc import MAX_POINTS, table, thinned
from .samples import OpenSetState, check_thresholds
from .sweep import Sweep, check_ids, count_ids, counted_outcomes, macro_sweep, micro_sweep

TwoSums = tuple[Array, Array]  # the two numbers that F is computed from, (N,) each
BestF = tuple[float, float, list[float] | None]  # the best F-score, its threshold, and F at each of a t_list
_AT_A_TIME = 1 << 20  # thresholds, whose F-scores come as Python floats


def macro_open_f(
    predicted: Any, classes: Any, scores: Any, num_classes: int, t_list: Any = None, *, counts: Any = None
) -> BestF:
    """Macro open-set F-score: F of the precision and recall averaged over the known classes.

    F(t) = 2 P(t) R(t) / (P(t) + R(t)),  P(t) = 1/C Σ_c TP_c/(TP_c + FP_c),  R(t) = 1/C Σ_c TP_c/(TP_c + FN_c)

    A known sample counts for its class, an accepted unknown one is a false positive of its predicted class;
    samples are accepted when score ≤ t. 0/0 is 0.

    Parameters: predicted (N,) class ids; classes (N,) true class ids, negative for unknown; scores (N,), higher is more
    unknown; num_classes is C; t_list, thresholds to use instead of every distinct score; counts (N,), how many equal
    samples each entry stands for, by default one.
    Returns (best F in [0, 1], lowest threshold that attains it (of a t_list: the first), F per threshold of t_list).
    Raises ValueError for NaN, lengths that differ, no samples, class ids out of range, and an empty t_list.
    Source: Mendes Júnior et al., Nearest neighbors distance ratio open-set classifier, Machine Learning 2017.

    >>> macro_open_f([0, 1, 1], [0, 1, -1], [0.1, 0.2, 0.9], 2)
    (1.0, 0.2, None)
    """
    num_classes = as_int(num_classes, "num_classes", 1)
    samples = checked_samples(predicted, classes, scores, counts)
    return best_f(*macro_f_after(samples, num_classes), None if t_list is None else check_thresholds(t_list))


class Samples(NamedTuple):
    """Checked samples of `macro_open_f`."""

    predicted: Array
    classes: Array  # negative for an unknown sample
    scores: Array
    counts: Array | None = None

    @classmethod
    def of(cls, state: OpenSetState) -> Samples:
        """The samples of a state."""
        return cls(state["predicted"], state["classes"], state["scores"], state.get("counts"))


def checked_samples(predicted: Any, classes: Any, scores: Any, counts: Any = None) -> Samples:
    """Check samples."""
    columns = {
        "predicted": as_labels(predicted, "predicted"),
        "classes": as_labels(classes, "classes"),
        "scores": as_scores(scores, "scores"),
    }
    return Samples(*counted_columns(counts, **columns))


def macro_f_after(samples: Samples, num_classes: int) -> tuple[Array, MacroF]:
    """Scores in ascending order, and macro F after each."""
    predicted, classes, scores, counts = samples
    xp = array_namespace(predicted)
    predicted, number = xp.astype(predicted, xp.int64, copy=False), num_classes
    if num_classes > predicted.shape[0]:  # counts are kept for classes that occur only
        check_ids(predicted, classes, num_classes)
        known = classes >= 0
        distinct = distinct_values(xp.concat([predicted, xp.astype(classes[known], xp.int64)]))
        predicted, number = xp.searchsorted(distinct, predicted), distinct.shape[0]
        classes = xp.where(known, xp.searchsorted(distinct, xp.astype(classes, xp.int64)), -1)
    outcomes, totals = counted_outcomes(predicted, classes, number, counts)
    ordered, outcomes, sizes = _sorted_rows(scores, outcomes, counts)
    return ordered, MacroF(outcomes, totals, int(xp.count_nonzero(totals)), sizes, num_classes)


def _sorted_rows(scores: Array, outcomes: Array, counts: Array | None) -> tuple[Array, Array, Array | None]:
    """Scores in ascending order with their outcomes and, if any, counts."""
    if counts is None:
        return *sorted_with(scores, outcomes), None
    ordered, order = sorted_with(scores, indices(scores))
    return ordered, outcomes[order], counts[order]


def micro_open_f(predicted: Any, classes: Any, scores: Any, t_list: Any = None, *, counts: Any = None) -> BestF:
    """Micro open-set F-score: F of the precision and recall of the counts pooled over the known classes.

    F(t) = 2 P(t) R(t) / (P(t) + R(t)),  P(t) = Σ_c TP_c / Σ_c (TP_c + FP_c),  R(t) = Σ_c TP_c / Σ_c (TP_c + FN_c)

    which is 2 Σ TP / (accepted + known samples). Parameters, returns and source as of `macro_open_f`, without C.

    >>> micro_open_f([0, 1, 1], [0, 0, -1], [0.1, 0.2, 0.9], [0.5, 1.0])
    (0.5, 0.5, [0.5, 0.4])
    """
    samples = checked_samples(predicted, classes, scores, counts)
    check_not_negative(samples.predicted, "predicted")  # which an unknown sample's class would equal
    return best_f(*micro_f_after(samples), None if t_list is None else check_thresholds(t_list))


def micro_f_after(samples: Samples) -> tuple[Array, MicroF]:
    """Scores in ascending order, and micro F after each."""
    predicted, classes, scores, counts = samples
    xp = array_namespace(classes)
    ordered, correct, sizes = _sorted_rows(scores, predicted == classes, counts)
    known = int(xp.count_nonzero(classes >= 0) if counts is None else xp.sum(counts[classes >= 0]))
    return ordered, MicroF(correct, sizes, known)


def best_f(scores: Array, average: Average, t_list: np.ndarray | None) -> BestF:
    """The first of the greatest F-scores after each sample, in ascending order of the scores."""
    if t_list is not None:
        return _best_of(t_list, scores, average)
    places, sums = _highest(scores, average)
    at = int(np.argmax(_are_greatest(to_numpy(places), sums, average)))
    best = float(average.rounded((sums[0][at : at + 1], sums[1][at : at + 1]))[0])
    return best, float(scores[int(places[at])]) + 0.0, None  # 0.0 for −0.0


def _best_of(thresholds: np.ndarray, scores: Array, average: Average) -> BestF:
    """As `best_f`, of a list of thresholds."""
    xp = array_namespace(scores)
    after = xp.searchsorted(xp.astype(scores, xp.float64), on_device(thresholds, scores), side="right") - 1
    places, row = np.unique(to_numpy(after), return_inverse=True)
    f, values = np.zeros(len(places)), np.zeros(len(places))
    none = int(places[0] < 0)  # below all scores no sample is accepted, and F is 0
    if len(places) > none:
        *sums, value = _at_places(average, on_device(places[none:], scores))
        f[none:], values[none:] = to_numpy(average.rounded((sums[0], sums[1]))), to_numpy(value)
    greatest = values == 0
    if values.max() > 0:
        near = np.flatnonzero(values >= values.max() * (1 - average.rounding))
        which = on_device(near - none, scores)
        greatest[:] = False
        greatest[near] = _are_greatest(places[near], (sums[0][which], sums[1][which]), average)
    best = int(np.argmax(greatest[row]))
    return float(f[row[best]]), float(thresholds[best]), f[row].tolist()


def _are_greatest(places: np.ndarray, sums: TwoSums, average: Average) -> np.ndarray:
    """Flag the candidates with the greatest F, compared exactly, since values are close."""
    if len(places) == 1:
        return np.ones(1, dtype=bool)
    exact = average.exact(places, sums)
    greatest = max(exact)
    return np.asarray([value == greatest for value in exact])


def _highest(scores: Array, average: Average) -> tuple[Array, TwoSums]:
    """Ascending places where F is greatest within `average.rounding`, and the sums that F is computed from there.

    If F is 0 everywhere, the first place is returned. Several threads share a large sweep; each starts from the
    counts before its part.
    """
    number = scores.shape[0]
    threads = threads_for(number) if isinstance(scores, np.ndarray) else 1
    parts = [partial(_high_within, scores, average, part) for part in parts_of(number, threads)]
    places, values, *sums = (concatenate(column) for column in zip(*in_threads(parts, threads)))
    greatest = float(array_namespace(values).max(values))
    high = array_namespace(values).nonzero(values >= greatest * (1 - average.rounding))[0]
    high = high if greatest > 0 else high[:1]
    return places[high], (sums[0][high], sums[1][high])


def _high_within(scores: Array, average: Average, within: slice) -> tuple[Array, Array, Array, Array]:
    """Places, values and sums of candidates for the greatest F within a part; only the last of equal scores is one."""
    xp = array_namespace(scores)
    candidates: list[tuple[Array, Array, Array, Array]] = []
    stop, greatest = within.start, -1.0
    for first, second, values in average.sweep(within):
        start, stop = stop, stop + values.shape[0]
        if candidates and float(xp.max(values)) < greatest * (1 - average.rounding):
            continue  # no candidate, as in most blocks after the greatest
        following = scores[start + 1 : stop + 1]
        equal = scores[start : start + following.shape[0]] == following
        if bool(xp.any(equal)):
            values[: following.shape[0]][equal] = -1.0
        before, greatest = greatest, max(greatest, float(xp.max(values)))
        near = xp.nonzero(values >= greatest * (1 - average.rounding))[0]
        if greatest <= 0:
            near = near[:1] if before < 0 else near[:0]
        candidates.append((near + start, values[near], first[near], second[near]))
    places, values, first, second = (concatenate(column) for column in zip(*candidates))
    high = values >= greatest * (1 - average.rounding)
    return places[high], values[high], first[high], second[high]


def _at_places(average: Average, places: Array) -> Sweep:
    """The sums and values after the samples at some ascending places."""
    parts, start = [], 0
    for swept in average.sweep():
        stop = start + swept.value.shape[0]
        here = places[(places >= start) & (places < stop)] - start
        parts.append([column[here] for column in swept])
        start = stop
    return Sweep(*map(array_namespace(places).concat, zip(*parts)))


class Average(ABC):
    """A score after each sample, in ascending order, that is computed from two sums."""

    rounding: ClassVar[float] = 2.0**-48  # by how much of each a swept value may be off, twice

    @abstractmethod
    def sweep(self, within: slice = slice(None)) -> Iterator[Sweep]:
        """The sums and the score after each sample, block by block."""

    @abstractmethod
    def rounded(self, sums: TwoSums) -> Array:
        """The scores as results."""

    @abstractmethod
    def exact(self, places: np.ndarray, sums: TwoSums) -> list[Fraction]:
        """The scores in fractions, of ascending places."""


@dataclass(eq=False)
class MacroF(Average):
    """F after each sample, of the precision and recall averaged over C classes."""

    outcomes: Array  # the first four as of `macro_sweep`
    totals: Array
    occurring: int
    sizes: Array | None
    num_classes: int  # C

    def sweep(self, within: slice = slice(None)) -> Iterator[Sweep]:
        """Sums over classes of precision and recall after each sample, block by block."""
        return macro_sweep(self.outcomes, self.totals, self.occurring, self.sizes, within)

    def rounded(self, sums: TwoSums) -> Array:
        """F within 3 units in the last place, 2½ of them for the rounded sums."""
        return macro_f(*sums, self.num_classes)

    def exact(self, places: np.ndarray, sums: TwoSums) -> list[Fraction]:
        """P·R/(P + R) in fractions, of ascending places."""
        outcomes = to_numpy(self.outcomes[: int(places[-1]) + 1])
        ids, right = outcomes >> 1, outcomes & 1 == 1
        first_hit = np.full(len(self.totals), len(ids))
        hit = np.flatnonzero(right)[::-1]
        first_hit[ids[hit]] = hit  # of several, the last that is assigned
        # a sample of a class without a hit changes nothing, unless it is one
        changes = np.cumsum(right | (np.arange(len(ids)) > first_hit[ids]))[places]
        _, distinct, place = np.unique(changes, return_index=True, return_inverse=True)
        totals = to_numpy(self.totals)
        values = [exact_macro_f(*counts, totals) for counts in self.counts_of(places[distinct] + 1)]
        return [values[i] for i in place.tolist()]

    def counts_of(self, numbers: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Right and accepted samples by class among the first rows, for ascending numbers of rows; overwritten."""
        outcomes = to_numpy(self.outcomes[: int(numbers[-1])])
        sizes = None if self.sizes is None else to_numpy(self.sizes[: len(outcomes)])
        hits, accepted = (np.zeros(len(self.totals), np.int64) for _ in range(2))
        start = 0
        for stop in numbers.tolist():
            part, counts = outcomes[start:stop], None if sizes is None else sizes[start:stop]
            hits += count_ids(part >> 1, len(hits), np.where(part & 1 == 1, 1 if counts is None else counts, 0))
            accepted += count_ids(part >> 1, len(hits), counts)
            yield hits, accepted
            start = stop


@dataclass(eq=False)
class MicroF(Average):
    """F after each sample, of pooled counts: 2·hits/(accepted + known)."""

    rounding: ClassVar[float] = 0.0  # since the order of distinct numbers survives one rounding

    correct: Array  # with sizes: as of `micro_sweep`
    sizes: Array | None
    known: int  # the number of known samples

    def sweep(self, within: slice = slice(None)) -> Iterator[Sweep]:
        """Hits and accepted samples after each sample, and F, rounded once, block by block."""
        for sums in micro_sweep(self.correct, self.sizes, within):
            yield Sweep(*sums, self.rounded(sums))

    def rounded(self, sums: TwoSums) -> Array:
        """F, rounded once."""
        xp = array_namespace(sums[0])
        return xp.astype(2 * sums[0], xp.float64) / xp.astype(sums[1] + self.known, xp.float64)

    def exact(self, places: np.ndarray, sums: TwoSums) -> list[Fraction]:
        """hits/(accepted + known) in fractions."""
        hits, accepted = map(to_numpy, sums)
        common = np.gcd(hits, accepted + self.known)
        distinct, place = np.unique(
            np.stack([hits // common, (accepted + self.known) // common], axis=1), axis=0, return_inverse=True
        )
        values = [Fraction(*pair) for pair in distinct.tolist()]
        return [values[i] for i in place.reshape(-1).tolist()]


@dataclass(eq=False)
class Hos(Average):
    """HOS after each sample: the harmonic mean of the known classes' mean recall and of that of unknown samples."""

    scores: Array  # (N,) ascending
    known: MacroF  # the known classes
    unknown: Side  # the unknown samples, at least one

    def sweep(self, within: slice = slice(None)) -> Iterator[Sweep]:
        """Sums over classes of recall, rejected unknown samples, and HOS/2 after each sample, block by block."""
        xp, start = array_namespace(self.scores), within.indices(self.scores.shape[0])[0]
        for _, recall, value in self.known.sweep(within):
            here = self.scores[start : start + recall.shape[0]]
            accepted = self.unknown.below(xp.searchsorted(self.unknown.scores, here, side="right"))
            sums = recall, self.unknown.total - accepted
            value[...] = self.rounded(sums) / 2
            yield Sweep(*sums, value)
            start += recall.shape[0]

    def rounded(self, sums: TwoSums) -> Array:
        """HOS within 4 units in the last place."""
        xp = array_namespace(sums[0])
        recall, rejected = sums[0] / max(self.known.occurring, 1), ratio_of(sums[1], self.unknown.total)
        total = recall + rejected
        return 2 * recall * rejected / xp.where(total == 0, xp.ones_like(total), total)

    def exact(self, places: np.ndarray, sums: TwoSums) -> list[Fraction]:
        """HOS in fractions, of ascending places."""
        right = np.cumsum(to_numpy(self.known.outcomes[: int(places[-1]) + 1]) & 1)[places]
        rejected = to_numpy(sums[1])
        changes = np.cumsum(np.append(False, (np.diff(right) != 0) | (np.diff(rejected) != 0)))
        _, distinct, place = np.unique(changes, return_index=True, return_inverse=True)
        values = [
            self.of_counts(hits, number)
            for (hits, _), number in zip(self.known.counts_of(places[distinct] + 1), rejected[distinct].tolist())
        ]
        return [values[i] for i in place.tolist()]

    def of_counts(self, hits: np.ndarray, rejected: int) -> Fraction:
        """HOS from the right samples by class and the rejected unknown ones; 0/0 is 0."""
        hit = np.flatnonzero(hits)
        recall = _sum_of_fractions(hits[hit], to_numpy(self.known.totals)[hit]) / self.known.occurring
        unknown = Fraction(rejected, self.unknown.total)
        return 2 * recall * unknown / (recall + unknown) if recall + unknown else Fraction()


def exact_macro_f(hits: np.ndarray, accepted: np.ndarray, samples: np.ndarray) -> Fraction:
    """Macro F from counts by class, up to a factor common to all thresholds: C is left out of both P and R."""
    hit = np.flatnonzero(hits)
    precision, recall = (_sum_of_fractions(hits[hit], totals[hit]) for totals in (accepted, samples))
    return precision * recall / (precision + recall) if len(hit) else Fraction()


def _sum_of_fractions(counts: np.ndarray, totals: np.ndarray) -> Fraction:
    """Σ counts/totals; fractions with equal denominators are added first."""
    distinct, place = np.unique(totals, return_inverse=True)
    sums = count_ids(place.reshape(-1), len(distinct), counts)
    return sum((Fraction(*pair) for pair in zip(sums.tolist(), distinct.tolist())), Fraction())


def macro_f(precision: Array, recall: Array, num_classes: int) -> Array:
    """F of the means over classes, from the sums over them, as accurate as if rounded once; 0/0 is 0.

    F = 2·P·R / (C·(P + R)): the quotient of the rounded terms, plus the remainder of the division.
    """
    xp = array_namespace(precision)
    total, total_rest = sum_and_rest(precision, recall)
    divisor = xp.where(total == 0, xp.ones_like(total), total * num_classes)
    f = 2 * precision * recall / divisor
    product, product_rest = _product_and_rest(2 * precision, recall)
    times, times_rest = _product_and_rest(f, xp.full_like(f, float(num_classes)))
    back, back_rest = _product_and_rest(times, total)
    remainder = (product - back) + (product_rest - back_rest - times * total_rest - times_rest * total)
    return f + remainder / divisor


def _product_and_rest(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a·b rounded, and its rounding error. Source: Dekker's product of halves of 26 bits."""
    halves = []
    for x in (a, b):
        scaled = 134217729.0 * x  # 2^27 + 1
        high = scaled - (scaled - x)
        halves.append((high, x - high))
    (a1, a2), (b1, b2) = halves
    product = a * b
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


class _Points(NamedTuple):
    thresholds: np.ndarray
    accepted: np.ndarray
    f: np.ndarray


def open_f_curve(
    predicted: Any,
    classes: Any,
    scores: Any,
    num_classes: int | None = None,
    *,
    average: str = "macro",
    max_points: int | None = MAX_POINTS,
) -> dict[str, list[float]]:
    """The open-set F-score at every distinct score; a sample is accepted as known iff score ≤ threshold.

    F(t) as of `macro_open_f` or `micro_open_f`; at the threshold that they return it equals their value.

    Parameters: predicted (N,) class ids; classes (N,) true class ids, negative for unknown; scores (N,), higher is more
    unknown; num_classes is C, by default one more than the largest id; average, "macro" or "micro"; max_points, at
    least 4, or None for every threshold. The drawn line passes a dropped point at its own height, at most
    1/(max_points // 4) of the samples away.
    Returns {"threshold", "accepted", "open_f"}, lists of one length; accepted is the share of all samples.
    Raises ValueError for NaN, lengths that differ, no samples, and ids out of range.
    Source: as of `macro_open_f`.

    >>> open_f_curve([0, 1, 1], [0, 1, -1], [0.1, 0.2, 0.9], average="micro")["open_f"]
    [0.6666666666666666, 1.0, 0.8]
    """
    average = as_choice(average, "average", ("macro", "micro"))
    limit = None if max_points is None else as_int(max_points, "max_points", 4)
    samples = checked_samples(predicted, classes, scores)
    ids = {"predicted": samples.predicted, "classes": samples.classes}
    check_not_negative(samples.predicted, "predicted")
    largest = max(int(array_namespace(column).max(column)) for column in ids.values())
    total = 1 + largest if num_classes is None else as_int(num_classes, "num_classes", 1)
    for name, column in ids.items():
        check_class_ids(column, name, total)
    in_order, f_after = macro_f_after(samples, total) if average == "macro" else micro_f_after(samples)
    ordered = to_numpy(in_order)
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # of each group of equal scores
    thresholds = ordered[last].astype(np.float64) + 0.0  # 0.0 for −0.0
    parts = []
    for start in range(0, len(thresholds), _AT_A_TIME):
        best = best_f(in_order, f_after, thresholds[start : start + _AT_A_TIME])
        parts.append(np.asarray(best[2], np.float64))
    points = _Points(thresholds, (last + 1) / len(ordered), np.concatenate(parts))
    if limit is not None and len(last) > limit:
        points = thinned(points, lambda some: (some.accepted, some.f), limit)
    return table(threshold=points.thresholds, accepted=points.accepted, open_f=points.f)
