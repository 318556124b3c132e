"""Which models do not differ from the best, by a paired bootstrap of the samples that saved results keep."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...arrays.options import as_confidence_level
from ...comparison import Comparison, compared, differences_of_parts
from ...evaluation.samples import SAMPLES, metric_of
from ...formats.reasons import named
from ...metric.metric import Metric
from ...metric.results import Key
from ..directions import direction_of
from ..tables import OVERALL, Place, numbers_of

_RESAMPLES = 1000


def undecided(results: Mapping[str, Mapping[str, Any]], confidence_level: float = 0.95) -> dict[Place, bool]:
    """Whether each number, (file, group, key), may be as good as the best of its group and key.

    The best is compared with each of the others by `compare`, on the same samples. With m others and Holm's correction,
    their p-values in ascending order p_1 ≤ … ≤ p_m differ from the best up to the first

        p_i > (1 − confidence_level) / (m − i + 1).

    Parameters: results by name, which say the directions of their keys, and keep their samples; confidence_level.
    Returns a truth value for each number that could be compared: not those of files without samples, of other samples
    than the best has, and of keys whose direction is not known. Numbers equal to the best are no better or worse.
    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 1979.
    """
    chance = 1 - as_confidence_level(confidence_level)
    keeping = {name: result for name, result in results.items() if SAMPLES in result}
    kinds = {key: kind for result in keeping.values() for key, kind in result.get("kinds", {}).items()}
    columns: dict[tuple[str, str], dict[str, float]] = {}
    for name, result in keeping.items():
        for group, row in numbers_of(result).items():
            for key, value in row.items():
                if not math.isnan(value):
                    columns.setdefault((group, key), {})[name] = value
    metrics = {}
    for name, result in keeping.items():
        with named(name):
            metrics[name] = metric_of(result[SAMPLES])
    models = _Models(metrics, max(_RESAMPLES, math.ceil(4 * len(keeping) / chance)))
    alike: dict[Place, bool] = {}
    for (group, key), values in columns.items():
        known = direction_of(key, kinds)
        if known is None or len(values) < 2:
            continue
        best = (max if known.higher else min)(values, key=lambda name: values[name])
        place: Key = key if group == OVERALL else (group, key)
        p_values = {name: models.p_value(best, name, place) for name in values if name != best}
        alike |= {(name, group, key): kept for name, kept in not_rejected(p_values, chance).items()}
    return alike


def not_rejected(p_values: Mapping[str, float | None], chance: float) -> dict[str, bool]:
    """Whether each hypothesis stands after Holm's correction; None, which no test was made of, is left out.

    >>> not_rejected({"a": 0.01, "b": 0.04, "c": 0.03, "d": None}, 0.05)
    {'a': False, 'c': True, 'b': True}
    """
    known = {name: p for name, p in p_values.items() if p is not None}
    kept, stands = {}, False
    for i, (name, p) in enumerate(sorted(known.items(), key=lambda pair: pair[1])):
        stands = stands or p > chance / (len(known) - i)
        kept[name] = stands
    return kept


class _Models:
    """Models by name, and their comparisons, each made once."""

    def __init__(self, metrics: Mapping[str, Metric], n_resamples: int) -> None:
        self._metrics, self._n_resamples = metrics, n_resamples
        self._compared: dict[Sequence[str], Comparison | None] = {}

    def p_value(self, first: str, second: str, key: Key) -> float | None:
        """That of the difference of two models in a key; None where they cannot be compared."""
        pair = (first, second)
        if pair not in self._compared:
            self._compared[pair] = self._compare(*pair)
        comparison = self._compared[pair]
        row = None if comparison is None else comparison.rows().get(key)
        return None if row is None else row["p_value"]

    def _compare(self, *names: str) -> Comparison | None:
        first, second = (self._metrics[name] for name in names)
        if first.name != second.name or first.loaded_options != second.loaded_options:
            return None
        parts = first.prepared(), second.prepared()
        try:
            return compared(differences_of_parts(*parts, n_resamples=self._n_resamples, random_state=0), 0.95)
        except ValueError:  # other samples
            return None
