"""Columns and options of the metrics: what is refused leaves the metric as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np

from openworld_metrics import METRICS
from openworld_metrics.loading import metric_class
from openworld_metrics.metric.bootstrap import MAX_RESAMPLES
from openworld_metrics.metric.groups import MAX_LENGTH, MAX_SLASHES
from tests import cases
from tests.fuzz.engine import (
    BrokenError,
    Case,
    Input,
    Refused,
    Target,
    check_results,
    check_same,
    fingerprint,
    samples_of,
)
from tests.fuzz.values import NUMBERS, anything, changed
from tests.splitting import length, split_options

MOST = {"num_thresholds": 1000, "n_resamples": 20}  # what more of them cost is what a caller wants


def make(name: str, rng: Random) -> Input:
    """A random case of the tests of the metrics, the same columns as a good batch, options at load and at compute."""
    columns, options = random_case(name, rng)
    if "counts" in metric_class(name).columns and rng.random() < 0.2:
        columns["counts"] = np.random.default_rng(rng.getrandbits(32)).integers(1, 4, length(columns))
    if name != "openset_detection" and rng.random() < 0.3:
        options |= {
            "confidence_level": rng.choice((0.5, 0.95)),
            "n_resamples": rng.choice((1, 2, 20)),
            "random_state": 3,
        }
    at_load, at_compute = split_options(name, options)
    before = {key: cases.as_lists(column) for key, column in columns.items()}
    shown = columns if rng.random() < 0.5 else dict(before)
    return Input({}, {"columns": shown, "before": before, "at_load": at_load, "at_compute": at_compute})


def random_case(name: str, rng: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns and options, with groups now and then."""
    columns, options = cases.draw(name, rng.randrange(1 << 30))
    return cases.with_groups(columns, rng.getrandbits(32)) if rng.random() < 0.2 else dict(columns), options


def damage_columns(name: str, rng: Random, value: Input) -> Input:
    """Something wrong with a column, or with which columns there are."""
    columns = dict(value.values["columns"])
    key, way = rng.choice([*columns]), rng.random()
    if way < 0.85:
        columns[key] = changed(rng, columns[key])
    elif way < 0.9:
        columns[rng.choice((*metric_class(name).columns, "open_set_pred_known", "y", "labels"))] = anything(rng)
    elif way < 0.95:
        columns["groups"] = _odd_names(rng, length(columns))
    elif len(columns) > 1:
        del columns[key]
    return value.with_value(columns=columns)


def _odd_names(rng: Random, number: int) -> list[Any]:
    """Names of groups, of which some are deep, long, empty or of another type."""
    part = rng.choice(("a/", "/", "a", "é/", "a" * 90 + "/", "=1+1/"))
    odd = part * rng.choice((1, MAX_SLASHES, MAX_SLASHES + 1, MAX_LENGTH, 100_000)) + rng.choice(("a", "", "/"))
    other = rng.choice((odd, odd, None, "", 7, 1.5, float("nan"), 10**400, True, b"a", ["a"]))
    return [rng.choice(("near", "far/b", other)) for _ in range(number)]


def damage_options(name: str, rng: Random, value: Input) -> Input:
    """Something wrong with an option, or with which options there are."""
    when = rng.choice(("at_load", "at_compute"))
    return value.with_value(
        **{when: _other_option(rng, value.values[when], (*metric_class(name).options, "num_process"))}
    )


def _other_option(rng: Random, options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    key = rng.choice((*names, *names, *options, "x"))
    here = changed(rng, options[key]) if key in options and rng.random() < 0.5 else anything(rng)
    if key == "n_resamples" and rng.random() < 0.5:
        here = rng.choice(NUMBERS)
    if key in MOST and isinstance(here, (int, float)) and MOST[key] < here <= MAX_RESAMPLES:
        here = MOST[key]
    return {**options, key: here}


def run(name: str, case: Case) -> None:
    """Load, add the good batch, add the other, compute: each may refuse, and then is as if it had not been called."""
    columns, options = case.values["columns"], case.values["at_compute"]
    metric = case.attempt(metric_class(name), **case.values["at_load"])
    if isinstance(metric, Refused):
        return
    case.attempt(metric.add_batch, **case.values["before"])
    good = samples_of(metric)
    if isinstance(case.attempt(lambda: metric.add_batch(**columns)), Refused):
        check_same(good, samples_of(metric), "the metric after a batch that it refused")
    before = samples_of(metric)
    results = case.attempt(lambda: metric.compute(**options))
    if isinstance(results, Refused):
        check_same(before, samples_of(metric), "the metric after a compute that it refused")
        metric.reset()
    else:
        check_results(results, bool({**metric.loaded_options, **options}.get("percent")))
        for key in [key for key in results if f"{key}_low" in results]:
            if not results[f"{key}_low"] <= results[f"{key}_high"]:
                raise BrokenError("an interval is none", results)
        if max(map(len, results.get("groups", {}).get("group", ())), default=0) > MAX_LENGTH:
            raise BrokenError("a name of a group is too long", results["groups"]["group"])
    if isinstance(case.attempt(lambda: metric.compute(**columns, **options)), Refused):
        check_same((0, fingerprint({})), samples_of(metric), "the metric after a compute that it refused")


def _target(name: str, damage: Callable[[str, Random, Input], Input]) -> Target:
    return Target(partial(make, name), partial(run, name), partial(damage, name))


TARGETS = {
    **{f"columns of {name}": _target(name, damage_columns) for name in METRICS},
    **{f"options of {name}": _target(name, damage_options) for name in METRICS},
}
