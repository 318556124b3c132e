"""Pairs of rows that samples have in two models, in an order that depends on neither samples nor caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.compacting import compact_rows
from .bootstrap import draw, parts_of_strata
from .prepared import Prepared
from .results import Key, Rate


class Stratum(NamedTuple):
    """The distinct pairs of rows of the samples in two models, in an order that does not depend on the samples'.

    rows: of the first and of the second model, (D,) each
    counts: (D,) how many samples have each pair
    """

    rows: tuple[np.ndarray, np.ndarray]
    counts: np.ndarray


class Pairs(NamedTuple):
    """The strata of the samples of two models."""

    strata: list[Stratum]
    symmetric: bool  # whether swapping the models changes nothing


def pairs_of(first: Prepared, second: Prepared, exact: Sequence[Mapping[Key, Rate]]) -> Pairs:
    """The pairs of rows of two models' samples.

    Parameters: first and second, the models; exact, the rates of each, for models whose rows are alike.
    Raises ValueError where the samples of the two are not the same in number and kind.
    """
    rows, other_rows = first.rows(), second.rows()
    kinds = [np.where(places < 0, -1, p.strata[places]) for p, places in ((first, rows), (second, other_rows))]
    sizes, other_sizes = (np.ones(len(p.rows()), np.int64) if p.sizes is None else p.sizes for p in (first, second))
    same = len(rows) == len(other_rows) and not (kinds[0] != kinds[1]).any()
    if not same or (sizes != other_sizes)[kinds[0] >= 0].any():
        came = f"{sizes.sum()} and {other_sizes.sum()}, or of other kinds"
        raise ValueError(f"first, second: expected the same samples, got {came}")
    strata = [kinds[0] == kind for kind in np.unique(first.strata)]
    # in the order of one model's rows, then of the other's; which of the two comes first must not depend on the caller
    straight = [_stratum(rows[here], other_rows[here], sizes[here], by=1) for here in strata]
    mirrored = [_stratum(rows[here], other_rows[here], sizes[here], by=0) for here in strata]
    # where the pairs come one by one, each as often as there are samples: after fewer of them comes a higher one
    left, right = (
        np.concatenate([np.stack([each.rows[by], each.rows[1 - by], -each.counts], axis=1).ravel() for each in order])
        for by, order in ((1, straight), (0, mirrored))
    )
    if (left == right).all():
        keys = sorted(exact[0].keys() & exact[1].keys(), key=str)
        left, right = (fingerprint(*model, keys) for model in ((first, exact[0]), (second, exact[1])))
    differ = np.flatnonzero((left != right) & ~(np.isnan(left) & np.isnan(right)))[:1]  # the first place decides
    return Pairs(mirrored if (left > right)[differ].any() else straight, symmetric=not len(differ))


def _stratum(first: np.ndarray, second: np.ndarray, sizes: np.ndarray, *, by: int) -> Stratum:
    """The pairs of rows in the order of the rows of one model, 0 or 1, then of the other."""
    if not len(first):
        return Stratum((first, second), sizes)
    (leading, other), counts = compact_rows([second, first] if by else [first, second], sizes)
    return Stratum((other, leading) if by else (leading, other), counts)


def fingerprint(prepared: Prepared, exact: Mapping[Key, Rate], keys: Sequence[Key]) -> np.ndarray:
    """Rates of a model, and those in some resamples, where two models that are alike otherwise may differ."""
    rng, strata = np.random.default_rng(0), parts_of_strata(prepared)
    probes = [prepared.rates(np.concatenate([draw(rng, part) for part in strata])) for _ in range(_PROBES)]
    every: list[Any] = [exact, *probes]
    return np.asarray([rates[key].value if key in rates else np.nan for rates in every for key in keys])


_PROBES = 32
