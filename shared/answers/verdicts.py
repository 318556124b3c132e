"""Which model is better: paired differences of all pairs of models, what is marked as best, and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from ..comparison import compared, differences_of_parts
from ..metric.bootstrap import Part
from ..metric.numbers import DIGITS, decimal_text, number_text
from ..metric.results import Key, Rate, Summary
from .answer import Difference

MAX_SENTENCES = 5  # the most rivals of the best that get one
NO_DIFFERENCE = "no clear difference"


def differences_of(
    summaries: Mapping[str, Summary],
    parts: Mapping[str, Sequence[Part]],
    best: str,
    level: float,
    *,
    n_resamples: int,
    random_state: int,
    skipping: bool = False,
) -> list[Difference]:
    """The paired differences of every two models, as of `compare`; those of the best come first, best − rival.

    Parameters: the summary and the prepared parts of each model by name; the name of the best; all others as of
    `compare`. Raises ValueError where two models have other samples.
    """
    order = sorted(summaries, key=lambda name: name != best)
    kept = {key for summary in summaries.values() for key in summary.rates()}
    rows = []
    for first, second in combinations(order, 2):
        drawn = differences_of_parts(parts[first], parts[second], n_resamples=n_resamples, random_state=random_state)
        rates = summaries[first].rates()
        for key, row in compared(drawn, level, skipping=skipping).rows().items():
            if key not in kept:
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
    values = {name: _goodness(rate) for name, rate in rates.items() if rate is not None and rate.higher is not None}
    return max(values, key=lambda name: values[name]) if values else ""


def _goodness(rate: Rate) -> float:
    return rate.value if rate.higher else -rate.value


def marked(summaries: Mapping[str, Summary], differences: Sequence[Difference]) -> dict[Key, list[str]]:
    """The best models of each rate: the one with the best value, and all that a comparison cannot tell from it.

    None are for a rate of which the best was not compared with all others.
    """
    if not differences:
        return {}
    pairs = {(row.first, row.second, row.group, row.key): row for row in differences}
    rates = {name: summary.rates() for name, summary in summaries.items()}
    marks: dict[Key, list[str]] = {}
    for key in {key: None for own in rates.values() for key in own}:
        best = _best({name: own.get(key) for name, own in rates.items()})
        place = ("", key) if isinstance(key, str) else key
        rows = {
            name: pairs.get((best, name, *place), pairs.get((name, best, *place))) for name in summaries if name != best
        }
        if best and rows and None not in rows.values():
            alike = [name for name in summaries if name == best or rows[name].better == ""]  # type: ignore[union-attr]
            marks[key] = alike
    return marks


def verdicts_of(differences: Sequence[Difference], best: str, key: str, title: str) -> list[str]:
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
        difference, low, high = (_shown(value, bool(row.better)) for value in (row.difference, row.low, row.high))
        sign = "+" * (row.difference >= 0)
        sentences.append(f"{best} vs {row.second}: {title} {sign}{difference} [{low}, {high}], {verdict}")
    return sentences


def _shown(value: float, more: bool) -> str:
    """A number with three decimals and a true minus sign; with `more` where it would wrongly read 0, in a difference.

    >>> _shown(-0.00025, False), _shown(-0.00025, True)
    ('−0.000', '−0.00025')
    """
    return (number_text(value) if more else decimal_text(value, DIGITS)).replace("-", "−")
