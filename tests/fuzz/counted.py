"""Parts of a metric's samples as states, some with counts: merged, they have the results of the samples."""

from __future__ import annotations

import functools
from random import Random
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from openworld_metrics import METRICS
from openworld_metrics.arrays.compacting import compact_table
from openworld_metrics.loading import metric_class
from openworld_metrics.metric import metric as metric_module
from openworld_metrics.metric.groups import as_parts
from openworld_metrics.metric.states import num_samples
from tests import cases
from tests.fuzz import states
from tests.fuzz.engine import BrokenError, Case, Refused, Target
from tests.fuzz.fingerprint import batches_of, check_same, fingerprint
from tests.splitting import batches

ROWS = 4  # beyond which the metric counts its rows


class Parts(NamedTuple):
    """A metric's name, states of parts of its samples, its options, and all columns."""

    name: str
    parts: list[states.State]
    options: dict[str, Any]
    columns: dict[str, Any]


def make(rng: Random) -> Parts:
    """Batches of a random case, each as it is or counted, with scores that are cut now and then."""
    name = rng.choice(METRICS)
    columns, options = cases.draw(name, rng.randrange(1 << 30))
    if "significant_bits" in metric_class(name).options and rng.random() < 0.4:
        options["significant_bits"] = rng.choice((4, 7, 20, 52))
    parts = []
    for batch in batches(columns, np.random.default_rng(rng.getrandbits(64))):
        metric = metric_class(name)(**options)
        metric.add_batch(**batch)
        state = metric.state()
        parts.append(_counted(name, state) if state and rng.random() < 0.6 else state)
    rng.shuffle(parts)
    return Parts(name, parts, options, columns)


def _counted(name: str, state: states.State) -> states.State:
    for counts, columns in metric_class(name).countable_tables.items():
        state = dict(compact_table(state, columns, counts))
    return state


def damage(rng: Random, value: Parts) -> Parts:
    """Something wrong with a part, or one of other options."""
    i = rng.randrange(len(value.parts))
    if rng.random() < 0.2:
        part = rng.choice(make(rng).parts)
    else:
        merge = states.Merge(value.parts[i], {}, {}, None)
        part = states.damage(value.name, rng, merge).state
    return value._replace(parts=[*value.parts[:i], part, *value.parts[i + 1 :]])


def run(case: Case) -> None:
    """Merge the parts, compute."""
    value: Parts = case.value
    with mock.patch.object(metric_module, "ROWS", ROWS):
        metric = metric_class(value.name)(**value.options)
        metric.reset()
        for part in value.parts:
            before, given = batches_of(metric), fingerprint(part)
            if isinstance(case.attempt(functools.partial(metric.merge, part)), Refused):
                check_same(before, batches_of(metric), "the metric after a state that it refused")
            check_same(given, fingerprint(part), "a state")
        number = len(metric)
        if sum(map(_size, metric.states())) != number:
            raise BrokenError("the parts of a metric have not all of its samples", number)
        results = case.attempt(metric.compute)
    if case.whole:
        expected = metric_class(value.name)(**value.options).compute(**value.columns)
        check_same(expected, results, "the result of counted parts")


def _size(state: dict[str, Any]) -> int:
    own = {name: array for name, array in state.items() if name != "metric"}
    return sum(map(num_samples, as_parts(own).values()))


TARGETS = [Target("states in parts", make, damage, run)]
