"""Typed results: rates with their direction, counts and tables; and their conversion to a plain dict."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from .groups import GROUPS, is_below, prefixes
from .rounding import number_text

FEW_CLUSTERS = 10  # below which an interval is often too narrow
Interval = tuple[float, float]
Key = str | tuple[str, str]  # of a rate: its name, or its group and its name
ARITHMETIC, HARMONIC = "arithmetic", "harmonic"  # means over groups


class Rate(NamedTuple):
    """A real-valued result: a rate, an area, a ratio or a loss."""

    value: float
    higher: bool | None  # whether higher is better; None if neither direction is
    share: bool = True  # whether it is a share, in [0, 1], which may be shown in percent
    error: float | None = None  # a bound on |value − value of the uncut scores|; None if no scores were cut
    threshold: float | None = None  # of the decisions score > threshold; None if there is none, or none is shown
    interval: Interval | None = None  # the bounds of its confidence interval

    def text(self, digits: int | None = None, *, percent: bool = False) -> str:
        """The value as text, as by `number_text`; with `percent`, a share is in percent."""
        return number_text(self.value, digits, percent=percent and self.share)


class Count(NamedTuple):
    """A count with a direction: fewer or more is better; counts without one are plain integers."""

    value: int
    higher: bool


Results = dict[str, Any]  # by key: a Rate, a count (Count or int), a threshold (float) or a table (list or dict)


def as_dict(results: Mapping[str, Any]) -> dict[str, Any]:
    """Results as plain numbers and tables: `key`, then `key_low`, `key_high`, `key_error` and `key_threshold`.

    >>> as_dict({"auroc": Rate(0.5, True, interval=(0.25, 0.75)), "images": 3})
    {'auroc': 0.5, 'auroc_low': 0.25, 'auroc_high': 0.75, 'images': 3}
    """
    plain: dict[str, Any] = {}
    for key, result in results.items():
        if not isinstance(result, Rate):
            plain[key] = result.value if isinstance(result, Count) else result
            continue
        plain[key] = result.value
        if result.interval is not None:
            plain[f"{key}_low"], plain[f"{key}_high"] = result.interval
        if result.error is not None:
            plain[f"{key}_error"] = result.error
        if result.threshold is not None:
            plain[f"{key}_threshold"] = result.threshold
    return plain


class Draws(NamedTuple):
    """The clusters that intervals were drawn from."""

    clusters: int  # how many there are
    fewest: int  # how many have samples of a class that results need, of the class and the group with the fewest
    redrawn: int  # resamples that lacked a class, and were drawn again

    def text(self, noun: str = "cluster") -> str:
        """How many were drawn, which resamples were drawn again, and whether there are too few, in words.

        >>> Draws(40, 20, 0).text("speaker"), Draws(12, 6, 3).text()
        ('40 speakers drawn', '12 clusters drawn, fewer than 10 of one class; 3 resamples lacked a class, drawn again')
        """
        few = f", fewer than {FEW_CLUSTERS} of one class" if self.fewest < FEW_CLUSTERS else ""
        again = f"; {self.redrawn:,} resamples lacked a class, drawn again" if self.redrawn else ""
        return f"{self.clusters:,} {noun}s drawn{few}{again}"


def all_draws(parts: Iterable[Draws | None]) -> Draws | None:
    """The clusters of parts that have none in common; None where none has clusters."""
    drawn = [part for part in parts if part is not None]
    if not drawn:
        return None
    clusters, fewest, redrawn = zip(*drawn)
    return Draws(sum(clusters), min(fewest), sum(redrawn))


class Summary(NamedTuple):
    """Results of all samples or, where there are groups, means over them and the results of each."""

    results: Results  # of all samples, or the means
    # by name, sorted, the results of each group and of each part of a name before a slash; None without groups
    groups: Mapping[str, Results] | None = None
    signature: str = ""  # of the metric that computed them
    options: Mapping[str, Any] = MappingProxyType({})  # of this metric, those that are not the defaults, for JSON
    overlapping: bool = False  # whether some sample is of several groups, but not of all
    drawn: Draws | None = None  # the clusters that its intervals were drawn from; None where rows were drawn

    @property
    def mean_name(self) -> str:
        """The name of the mean over groups: "mean", or "harmonic mean"."""
        return "harmonic mean" if self.options.get("groups_mean") == HARMONIC else "mean"

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, and `groups` as a table: {"group": [names, sorted], key: [values]}."""
        plain = as_dict(self.results)
        if self.groups is None:
            return plain
        rows = {name: as_dict(row) for name, row in self.groups.items()}
        keys = dict.fromkeys(key for row in rows.values() for key in row)
        return {**plain, GROUPS: {"group": [*rows], **{key: [row.get(key) for row in rows.values()] for key in keys}}}

    def rates(self) -> dict[Key, Rate]:
        """Rates by key, and rates of groups by (group, key)."""
        rates: dict[Key, Rate] = rates_of(self.results)
        for name, row in (self.groups or {}).items():
            rates |= {(name, key): rate for key, rate in rates_of(row).items()}
        return rates

    def kinds(self) -> dict[str, dict[str, Any]]:
        """Describe each key as JSON: its `kind`, whether `higher` is better, whether it is a `share`."""
        rows = [self.results, *(self.groups or {}).values()]
        return {key: kind_of(result) for row in reversed(rows) for key, result in row.items()}

    def record(self) -> dict[str, Any]:
        """The entries that describe saved results: the kinds of their keys, their signature and their options."""
        return {"kinds": self.kinds(), "signature": self.signature, "options": dict(self.options)}

    def with_intervals(self, intervals: Mapping[Key, Interval]) -> Summary:
        """A copy with intervals added to the rates that have one."""

        def bounded(row: Results, group: str | None = None) -> Results:
            bounds = {key: intervals.get(key if group is None else (group, key)) for key in row}
            return {key: x if bounds[key] is None else x._replace(interval=bounds[key]) for key, x in row.items()}

        groups = self.groups and {name: bounded(row, name) for name, row in self.groups.items()}
        return self._replace(results=bounded(self.results), groups=groups)


def kind_of(result: Any) -> dict[str, Any]:
    """Describe the kind of a result as a dict for JSON."""
    if isinstance(result, Rate):
        return {"kind": "rate", "higher": result.higher, "share": result.share}
    if isinstance(result, Count):
        return {"kind": "count", "higher": result.higher}
    return {"kind": {int: "count", float: "threshold"}.get(type(result), "table")}


def rates_of(results: Mapping[Any, Any]) -> dict[Any, Rate]:
    """The rates among results."""
    return {key: result for key, result in results.items() if isinstance(result, Rate)}


SKIPPED = "groups_skipped"  # a count, also of the only group where there are no others


def summary_of_groups(
    by_group: Mapping[str, Results], *, skipping: bool = False, groups_mean: str = ARITHMETIC
) -> Summary:
    """The unweighted mean of each rate over the groups, the sum of each count, and a row for each group.

    groups_mean: the kind of the mean, of `MEANS`
    A group with a slash in its name, such as category/defect, adds a row for each part before a slash: the mean of the
    groups below it. Tables, thresholds and intervals have no mean, nor do results that a group lacks; when skipping,
    the mean is over the other groups, and `groups_skipped` counts the groups that lack any rate that others have, or
    that have this key, since they lack a level that no other has either.

    >>> of_groups = {"nut/cut": {"auroc": Rate(1.0, True), "images": 3}, "nut/bent": {"auroc": Rate(0.5, True)}}
    >>> summary = summary_of_groups(of_groups)
    >>> summary.results["auroc"].text(), summary.as_dict()["groups"]["auroc"]
    ('0.750', [0.75, 0.5, 1.0])
    """
    rows = {name: {key: result for key, result in row.items() if key != SKIPPED} for name, row in by_group.items()}
    skipped = {name for name, row in by_group.items() if SKIPPED in row}
    by_group = dict(rows)
    for prefix in prefixes(by_group):
        below = [row for name, row in by_group.items() if is_below(name, prefix)]
        rows[prefix] = mean_results(below, skipping=skipping, groups_mean=groups_mean)
    means = mean_results([*by_group.values()], skipping=skipping, groups_mean=groups_mean)
    if skipping:
        keys = {key for row in by_group.values() for key in rates_of(row)}
        means[SKIPPED] = sum(name in skipped or not keys <= row.keys() for name, row in by_group.items())
    in_numbers = all(name.removeprefix("-").isdecimal() for name in rows)
    names = sorted(rows, key=int if in_numbers else None)
    return Summary(means, {name: rows[name] for name in names})


def mean_results(rows: Sequence[Results], *, skipping: bool = False, groups_mean: str = ARITHMETIC) -> Results:
    """The mean of each rate and the sum of each count that all rows have; when skipping, over the rows that have it."""
    means: Results = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        column: list[Any] = [row.get(key) for row in rows if key in row or not skipping]
        if all(type(result) is int for result in column):
            means[key] = sum(column)
        elif all(isinstance(result, Count) for result in column):
            means[key] = Count(sum(result.value for result in column), column[0].higher)
        elif all(isinstance(result, Rate) for result in column):
            means[key] = _mean_rate(column, key, groups_mean)
    return means


def mean(values: Iterable[float]) -> float:
    """The mean, from an exact sum: the order of the values does not matter."""
    values = [*values]
    return math.fsum(values) / len(values)


def harmonic_mean(values: Iterable[float]) -> float:
    """n/Σ 1/x, and 0 where one is 0, from an exact sum; NaN if one is negative or NaN.

    >>> harmonic_mean([1.0, 2 / 3]), harmonic_mean([0.5, 0.0])
    (0.8, 0.0)
    """
    values = [*values]
    if not all(value >= 0 for value in values):
        return math.nan
    # one of less than 2^-1022 has an infinite reciprocal
    return len(values) / math.fsum(1 / value for value in values) if min(values) >= sys.float_info.min else 0.0


MEANS: Mapping[str, Callable[[Iterable[float]], float]] = {ARITHMETIC: mean, HARMONIC: harmonic_mean}


def check_mean(groups_mean: str, key: str, lowest: float, where: str = "") -> None:
    """Raise ValueError if rates of which one is below 0, such as gains, are to have a harmonic mean."""
    if groups_mean == HARMONIC and lowest < 0:
        raise ValueError(f"groups_mean: expected rates of at least 0 for a harmonic mean, got {lowest} of {key}{where}")


def _mean_rate(rates: Sequence[Rate], key: str, groups_mean: str) -> Rate:
    values, errors = [rate.value for rate in rates], [rate.error for rate in rates if rate.error is not None]
    check_mean(groups_mean, key, min(values))
    value = MEANS[groups_mean](values)
    error = _mean_error(value, values, errors, groups_mean) if len(errors) == len(rates) else None
    return rates[0]._replace(value=value, error=error, threshold=None, interval=None)


def _mean_error(value: float, values: Sequence[float], errors: Sequence[float], groups_mean: str) -> float:
    """The error of a mean of values with errors, rounded up."""
    if not any(errors):
        return 0.0
    if groups_mean == ARITHMETIC:
        return mean(errors) * (1 + 2**-50) + 2**-50  # each was rounded twice
    # it rises with each value, by at most as many times as there are values
    ends = (harmonic_mean([max(0.0, x + sign * e) for x, e in zip(values, errors)]) for sign in (-1, 1))
    return max(abs(end - value) for end in ends) * (1 + 2**-50) + len(values) * 2**-50


def check_thresholds_exist(results: Results) -> None:
    """Raise ValueError for an operating point that only samples which score −inf reach."""
    for name, rate in rates_of(results).items():
        if rate.threshold is not None and math.isnan(rate.threshold):
            raise ValueError(
                f"thresholds: expected scores above -inf where {name} is reached, "
                "since no threshold is exceeded by -inf"
            )
