"""Top-k rates from the ranks of the true classes."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..arrays.arrays import Array, array_namespace, distinct_values
from ..arrays.columns import as_flags, as_labels, check_not_negative, counted_columns
from ..arrays.options import as_bool, as_choice, as_int
from ..arrays.ratios import rounded_sum, weighted_sum
from ..metric.prepared import MissingClassError
from .topk import TopkState

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
    known = state["above"] >= 0
    xp = array_namespace(known)
    if not bool(xp.any(known)):
        raise MissingClassError("references: expected at least one known sample (a class id of at least 0), got none")
    ranks = Ranks(state["above"], state["tied"], state["correct"], state.get("counts"), state["classes"])
    if bool(xp.all(known)):
        return ranks
    if not as_bool(ignore_unknown, "ignore_unknown"):
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
    return share_of(flags, percent=percent, counts=counts)


def share_of(correct: Array, *, percent: bool, counts: Array | None) -> float:
    """As `accuracy`, of checked columns."""
    return _full_scale(percent) * _sum(correct, counts) / _total(correct, counts)


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
    k = as_int(k, "k", 1)
    above, tied, counts = _checked_ranks(above, tied, counts)
    return mean_hits(above, tied, range(k, k + 1), ties=ties, percent=percent, counts=counts)


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
    k = as_int(k, "k", 1)
    above, tied, counts = _checked_ranks(above, tied, counts)
    return mean_hits(above, tied, range(1, k + 1), ties=ties, percent=percent, counts=counts)


def _checked_ranks(above: Any, tied: Any, counts: Any) -> list[Any]:
    columns = {"above": as_labels(above, "above"), "tied": as_labels(tied, "tied")}
    for name, column in columns.items():
        check_not_negative(column, name, of="ranks")
    return counted_columns(counts, **columns)


def mean_hits(above: Array, tied: Array, ks: range, *, ties: str, percent: bool, counts: Array | None) -> float:
    """Mean over the samples and over consecutive `ks` of the chance that the true class is among the top k.

    Hits are counted in integers, apart for each number of ties where the chance is a fraction of them.
    """
    as_choice(ties, "ties", TIES)
    total, one = _total(above, counts) * len(ks), _full_scale(percent)
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
    xp = array_namespace(above, tied)
    if ties != "expected":
        needed = above + tied if ties == "strict" else above  # fewer than the classes; a hit at every k > needed
        return needed < ks[-1] if len(ks) == 1 else xp.clip(ks[-1] - xp.astype(needed, xp.int64), 0, len(ks))
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
