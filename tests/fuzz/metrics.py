"""Columns and options of the metrics: what is refused leaves the metric as it was, and no input is changed."""

from __future__ import annotations

import functools
from random import Random
from typing import Any, NamedTuple

import numpy as np

import openworld_metrics
from openworld_metrics.loading import metric_class
from tests import cases
from tests.fuzz.engine import Case, Refused, Target
from tests.fuzz.fingerprint import batches_of, check_results, check_same, fingerprint
from tests.fuzz.values import anything, changed
from tests.splitting import length, split_options

HUGE = 1000  # thresholds: what more of them cost is what a caller wants
FOUR = ("open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels")


class Batch(NamedTuple):
    """Columns and options of a metric, those at load and those at compute; columns of a good batch before it."""

    columns: dict[str, Any]
    at_load: dict[str, Any]
    at_compute: dict[str, Any]
    before: dict[str, Any]


def make(name: str, rng: Random) -> Batch:
    """A random case of the tests of the metrics."""
    columns, options = cases.draw(name, rng.randrange(1 << 30))
    if rng.random() < 0.2:
        columns = cases.with_groups(columns, rng.getrandbits(32))
    if "counts" in metric_class(name).columns and rng.random() < 0.2:
        counts = np.random.default_rng(rng.getrandbits(32)).integers(1, 4, length(columns))
        columns = {**columns, "counts": counts}
    at_load, at_compute = split_options(name, options)
    return Batch(columns, at_load, at_compute, {key: cases.as_lists(column) for key, column in columns.items()})


def damage_columns(name: str, rng: Random, value: Batch) -> Batch:
    """Something wrong with a column, or with which columns there are."""
    columns = {key: column if rng.random() < 0.5 else cases.as_lists(column) for key, column in value.columns.items()}
    for _ in range(rng.choice((1, 1, 2))):
        key, way = rng.choice([*columns]), rng.random()
        if way < 0.85:
            columns[key] = changed(rng, columns[key])
        elif way < 0.9:
            columns[rng.choice((*FOUR, *metric_class(name).columns, "y", "labels"))] = anything(rng)
        elif way < 0.95:
            columns[key] = tuple(columns.values())
        elif len(columns) > 1:
            del columns[key]
    return value._replace(columns=columns)


def damage_options(name: str, rng: Random, value: Batch) -> Batch:
    """Something wrong with an option, or with which options there are."""
    known = metric_class(name).options
    at_load, at_compute = dict(value.at_load), dict(value.at_compute)
    for _ in range(rng.choice((1, 1, 2))):
        options = rng.choice((at_load, at_compute))
        key = rng.choice((*known, *known, "num_process", "x"))
        here = changed(rng, options[key]) if key in options and rng.random() < 0.5 else anything(rng)
        options[key] = HUGE if key == "num_thresholds" and isinstance(here, (int, float)) and here > HUGE else here
    return value._replace(at_load=at_load, at_compute=at_compute)


def run(name: str, case: Case) -> None:
    """Load, add the good batch, add the other, compute: each may refuse, and then is as if it had not been called."""
    value: Batch = case.value
    given = fingerprint((value.columns, value.at_load, value.at_compute))
    metric = case.attempt(functools.partial(metric_class(name), **value.at_load))
    if isinstance(metric, Refused):
        return
    case.attempt(lambda: metric.add_batch(**value.before))
    good = batches_of(metric)
    if isinstance(case.attempt(lambda: metric.add_batch(**value.columns)), Refused):
        check_same(good, batches_of(metric), "the metric after a batch that it refused")
    _compute(case, metric, value.at_compute)
    if isinstance(case.attempt(lambda: metric.compute(**value.columns, **value.at_compute)), Refused):
        check_same((0, fingerprint({})), batches_of(metric), "the metric after a compute that it refused")
    check_same(given, fingerprint((value.columns, value.at_load, value.at_compute)), "an input")


def _compute(case: Case, metric: Any, options: dict[str, Any]) -> None:
    before = batches_of(metric)
    results = case.attempt(lambda: metric.compute(**options))
    if isinstance(results, Refused):
        check_same(before, batches_of(metric), "the metric after a compute that it refused")
        metric.reset()
        return
    check_results(results, bool({**metric.loaded_options, **options}.get("percent")))


TARGETS = [
    *(
        Target(
            f"columns of {name}",
            functools.partial(make, name),
            functools.partial(damage_columns, name),
            functools.partial(run, name),
        )
        for name in openworld_metrics.METRICS
    ),
    *(
        Target(
            f"options of {name}",
            functools.partial(make, name),
            functools.partial(damage_options, name),
            functools.partial(run, name),
        )
        for name in openworld_metrics.METRICS
    ),
]
