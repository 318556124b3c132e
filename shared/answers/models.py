"""Models and groups beside each other: paired differences, marks of the best, sentences, and tables of results."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ..metric.groups import prefixes
from ..metric.results import Count, Key, Rate, Summary, kind_of
from ..metric.rounding import DIGITS, TOO_FEW, decimal_text, number_text
from .answer import NO_DIFFERENCE, Difference, Table
from .computing import Computation
from .subject import Computed, Subject

MAX_LEADING = 3  # numbers of the headline
MAX_SENTENCES = 5  # the most rivals of the best that get one
Marks = Mapping[Key, Sequence[str]]  # the best models of each rate


def scalars(results: Mapping[str, Any]) -> dict[str, Any]:
    """The results that are numbers: rates, counts and thresholds, but no tables or lists."""
    return {key: result for key, result in results.items() if isinstance(result, (Rate, Count, int, float))}


def plain(result: Any) -> Any:
    """The value of a rate or a count as a plain number; other results as they are."""
    return result.value if isinstance(result, (Rate, Count)) else result


def plural(noun: str) -> str:
    """The plural of a regular noun, of the first word of several.

    >>> plural("detector"), plural("category"), plural("set of maps")
    ('detectors', 'categories', 'sets of maps')
    """
    word, space, rest = noun.partition(" ")
    return (f"{word[:-1]}ies" if word.endswith("y") else f"{word}s") + space + rest


def leading_keys(subject: Subject, summary: Summary) -> list[str]:
    """At most three keys that lead: the first that match the subject's patterns, or else the first results."""
    keys = scalars(summary.results)
    chosen = dict.fromkeys(key for pattern in subject.leading for key in keys if re.fullmatch(pattern, key))
    return [*(chosen or keys)][:MAX_LEADING]


def mean_over(subject: Subject, summary: Summary) -> str:
    """The groups that numbers are means over, such as "mean of 3 sets"; an only one, as in "set svhn"; else ""."""
    groups = {*(summary.groups or ())}
    leaves = groups - prefixes(groups)
    noun = subject.below or subject.group if any("/" in name for name in leaves) else subject.group
    if len(leaves) > 1:
        return f"{summary.mean_name} of {len(leaves):,} {plural(noun)}"
    return next((f"{noun} {name}" for name in leaves), "")


def models_table(subject: Subject, summaries: Mapping[str, Summary], marks: Marks) -> Table:
    """The models as rows; columns are the leading numbers, then all with a direction, or all if none has one."""
    every = {key: result for summary in summaries.values() for key, result in scalars(summary.results).items()}
    directed = [key for key, result in every.items() if kind_of(result).get("higher") is not None]
    keys = [*dict.fromkeys([*leading_keys(subject, next(iter(summaries.values()))), *(directed or every)])]
    names, rows = [*summaries], [summary.results for summary in summaries.values()]
    best = [(names.index(name), key) for key, alike in marks.items() if isinstance(key, str) for name in alike]
    return _table(f"All numbers of {len(names)} {plural(subject.noun)}", subject.noun, names, rows, keys, best)


def group_table(subject: Subject, computed: Computed) -> Table:
    """The groups of a model as rows, first the means, last all pooled; columns are numbers, the leading first."""
    groups = dict(computed.summary.groups or {})
    means = sorted(prefixes(groups))
    rows = {name: groups[name] for name in [*means, *(name for name in groups if name not in means)]}
    first = len(means)
    if len(groups) > 1:
        rows, first = {mean_over(subject, computed.summary): computed.summary.results, **rows}, first + 1
    if computed.pooled is not None:
        rows["pooled"] = computed.pooled.results
    leading = leading_keys(subject, computed.summary)
    keys = [*dict.fromkeys([*leading, *scalars(computed.summary.results)])]
    title = f"{computed.model} by {subject.group}" if computed.rivals else f"By {subject.group}"
    table = _table(title, subject.group, [*rows], [*rows.values()], keys)
    return replace(table, first=first)


def group_models_table(subject: Subject, summaries: Mapping[str, Summary], marks: Marks, key: str, title: str) -> Table:
    """A key of all models by group: groups are rows, models are columns."""
    groups = [*(next(iter(summaries.values())).groups or ())]
    of_models = {name: summary.groups or {} for name, summary in summaries.items()}
    rows = [
        {name: by_group[group][key] for name, by_group in of_models.items() if key in by_group.get(group, {})}
        for group in groups
    ]
    best = [(i, name) for i, group in enumerate(groups) for name in marks.get((group, key), ())]
    return _table(f"{title} by {subject.group}", subject.group, groups, rows, [*of_models], best)


def _table(
    title: str,
    noun: str,
    names: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    best: Sequence[tuple[int, str]] = (),
) -> Table:
    """A table of results, a row for each name and a column for each key."""
    kinds = {key: next((kind_of(row[key]) for row in rows if key in row), {}) for key in keys}
    intervals = {key: [getattr(row.get(key), "interval", None) for row in rows] for key in keys}
    return Table(
        title,
        {noun: names, **{key: [plain(row.get(key)) for row in rows] for key in keys}},
        [key for key in keys if kinds[key].get("share")],
        best,
        intervals={key: each for key, each in intervals.items() if any(each)},
        higher={key: kinds[key]["higher"] for key in keys if kinds[key].get("higher") is not None},
    )


def result_tables(summary: Summary) -> list[Table]:
    """The tables and lists among the results; the rows of a list are numbered from 1."""
    tables, shares = [], {key for key, kind in summary.kinds().items() if kind.get("share")}
    for key, value in summary.results.items():
        if isinstance(value, Mapping):
            tables.append(Table(key, value, [name for name in value if name in shares]))
        elif hasattr(value, "__iter__") and not isinstance(value, (str, Rate, Count)):
            rows = [np.asarray(row).tolist() for row in value]  # of scikit-learn, they may be lists
            cells = [str(row) if isinstance(row, list) else row for row in rows]
            tables.append(Table(key, {"place": [*range(1, len(cells) + 1)], key: cells}))
    return tables


def differences_of(summaries: Mapping[str, Summary], done: Computation, best: str) -> list[Difference]:
    """The paired differences of every two models, as of `compare`; best − rival comes first."""
    order = sorted(summaries, key=lambda name: name != best)
    keys = {key for summary in summaries.values() for key in summary.rates()}
    rows = []
    for first, second in combinations(order, 2) if done.comparisons else ():
        rates = summaries[first].rates()
        for key, row in done.compared(first, second).rows().items():
            if key not in keys:
                continue
            group, name = ("", key) if isinstance(key, str) else key
            better = {"first": first, "second": second, None: ""}[row["better"]]
            values, numbers = (
                (row["first"], row["second"]),
                (row["difference"], row["low"], row["high"], row["p_value"]),
            )
            rows.append(Difference(first, second, name, values, *numbers, better, rates[key].higher, group))
    return rows


def best_of(summaries: Mapping[str, Summary], key: Key) -> str:
    """The model with the best value of a rate, the first of equals; "" for a rate without a direction."""
    return _best({name: summary.rates().get(key) for name, summary in summaries.items()})


def _best(rates: Mapping[str, Rate | None]) -> str:
    directed = {name: rate for name, rate in rates.items() if rate is not None and rate.higher is not None}
    values = {name: rate.value if rate.higher else -rate.value for name, rate in directed.items()}
    return max(values, key=lambda name: values[name]) if values else ""


def marked(summaries: Mapping[str, Summary], differences: Sequence[Difference]) -> dict[Key, list[str]]:
    """The best models of each rate: the one with the best value, and all that a comparison cannot tell from it.

    None are for a rate of which the best was not compared with all others.
    """
    if not differences:
        return {}
    pairs = {(row.first, row.second, row.group, row.key): row for row in differences}
    rates = {name: summary.rates() for name, summary in summaries.items()}
    marks: dict[Key, list[str]] = {}
    for key in {key: None for model_rates in rates.values() for key in model_rates}:
        best = _best({name: model_rates.get(key) for name, model_rates in rates.items()})
        place = ("", key) if isinstance(key, str) else key
        rows = {
            name: pairs.get((best, name, *place), pairs.get((name, best, *place))) for name in summaries if name != best
        }
        if best and rows and None not in rows.values():
            alike = [name for name in summaries if name == best or rows[name].better == ""]  # type: ignore[union-attr]
            marks[key] = alike
    return marks


def verdicts_of(differences: Sequence[Difference], best: str, key: str, title: str, *, minus: str = "−") -> list[str]:
    """A sentence on the best model and each rival, of at most five, the closest first.

    >>> row = Difference("knn", "energy", "auroc", (0.820, 0.817), 0.003, -0.019, 0.025, 0.8, "", True)
    >>> verdicts_of([row], "knn", "auroc", "AUROC")
    ['knn vs energy: AUROC +0.003 [−0.019, 0.025], no clear difference']
    """
    rows = [row for row in differences if (row.first, row.key, row.group) == (best, key, "")]
    rows.sort(key=lambda row: row.difference if row.higher else -row.difference)
    sentences = []
    for row in rows[:MAX_SENTENCES]:
        verdict = f"{row.better} is better" if row.better else NO_DIFFERENCE
        numbers = (_shown(value, bool(row.better)) for value in (row.difference, row.low, row.high))
        difference, low, high = (text.replace("-", minus) for text in numbers)
        sign, ends = "+" * (row.difference >= 0), f"[{low}, {high}]" if math.isfinite(row.low) else TOO_FEW
        sentences.append(f"{best} vs {row.second}: {title} {sign}{difference} {ends}, {verdict}")
    return sentences


def _shown(value: float, more: bool) -> str:
    """A number with three decimals; with `more` where it would wrongly read 0, in a difference.

    >>> _shown(-0.00025, False), _shown(-0.00025, True)
    ('-0.000', '-0.00025')
    """
    return number_text(value) if more else decimal_text(value, DIGITS)
