"""Top-k rates over all samples, or class by class: their mean over the classes, and a table of them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple

from ..arrays.arrays import Array, array_namespace
from ..arrays.options import as_bool, as_choice
from ..arrays.ratios import pieces, rounded_sum
from .topk_rates import TIES, Ranks, hits_among_top, mean_hits, share_of

AVERAGES = ("micro", "macro")


def topk_rates(
    ranks: Ranks, ks: Mapping[str, range | None], *, ties: str, average: str, percent: bool
) -> dict[str, float]:
    """The mean accuracy over consecutive ks, for each key.

    micro: over all samples
    macro: the unweighted mean, over the classes that occur in the references, of the means over the samples of each

    Parameters: ranks of `known_ranks`; ks of each key, None for plain accuracy; ties and percent as of `topk_accuracy`;
    average, "micro" or "macro".
    Returns a float for each key. Raises ValueError for an unknown `ties` or `average`.
    """
    macro = as_choice(average, "average", AVERAGES) == "macro"
    as_choice(ties, "ties", TIES)
    if not macro:
        return {key: _over_samples(ranks, span, ties, percent) for key, span in ks.items()}
    of_classes = ratios_by_class(ranks, ks, ties=ties, percent=percent).ratios
    return {key: rounded_sum(chain(*of_classes[key]), len(of_classes[key])) for key in ks}


def rates_by_class(ranks: Ranks, ks: Mapping[str, range | None], *, ties: str, percent: bool) -> dict[str, list[Any]]:
    """The mean accuracy over consecutive ks, of the samples of each class.

    Parameters: as of `topk_rates`.
    Returns a table, a dict of lists of one length: "class", the ids that occur, ascending; "count", how many samples
    each has; then each key.

    >>> import numpy as np
    >>> columns = dict(above=[0, 2, 0, 1], tied=[0, 0, 0, 0], correct=[True, False, True, False], classes=[7, 7, 2, 7])
    >>> ranks = Ranks(**{name: np.asarray(column) for name, column in columns.items()}, counts=None)
    >>> rates_by_class(ranks, {"accuracy@2": range(2, 3)}, ties="strict", percent=False)
    {'class': [2, 7], 'count': [1, 3], 'accuracy@2': [1.0, 0.6666666666666666]}
    """
    classes, counts, ratios = ratios_by_class(ranks, ks, ties=ties, percent=percent)
    rates = {key: [rounded_sum(parts, 1) for parts in of_classes] for key, of_classes in ratios.items()}
    return {"class": classes, "count": counts, **rates}


class ClassRatios(NamedTuple):
    """Rates of classes as fractions.

    classes, counts: the ids that occur, ascending, and how many samples each has
    ratios: for each key, and each class, counts and totals; its rate is the sum of their ratios
    """

    classes: list[int]
    counts: list[int]
    ratios: dict[str, list[list[tuple[int, int]]]]


def ratios_by_class(ranks: Ranks, ks: Mapping[str, range | None], *, ties: str, percent: bool) -> ClassRatios:
    """As `rates_by_class`, in integers: with expected ties, a rate is a sum of one ratio for each number of ties."""
    one = 100 if as_bool(percent, "percent") else 1
    xp = array_namespace(ranks.classes)
    ranks = _by_class(ranks, by_ties=ties == "expected")
    weights = xp.ones_like(ranks.classes, dtype=xp.int64) if ranks.counts is None else ranks.counts
    last = _ends(ranks.classes)
    totals = _sums(weights, last)
    ratios = {}
    if ties == "expected":
        last_tied = _ends(ranks.classes, ranks.tied)
        # how many pairs of class and ties there are up to the last of each class
        until = (xp.searchsorted(last_tied, last) + 1).tolist()
        possible = (xp.astype(ranks.tied[last_tied], xp.int64) + 1).tolist()
    for key, span in ks.items():
        if span is None:
            good = _sums(weights, last, xp.astype(ranks.correct, xp.int64))
            ratios[key] = [[(one * hits, total)] for hits, total in zip(good, totals)]
            continue
        hits = hits_among_top(ranks.above, ranks.tied, span, ties)
        places = [total * len(span) for total in totals]
        if ties != "expected":
            ratios[key] = [[(one * good, total)] for good, total in zip(_sums(weights, last, hits), places)]
            continue
        shares = [*zip(_sums(weights, last_tied, hits), possible)]
        parts = [shares[start:stop] for start, stop in zip([0, *until], until)]
        ratios[key] = [[(one * good, of * total) for good, of in part] for part, total in zip(parts, places)]
    return ClassRatios(ranks.classes[last].tolist(), totals, ratios)


def _over_samples(ranks: Ranks, span: range | None, ties: str, percent: bool) -> float:
    if span is None:
        return share_of(ranks.correct, percent=percent, counts=ranks.counts)
    return mean_hits(ranks.above, ranks.tied, span, ties=ties, percent=percent, counts=ranks.counts)


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


def _sums(weights: Array, last: Array, values: Array | None = None) -> list[int]:
    """The sum of (N,) weights in each run, each times an integer of at least 0."""
    xp = array_namespace(weights)
    values = xp.ones_like(weights) if values is None else values
    sums = [0] * len(last)
    for low, part in pieces(values, int(xp.max(values)).bit_length(), int(xp.sum(weights))):
        running = xp.cumulative_sum(part * weights)[last]
        more: list[int] = xp.diff(running, prepend=xp.zeros_like(running[:1])).tolist()
        sums = [so_far + (sum_ << low) for so_far, sum_ in zip(sums, more)]
    return sums
