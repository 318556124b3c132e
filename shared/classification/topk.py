"""Top-k rates from the ranks of the true classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from ..arrays.arrays import Array, array_namespace, distinct_values, to_numpy
from ..arrays.checks import (
    as_bool,
    as_choice,
    as_flags,
    as_int,
    as_int_list,
    as_labels,
    check_not_negative,
    counted_columns,
)
from ..arrays.exact import pieces, rounded_sum, weighted_sum
from ..metric.metric import Metric
from ..metric.prepared import Drawn, MissingClassError, PreparedTable
from ..metric.results import Rate, Results
from .ranks import TOPK_ALIASES, TOPK_TABLES, TopkState, as_topk_state, topk_scores_state, topk_state

TIES = ("strict", "optimistic", "expected")
DEFAULT_TIES = "strict"


class Ranks(NamedTuple):
    """The columns of the known samples of a `TopkState`; `counts` are None for one each."""

    above: Array
    tied: Array
    correct: Array
    counts: Array | None
    classes: Array


def known_ranks(state: TopkState, *, ignore_unknown: bool = False) -> Ranks:
    """The ranks of the known samples of a state.

    Returns `Ranks`, of (K,) arrays.
    Raises ValueError if there are none, or if there are unknown ones and `ignore_unknown` is false.
    """
    above = state["above"]
    ranks = Ranks(above, state["tied"], state["correct"], state.get("counts"), state["classes"])
    if above.shape[0] and int(above.min()) >= 0:
        return ranks
    known = above >= 0
    if not bool(array_namespace(known).any(known)):
        raise MissingClassError("references: expected at least one known sample (a class id of at least 0), got none")
    if not ignore_unknown:
        raise ValueError("references: unknown samples were added under ignore_unknown=True; it is now False")
    return Ranks(*(None if column is None else column[known] for column in ranks))


def accuracy(correct: Any, *, percent: bool = False, counts: Any = None) -> float:
    """Share of correct samples, (N,) booleans, in [0, 1], or in [0, 100] with `percent`.

    Parameters: correct (N,); counts (N,), the number of samples that each entry stands for, by default one.
    Raises ValueError for other values, lengths that differ, and no samples.

    >>> accuracy([True, False, True, True])
    0.75
    """
    flags, counts = counted_columns(counts, correct=as_flags(correct, "correct"))
    return _full_scale(percent) * _sum(flags, counts) / _total(flags, counts)


def topk_accuracy(
    above: Any, tied: Any, k: int, *, ties: str = DEFAULT_TIES, percent: bool = False, counts: Any = None
) -> float:
    """Top-k accuracy: the share of samples with the true class among the k highest scores.

    strict:      [s_y > s_(k+1)], the true class must beat the (k+1)-th score: above + tied < k
    optimistic:  [s_y ≥ s_(k)], ties are decided in its favour: above < k
    expected:    the chance of a hit when ties are broken at random

    Parameters: above, tied (N,) from `true_class_ranks`; k ≥ 1; counts (N,), how many samples each entry stands
    for, by default one. Returns a float in [0, 1], or in [0, 100] with `percent`.
    Raises ValueError for an unknown `ties`, negative or fractional ranks, lengths that differ, and no samples.
    Source: Lapin, Hein and Schiele, Top-k Multiclass SVM, NeurIPS 2015; the strict form is that of Wang et al.,
    Optimizing Partial Area Under the Top-k Curve, T-PAMI 2023.

    >>> above, tied = [0, 0, 2], [0, 2, 0]
    >>> topk_accuracy(above, tied, 2), topk_accuracy(above, tied, 2, ties="optimistic")
    (0.3333333333333333, 0.6666666666666666)
    """
    return _checked_mean(above, tied, range(as_int(k, "k", 1), k + 1), ties, percent, counts)


def autkc(
    above: Any, tied: Any, k: int, *, ties: str = DEFAULT_TIES, percent: bool = False, counts: Any = None
) -> float:
    """AUTKC@K, the area under the top-k curve: the mean of the top-1 to top-K accuracies.

    AUTKC@K = 1/(N·K) Σ_i Σ_{k=1..K} [s_i,y > s_i,(k+1)],  s_(C+1) = −∞

    Parameters: above, tied (N,) from `true_class_ranks`; k is K ≥ 1; counts (N,), how many samples each entry
    stands for, by default one. Returns a float in [0, 1], or in [0, 100] with `percent`.
    Raises ValueError as `topk_accuracy` does.
    Source: Wang et al., Optimizing Partial Area Under the Top-k Curve, T-PAMI 2023.

    >>> autkc([0, 2], [0, 0], 3)
    0.6666666666666666
    """
    return _checked_mean(above, tied, range(1, as_int(k, "k", 1) + 1), ties, percent, counts)


def _checked_mean(above: Any, tied: Any, ks: range, ties: str, percent: bool, counts: Any) -> float:
    columns = {"above": as_labels(above, "above"), "tied": as_labels(tied, "tied")}
    for name, column in columns.items():
        check_not_negative(column, name, of="ranks")
    above, tied, counts = counted_columns(counts, **columns)
    return mean_hits(above, tied, ks, ties=as_choice(ties, "ties", TIES), one=_full_scale(percent), counts=counts)


def mean_hits(above: Array, tied: Array, ks: range, *, ties: str, one: int, counts: Array | None) -> float:
    """Mean over the samples and over consecutive `ks` of the chance that the true class is among the top k, times one.

    Hits are counted in integers, apart for each number of ties where the chance is a fraction of them.
    """
    total = (above.shape[0] if counts is None else _sum(counts)) * len(ks)
    hits = hits_among_top(above, tied, ks, ties)
    if ties != "expected":
        return one * _sum(hits, counts) / total
    tied_as = ((tied == count, count + 1) for count in map(int, distinct_values(tied)))
    shares = ((_sum(hits[here], None if counts is None else counts[here]), possible) for here, possible in tied_as)
    return rounded_sum(((one * hits, possible) for hits, possible in shares), total)


def hits_among_top(above: Array, tied: Array, ks: range, ties: str) -> Array:
    """Count the k of consecutive `ks` at which the true class is among the top k, (N,) int64; flags for one k.

    With "expected", how many of the tied + 1 places that it may take are, over all ks.
    """
    needed = above + tied if ties == "strict" else above  # fewer than the classes; a hit at every k > needed
    if ties != "expected" and len(ks) == 1:
        return needed < ks[-1]
    xp = array_namespace(above, tied)
    if ties != "expected":
        return xp.clip(ks[-1] - xp.astype(needed, xp.int64), 0, len(ks))
    above, tied = xp.astype(above, xp.int64), xp.astype(tied, xp.int64)
    return sum(xp.clip(k - above, 0, None) - xp.clip(k - above - tied - 1, 0, None) for k in ks)


def _sum(values: Array, counts: Array | None = None) -> int:
    """Sum of integers or flags, each `counts` times."""
    xp = array_namespace(values)
    if counts is None and values.dtype == xp.bool:
        return int(xp.count_nonzero(values))
    values = xp.astype(values, xp.int64)
    if counts is None or not values.shape[0]:
        return int(xp.sum(values))
    return weighted_sum(counts, values, int(xp.max(values)).bit_length(), int(xp.sum(counts)))


def _total(entries: Array, counts: Array | None) -> int:
    return entries.shape[0] if counts is None else _sum(counts)


def _full_scale(percent: bool) -> int:
    return 100 if as_bool(percent, "percent") else 1


AVERAGES = ("micro", "macro")


def topk_rates(ranks: Ranks, ks: Mapping[str, range | None], *, ties: str, average: str, one: int) -> dict[str, float]:
    """The mean accuracy over consecutive ks, for each key.

    micro: over all samples
    macro: the unweighted mean, over the classes that occur in the references, of the means over the samples of each

    Parameters: ranks of `known_ranks`; ks of each key, None for plain accuracy; ties as of `topk_accuracy`; average,
    "micro" or "macro"; one, the number that stands for all samples, 1 or 100.
    Returns a float for each key.
    """
    if average == "macro":
        of_classes = ratios_by_class(ranks, ks, ties=ties, one=one)[2]
        return {key: rounded_sum(chain(*of_classes[key]), len(of_classes[key])) for key in ks}
    above, tied, correct, counts, _ = ranks
    rates: dict[str, float] = {}
    for key, span in ks.items():
        if span is None:
            rates[key] = one * _sum(correct, counts) / _total(correct, counts)
        else:
            rates[key] = mean_hits(above, tied, span, ties=ties, one=one, counts=counts)
    return rates


def rates_by_class(ranks: Ranks, ks: Mapping[str, range | None], *, ties: str, one: int) -> dict[str, list[Any]]:
    """The mean accuracy over consecutive ks, of the samples of each class.

    Parameters: as of `topk_rates`.
    Returns a table, a dict of lists of one length: "class", the ids that occur, ascending; "count", how many samples
    each has; then each key.

    >>> import numpy as np
    >>> columns = dict(above=[0, 2, 0, 1], tied=[0, 0, 0, 0], correct=[True, False, True, False], classes=[7, 7, 2, 7])
    >>> ranks = Ranks(**{name: np.asarray(column) for name, column in columns.items()}, counts=None)
    >>> rates_by_class(ranks, {"accuracy@2": range(2, 3)}, ties="strict", one=1)
    {'class': [2, 7], 'count': [1, 3], 'accuracy@2': [1.0, 0.6666666666666666]}
    """
    classes, counts, ratios = ratios_by_class(ranks, ks, ties=ties, one=one)
    rates = {key: [rounded_sum(parts, 1) for parts in of_classes] for key, of_classes in ratios.items()}
    return {"class": classes, "count": counts, **rates}


ClassRatios = tuple[list[int], list[int], dict[str, list[list[tuple[int, int]]]]]


def ratios_by_class(ranks: Ranks, ks: Mapping[str, range | None], *, ties: str, one: int) -> ClassRatios:
    """As `rates_by_class`, in integers: the ids, their counts, and for each key and class ratios that add up to a rate.

    With expected ties, there is a ratio for each number of ties.
    """
    xp, by_ties = array_namespace(ranks.classes), ties == "expected"
    ranks = _by_class(ranks, by_ties=by_ties)
    weights = xp.ones_like(ranks.classes, dtype=xp.int64) if ranks.counts is None else ranks.counts
    last = _ends(ranks.classes, ranks.tied) if by_ties else _ends(ranks.classes)
    possible = (xp.astype(ranks.tied[last], xp.int64) + 1).tolist() if by_ties else [1] * len(last)
    labels, totals = ranks.classes[last].tolist(), dict[int, int]()
    for label, number in zip(labels, _sums_by_place(weights, last)):
        totals[label] = totals.get(label, 0) + number
    ratios = {}
    for key, span in ks.items():
        hits = ranks.correct if span is None else hits_among_top(ranks.above, ranks.tied, span, ties)
        parts: dict[int, list[tuple[int, int]]] = {label: [] for label in totals}
        for label, good, places in zip(labels, _sums_by_place(weights, last, xp.astype(hits, xp.int64)), possible):
            parts[label].append((one * good, totals[label] * (1 if span is None else places * len(span))))
        ratios[key] = [*parts.values()]
    return [*totals], [*totals.values()], ratios


def _by_class(ranks: Ranks, *, by_ties: bool) -> Ranks:
    """The samples in ascending order of their classes, and with `by_ties` of their ties within a class."""
    xp = array_namespace(ranks.classes)
    if not by_ties and not bool(xp.any(ranks.classes[1:] < ranks.classes[:-1])):
        return ranks  # as rows that have been counted are
    order = xp.argsort(ranks.tied, stable=True) if by_ties else None
    classes = ranks.classes if order is None else ranks.classes[order]
    by_class = xp.argsort(classes, stable=True)
    order = by_class if order is None else order[by_class]
    return Ranks(*(None if column is None else column[order] for column in ranks))


def _ends(*columns: Array) -> Array:
    """The index of the last row of each run of equal rows in these columns."""
    xp = array_namespace(*columns)
    is_last = xp.ones_like(columns[0], dtype=xp.bool)
    is_last[:-1] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        is_last[:-1] |= column[1:] != column[:-1]
    return xp.nonzero(is_last)[0]


def _sums_by_place(weights: Array, last: Array, values: Array | None = None) -> list[int]:
    """The sum of (N,) weights in each run, each times an integer of at least 0."""
    xp = array_namespace(weights)
    values = xp.ones_like(weights) if values is None else values
    sums = [0] * len(last)
    for low, part in pieces(values, int(xp.max(values)).bit_length(), int(xp.sum(weights))):
        running = xp.cumulative_sum(part * weights)[last]
        more: list[int] = xp.diff(running, prepend=xp.zeros_like(running[:1])).tolist()
        sums = [so_far + (sum_ << low) for so_far, sum_ in zip(sums, more)]
    return sums


@dataclass(kw_only=True, eq=False, repr=False)
class TopK(Metric):
    """Means over consecutive k of the top-k accuracy.

    Options, in addition to the common ones (see `Metric`):

    k_list: integers in [1, C]
    ties: "strict", "optimistic" or "expected", as of `topk_accuracy`
    average: "micro" or "macro", as of `topk_rates`
    per_class: whether to add the table of `rates_by_class`
    percent: whether rates are in [0, 100]
    ignore_unknown: whether samples with a negative reference are left out

    Raises ValueError for a k out of range, and without known samples.
    """

    countable_tables = TOPK_TABLES
    truth = ("classes",)
    owned_arrays = frozenset(TopkState.__annotations__)
    aliases = TOPK_ALIASES
    classes_needed = ("known samples",)
    selecting = Metric.selecting | {"k_list", "per_class"}

    k_list: int | Sequence[int] | None = None
    ties: str = DEFAULT_TIES
    average: str = "micro"
    per_class: bool = False
    percent: bool = False
    ignore_unknown: bool = False

    def __post_init__(self) -> None:
        """Check each option; the upper bound of k_list is checked where the number of classes is known."""
        super().__post_init__()
        self._ks = [] if self.k_list is None else as_int_list(self.k_list, "k_list", 1)
        self.ties = as_choice(self.ties, "ties", TIES)
        self.average = as_choice(self.average, "average", AVERAGES)
        self.per_class = as_bool(self.per_class, "per_class")
        self.percent = as_bool(self.percent, "percent")
        self.ignore_unknown = as_bool(self.ignore_unknown, "ignore_unknown")

    def as_state(self, state: Mapping[str, Any]) -> TopkState:
        """Check a state from elsewhere."""
        return as_topk_state(state, ignore_unknown=self.ignore_unknown)

    def spans(self) -> Mapping[str, range | None]:
        """The range of k that each key averages over; None: plain accuracy."""
        raise NotImplementedError

    def prepare(self, state: TopkState) -> PreparedTable:
        """The samples, by the ranks of their classes."""
        return PreparedTable(self, state, TOPK_TABLES["counts"])

    def drawn(self, state: TopkState) -> Drawn:
        """The known samples, in one stratum; unknown ones do not enter the results.

        Classes are not strata: a class missing from a resample does not enter its mean. Without such a mean, rows that
        differ only in the class are merged.
        """
        is_known = to_numpy(state["above"] >= 0)
        return Drawn(state if self.average == "macro" else {**state, "classes": state["classes"] * 0}, is_used=is_known)

    def rates(self, state: TopkState) -> Results:
        """The mean accuracy over the k of each key."""
        ranks, spans = self._ranks_and_spans(state)
        values = topk_rates(ranks, spans, ties=self.ties, average=self.average, one=100 if self.percent else 1)
        results: Results = {}
        for key, value in values.items():
            results[key] = Rate(value, True, share=not self.percent)
        return results

    def _ranks_and_spans(self, state: TopkState) -> tuple[Ranks, Mapping[str, range | None]]:
        width = int(state["predictions_width"])
        if self._ks and max(self._ks) > width:
            as_int_list(self.k_list, "k_list", 1, width)
        return known_ranks(state, ignore_unknown=self.ignore_unknown), self.spans()

    def tables(self, prepared: PreparedTable, results: Results) -> dict[str, Any]:
        """The table of classes, with `per_class`."""
        if not self.per_class:
            return {}
        ranks, spans = self._ranks_and_spans(prepared.state)
        return {"per_class": rates_by_class(ranks, spans, ties=self.ties, one=100 if self.percent else 1)}


@dataclass(kw_only=True, eq=False, repr=False)
class AccuracyK(TopK):
    """The share of samples with the true class among the k best guesses: "accuracy", or "accuracy@1" for a k_list.

    Columns: see `reduce`. Options: see `TopK`.

    >>> AccuracyK(k_list=(1, 2)).compute(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
    {'accuracy@1': 0.5, 'accuracy@2': 1.0}
    """

    name = "accuracyk"

    def reduce(self, predictions: Any, references: Any) -> TopkState:
        """Reduce a batch of (N, C) scores or (N, K) class ids to the ranks of the true classes.

        Parameters: predictions, real scores, higher is more likely, or ids, the best guess first; references (N,) class
        ids. A negative reference stands for an unknown sample: with `ignore_unknown` its `above` is −1, otherwise it is
        an error.
        Returns a `TopkState`.
        Raises ValueError for NaN, lengths and shapes that do not fit, classes out of range, swapped columns.
        """
        return topk_state(predictions, references, ignore_unknown=self.ignore_unknown)

    def spans(self) -> Mapping[str, range | None]:
        """Each k alone."""
        if self.k_list is None:
            return {"accuracy": None}
        return {f"accuracy@{k}": range(k, k + 1) for k in self._ks}


@dataclass(kw_only=True, eq=False, repr=False)
class AUTKC(TopK):
    """The area under the top-k curve: the mean accuracy over k = 1 … K, "autkc@1" and so on.

    Columns: see `reduce`. Options: see `TopK`.

    >>> AUTKC(k_list=(1, 2)).compute(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
    {'autkc@1': 0.5, 'autkc@2': 0.75}
    """

    name = "autkc"

    k_list: int | Sequence[int] | None = (1,)

    def reduce(self, predictions: Any, references: Any) -> TopkState:
        """Reduce a batch of (N, C) scores as AccuracyK does; class ids are a ValueError."""
        return topk_scores_state(predictions, references, ignore_unknown=self.ignore_unknown)

    def spans(self) -> Mapping[str, range | None]:
        """All k up to each K."""
        return {f"autkc@{k}": range(1, k + 1) for k in self._ks}
