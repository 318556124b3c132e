"""Compare two models on the same samples: which is better, by how much, and how certain it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np

from .arrays.arrays import are_alike
from .arrays.checks import as_int, as_open_share, check_indices
from .arrays.exact import as_written
from .loading import metric_class
from .metric.bootstrap import MAX_RESAMPLES, ByGroup, Part, draw, moved, pairs_of, resampled, whole, with_means
from .metric.clusters import CLUSTERS
from .metric.groups import ALL, GROUPS, rows_of_groups
from .metric.metric import Metric
from .metric.results import ARITHMETIC, Draws, Key, Rate, Results, Summary, all_draws, rates_of
from .metric.states import COUNTS

# columns that say what the samples are, and so belong to both models
SHARED = ("references", "open_labels", "qualities", "image_labels", "samples", COUNTS, GROUPS, CLUSTERS)
TABLE = ("key", "first", "second", "difference", "low", "high", "p_value", "better")


def compare(
    metric: str | Metric,
    first: Any,
    second: Any,
    *,
    references: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = Metric.n_resamples,
    random_state: int = Metric.random_state,
    **others: Any,
) -> dict[str, list[Any]]:
    """Compare the rates of two models on the same samples, by a paired bootstrap.

    difference = first − second,  p = min(1, 2·(min(#{Δ ≤ 0}, #{Δ ≥ 0}) + 1)/(B + 1))  over B resamples Δ
    low, high = the r-th of all Δ in order, from either end,  r = ⌊(B + 1)·α/2⌋,  α = 1 − confidence_level

    Both say the same: the interval excludes 0 if and only if p ≤ α. Each resample draws samples (images, for anomaly
    maps and detection) with replacement within their strata, once for both models; with a column `clusters`, clusters
    with all of their samples. Swapping the models mirrors the table.

    Parameters: metric, a name or a metric with its options; first and second, each model's predictions, or a dict of
    its own columns, such as {"predictions": …, "open_scores": …}; references and other columns that both share, and
    options of the metric, as keywords; confidence_level in (0, 1); n_resamples, from 1 to a million; random_state, the
    seed.

    Returns a table, a dict of lists of one length: "key", "first", "second", "difference", and of the difference
    "low", "high" and "p_value"; "better" is "first" or "second" where the interval excludes 0, and the difference is
    not 0; else None. Where r is 0, there are too few resamples for the level (at 0.95, fewer than 39), and the interval
    is from −inf to inf. Two equal models have a difference of 0 and a p-value of 1. With a column `groups` it has a
    "group" too: None in rows of the means, which come first.
    Raises the errors of the metric, and ValueError if the two models' samples differ in number or kind, or in a column
    such as references or groups that both bring.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993; p with + 1, so that it is never 0.

    >>> table = compare("ood_bench", [0.1, 0.2, 0.8, 0.9], [0.1, 0.2, 0.8, 0.9], references=[0, 0, 1, 1])
    >>> table["key"], table["difference"], table["p_value"]
    (['auroc', 'fpr95tpr'], [0.0, 0.0], [1.0, 1.0])
    """
    level = as_open_share(confidence_level, "confidence_level")
    number = as_int(n_resamples, "n_resamples", 1, MAX_RESAMPLES)
    seed = as_int(random_state, "random_state", 0)
    metric = metric_class(metric)() if isinstance(metric, str) else metric
    if isinstance(metric, type) or not hasattr(metric, "prepared_parts"):
        raise TypeError(f"metric: expected a name or a metric such as OpenAUC(), got {type(metric).__name__}")
    shared = others if references is None else {**others, "references": references}
    check_shared(metric, first, second)
    _check_indices(first, second)
    models = [_prepared(metric, model, shared, name) for name, model in (("first", first), ("second", second))]
    parts = differences_of_parts(*models, n_resamples=number, random_state=seed)
    return compared(parts, level, **metric.means).table()


class Differences(NamedTuple):
    """A part of two models, and the differences of its rates in resamples."""

    first: Part
    second: Part
    drawn: ByGroup
    clusters: Draws | None  # that were drawn; None where rows were


class Comparison(NamedTuple):
    """Two models' summaries, and their paired differences in resamples, by key and by (group, key)."""

    first: Summary
    second: Summary
    differences: Mapping[Key, np.ndarray]
    level: float
    drawn: Draws | None = None  # the clusters that differences were drawn from; None where rows were drawn

    def table(self) -> dict[str, list[Any]]:
        """A row for each rate: see `compare`."""
        rows = self.rows()
        columns = {name: [row[name] for row in rows.values()] for name in TABLE}
        groups = [None if isinstance(key, str) else key[0] for key in rows]
        return columns if self.first.groups is None else {"group": groups, **columns}

    def rows(self) -> dict[Key, dict[str, Any]]:
        """A row of the table for each rate, by key and by (group, key)."""
        first, second = self.first.rates(), self.second.rates()
        keys = [key for key in first if key in second and not np.isnan(self.differences.get(key, np.nan)).all()]
        return {key: self._row(first[key], second[key], key) for key in keys}

    def _row(self, first: Rate, second: Rate, key: Key) -> dict[str, Any]:
        values = self.differences[key]
        values = values[~np.isnan(values)]  # of resamples that have a difference
        low, high = ends_of_differences(values, self.level)
        difference = first.value - second.value
        return {
            "key": key if isinstance(key, str) else key[1],
            "first": first.value,
            "second": second.value,
            "difference": difference,
            "low": low,
            "high": high,
            "p_value": p_value(values),
            "better": better(first.higher, low, high) if difference else None,
        }


def differences_of_parts(
    first: Iterable[Part], second: Iterable[Part], *, n_resamples: int, random_state: int
) -> Iterator[Differences]:
    """Parts of two models with `paired_differences`; each draws from the seed itself, and is permuted by its name."""
    for one, other in zip_longest(first, second):
        if one is None or other is None or one.results.keys() != other.results.keys():
            raise ValueError("first, second: expected the same groups of samples, got others")
        values, symmetric, redrawn = paired_differences(one, other, n_resamples, random_state)
        drawn = one.by_group(values, random_state)
        if symmetric:  # the models cannot be told apart: a difference and its opposite are equally likely
            drawn = {key: _and_mirrored(each) for key, each in drawn.items()}
        yield Differences(one, other, drawn, one.draws(redrawn))


def _and_mirrored(drawn: np.ndarray) -> np.ndarray:
    """Differences with the rates of the two models, then the same with the models swapped."""
    return np.concatenate([drawn, drawn[:, [0, 2, 1]] * (-1, 1, 1)])


def compared(
    parts: Iterable[Differences], level: float, *, skipping: bool = False, groups_mean: str = ARITHMETIC
) -> Comparison:
    """The comparison of groups, or of all samples, which have an empty name; options as of `summary_of_groups`."""
    means: Any = {"skipping": skipping, "groups_mean": groups_mean}
    first: dict[str, Results] = {}
    second: dict[str, Results] = {}
    drawn: ByGroup = {}
    draws: list[Draws | None] = []
    for one, other, values, clusters in parts:
        first |= one.results
        second |= other.results
        drawn |= values
        draws.append(clusters)
    differences, *models = ({key: each[:, i] for key, each in drawn.items()} for i in range(3))
    of_models = groups_mean != ARITHMETIC and [*first] != [ALL]
    summary, of_means = whole(first, {} if of_models else differences, **means)
    if of_models:  # only the arithmetic mean of differences is the difference of the means
        firsts, seconds = (with_means(each, groups_mean) for each in models)
        of_means = dict(differences.items())
        of_means |= {key: firsts[key] - seconds[key] for key in firsts if key not in drawn}
    return Comparison(summary, whole(second, {}, **means)[0], of_means, level, all_draws(draws))


def paired_differences(
    first: Part, second: Part, n_resamples: int, random_state: int
) -> tuple[dict[Key, np.ndarray], bool, int]:
    """Differences of two models' rates in resamples, and the rates, (B, 3) each, of the same samples for both.

    Returns them, whether swapping the models changes nothing, and how many resamples were drawn again. Raises
    ValueError where the samples of the two are not the same in number and kind, or in their clusters.
    """
    pair = first.prepared, second.prepared
    models = pair[0].aligned_with(pair), pair[1].aligned_with(pair)
    exact = first.rates(), second.rates()
    pairs = pairs_of(*models)
    merged = [rates_of(prepared.rates(prepared.counts)) for prepared in models]
    keys = [key for key in merged[0] if all(key in rates for rates in (merged[1], *exact))]
    places = [np.concatenate(rows) for rows in zip(*(stratum.rows for stratum in pairs.strata))]

    def resample(rng: np.random.Generator) -> Iterable[float]:
        drawn = np.concatenate([draw(rng, stratum.counts) for stratum in pairs.strata])
        sums = [
            # float64 holds them
            prepared.sums(np.bincount(rows, drawn, len(prepared.counts)).astype(np.int64), keys)
            for prepared, rows in zip(models, places)
        ]
        return chain(*sums)

    both, again = resampled(resample, n_resamples, random_state, len(places[0]))
    values, drawn = [each.values_of(sums, keys).T for each, sums in zip(models, np.split(both, 2, axis=1))], {}
    for key, one, other in zip(keys, *values):
        # merging rows shifts the two rates, so differences are shifted back by the same amount; none at all stays none
        shifts = [rates[key].value - rows[key].value for rates, rows in zip(exact, merged)]
        shift = (exact[0][key].value - exact[1][key].value) - (merged[0][key].value - merged[1][key].value)
        difference = one - other
        difference = np.where(difference == 0, 0.0, difference + shift)
        drawn[key] = np.stack([difference, moved(one, shifts[0]), moved(other, shifts[1])], axis=1)
    return drawn, pairs.symmetric, again


def ends_of_differences(differences: np.ndarray, level: float) -> tuple[float, float]:
    """The ends of the interval of a difference: the r-th of n resampled differences from either end.

    r = ⌊(n + 1)·α/2⌋ with α = 1 − level, read as it is written in decimals. 0 lies below the lower end if and only if
    at most r − 1 differences are ≤ 0, which is p ≤ α. Where r is 0, the ends are −inf and inf.

    >>> ends_of_differences(np.arange(1.0, 40.0), 0.95), ends_of_differences(np.arange(1.0, 39.0), 0.95)
    ((1.0, 39.0), (-inf, inf))
    """
    rank = math.floor((len(differences) + 1) * (1 - as_written(level)) / 2)
    if not rank:
        return -math.inf, math.inf
    ordered = np.sort(differences)
    return float(ordered[rank - 1]) + 0.0, float(ordered[-rank]) + 0.0  # no -0.0


def better(higher: bool | None, low: float, high: float) -> str | None:
    """Which model is better, "first" or "second", where the interval of their difference excludes 0.

    >>> better(True, 0.01, 0.2), better(False, 0.01, 0.2), better(True, -0.01, 0.2), better(None, 0.01, 0.2)
    ('first', 'second', None, None)
    """
    if higher is None or low <= 0 <= high:
        return None
    return "first" if (low > 0) == higher else "second"


def p_value(differences: np.ndarray) -> float:
    """The p-value of no difference, from the differences in resamples."""
    rarer = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
    return min(1.0, 2 * (int(rarer) + 1) / (len(differences) + 1))


def not_rejected(p_values: Mapping[str, float | None], level: float) -> dict[str, bool]:
    """Whether each model is not worse than the best, by p-values after Holm's correction; None are left out.

    With p-values in ascending order p_1 ≤ … ≤ p_m, models are worse up to the first p_i > (1 − level)/(m − i + 1).
    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 1979.

    >>> not_rejected({"a": 0.01, "b": 0.04, "c": 0.03, "d": None}, 0.95)
    {'a': False, 'c': True, 'b': True}
    """
    known = {name: p for name, p in p_values.items() if p is not None}
    alike, stands = {}, False
    for i, (name, p) in enumerate(sorted(known.items(), key=lambda pair: pair[1])):
        share = Fraction(p).limit_denominator(10 * MAX_RESAMPLES)  # as it is without rounding
        stands = stands or share * (len(known) - i) > 1 - as_written(level)
        alike[name] = stands
    return alike


def check_shared(metric: Metric, first: Any, second: Any) -> None:
    """Raise ValueError if two models bring columns of their own that belong to both, with other values."""
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return
    one, other = ({metric.aliases.get(name, name): x for name, x in model.items()} for model in (first, second))
    for column in SHARED:
        if column in one and column in other and column != COUNTS:  # `pairs_of` reports counts that differ
            both = one[column], other[column]
            if any(isinstance(x, Iterator) for x in both):  # which can be read once
                continue
            if not are_alike(*(map(rows_of_groups, both) if column == GROUPS else both)):
                raise ValueError(f"{column}: expected the same of first and of second, got others")


def _check_indices(first: Any, second: Any) -> None:
    """Raise ValueError if pandas columns of two models have indices in different orders."""
    columns: dict[str, Any] = {}
    for which, model in (("first", first), ("second", second)):
        columns_of_model = model if isinstance(model, Mapping) else {"predictions": model}
        columns |= {f"{which}_{name}": column for name, column in columns_of_model.items()}
    check_indices(**columns)


def _prepared(metric: Metric, model: Any, shared: Mapping[str, Any], name: str) -> Iterable[Part]:
    columns = model if isinstance(model, Mapping) else {"predictions": model}
    both = {metric.aliases.get(column, column) for column in shared}
    twice = [column for column in columns if metric.aliases.get(column, column) in both]
    if twice:
        raise TypeError(f"{twice[0]}: expected it of {name} or of both models, got both")
    try:
        return metric.prepared_parts(**columns, **shared)
    except (ValueError, TypeError) as error:
        if str(error).partition(":")[0] not in columns:
            raise
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{name}_{error}") from error
