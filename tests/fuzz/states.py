"""States from elsewhere: refused, and the metric is as it was; or taken, and then there are results or a ValueError.

The loops are compiled whatever the size, with their indices checked (NUMBA_BOUNDSCHECK, see runs.py).
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np

import openworld_metrics
from openworld_metrics.arrays import sorting, threads
from openworld_metrics.loading import metric_class
from tests import cases
from tests.fuzz.engine import BrokenError, Case, Refused, Target
from tests.fuzz.fingerprint import batches_of, check_results, check_same, fingerprint
from tests.fuzz.values import NUMBERS, anything, kind_of_array
from tests.splitting import length, rows, split_options

State = dict[str, Any]


class Merge(NamedTuple):
    """A state, the options of the metric that it comes to, and the columns of that metric's own batch, if any."""

    state: State
    at_load: dict[str, Any]
    at_compute: dict[str, Any]
    own: dict[str, Any] | None


def make(name: str, rng: Random) -> Merge:
    """The state of a part of a random case, as it is, as .npz has it, or as JSON has it."""
    columns, options = cases.draw(name, rng.randrange(1 << 30))
    if rng.random() < 0.2:
        columns = cases.with_groups(columns, rng.getrandbits(32))
    at_load, at_compute = split_options(name, options)
    metric = metric_class(name)(**at_load)
    cut = rng.randrange(length(columns) + 1)
    metric.add_batch(**rows(columns, np.arange(cut)))
    state: State = dict(metric.state())
    if rng.random() < 0.3:
        state = json.loads(json.dumps({key: array.tolist() for key, array in state.items()}))
    whole = cut < length(columns) and rng.random() < 0.6
    return Merge(state, at_load, at_compute, rows(columns, np.arange(cut, length(columns))) if whole else None)


def damage(name: str, rng: Random, value: Merge) -> Merge:
    """Something wrong with an array, or with which arrays there are."""
    state = dict(value.state)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        way = rng.choice(_WAYS)
        with contextlib.suppress(Exception):  # NumPy cannot do that with these arrays
            state = way(rng, state, name)
    return value._replace(state=state)


def _other_array(rng: Random, state: State, name: str) -> State:
    if not state:
        return {rng.choice(("metric", "x")): anything(rng)}
    key = rng.choice([*state])
    array = np.asarray(state[key])
    return {**state, key: rng.choice(_ARRAYS)(rng, array) if array.ndim and array.size else anything(rng)}


def _odd_number(rng: Random, array: np.ndarray) -> Any:
    odd = array.astype(rng.choice((array.dtype, np.float64, np.int64)))
    with np.errstate(all="ignore"):
        odd.reshape(-1)[rng.randrange(odd.size)] = np.asarray(rng.choice(NUMBERS)).astype(odd.dtype)
    return odd


_ARRAYS: tuple[Callable[[Random, np.ndarray], Any], ...] = (
    *(_odd_number, _odd_number, _odd_number),
    lambda rng, x: x[: rng.randrange(len(x))],
    lambda rng, x: np.concatenate([x, x[: rng.randrange(len(x) + 1)]]),
    lambda rng, x: x[np.random.default_rng(rng.getrandbits(32)).permutation(len(x))],
    lambda rng, x: -x.astype(np.float64),
    lambda rng, x: x[..., None],
    lambda rng, x: x[0],
    lambda rng, x: x.reshape(-1),
    lambda rng, x: x.astype(rng.choice(("f2", "f4", "f8", "i1", "i8", "u8", "?", "c16", "O", "U", "M8[s]", ">f8"))),
    lambda rng, x: np.full_like(x, x.reshape(-1)[0]),
    lambda rng, x: np.zeros_like(x),
    lambda rng, x: kind_of_array(rng, x),
    lambda rng, x: anything(rng),
)


def _other_names(rng: Random, state: State, name: str) -> State:
    if not state:
        return state
    key, way = rng.choice([*state]), rng.randrange(5)
    if way == 0:
        return {other: array for other, array in state.items() if other != key}
    if way == 1:
        other = rng.choice([*state])
        return {**state, key: state[other], other: state[key]}
    if way == 2:
        odd: Any = rng.choice(("x", 1, None, "allow_pickle", "", "counts", "normal_counts"))
        return {**state, odd: anything(rng)}
    if way == 3:
        return {**state, "metric": rng.choice((*openworld_metrics.METRICS, "", None, 1))}
    return dict(reversed([*state.items()]))


def _counts(rng: Random, state: State, name: str) -> State:
    """How many samples each entry stands for."""
    size = next((len(array) for array in state.values() if np.ndim(array)), 1)
    odd = rng.choice((0, 1, -1, 2**40, 2**62, 2**63 - 1, 0.5, math.nan))
    counts = [rng.choice((1, 2, 3, odd)) for _ in range(size)]
    return {**state, rng.choice(("counts", "normal_counts", "scores_counts")): counts}


def _through_json(rng: Random, state: State, name: str) -> State:
    return json.loads(json.dumps({key: np.asarray(array).tolist() for key, array in state.items()}))


def _of_another(rng: Random, state: State, name: str) -> State:
    """Arrays of another case, or of another metric under this one's name."""
    other = rng.choice((name, *openworld_metrics.METRICS))
    found = make(other, rng).state
    if rng.random() < 0.5:
        return {**found, "metric": name}
    return {key: found.get(key, array) if rng.random() < 0.5 else array for key, array in state.items()}


_WAYS: tuple[Callable[[Random, State, str], State], ...] = (
    *(_other_array, _other_array, _other_array, _other_array, _other_names, _counts, _through_json, _of_another),
)


def run(name: str, case: Case) -> None:
    """Merge, compute, and hand the state on."""
    value: Merge = case.value
    threads.WORTHWHILE = sorting.SMALL = 0
    given = fingerprint(value.state)
    metric = metric_class(name)(**value.at_load)
    if value.own is not None:
        metric.add_batch(**value.own)
    before = batches_of(metric)
    if isinstance(case.attempt(lambda: metric.merge(value.state)), Refused):
        check_same(before, batches_of(metric), "the metric after a state that it refused")
        check_same(given, fingerprint(value.state), "a state")
        return
    if len(metric) < before[0]:
        raise BrokenError("the metric has fewer samples after a merge", len(metric))
    after = batches_of(metric)
    other = metric_class(name)(**value.at_load)
    try:
        other.merge(metric.state())
    except (ValueError, TypeError) as error:
        raise BrokenError(f"a state that was taken is refused by another: {error}") from None
    results = _computed(metric, value.at_compute)
    if isinstance(results, ValueError):
        check_same(after, batches_of(metric), "the metric after a compute that it refused")
    else:
        check_results(results, bool({**value.at_load, **value.at_compute}.get("percent")))
    again = _computed(other, value.at_compute)
    check_same(str(results), str(again), "the result of the state that was handed on")
    check_same(given, fingerprint(value.state), "a state")


def _computed(metric: Any, options: dict[str, Any]) -> Any:
    """Results, or the ValueError that says why there are none."""
    try:
        return metric.compute(**options)
    except ValueError as error:
        return error


TARGETS = [
    Target(
        f"states of {name}",
        functools.partial(make, name),
        functools.partial(damage, name),
        functools.partial(run, name),
    )
    for name in openworld_metrics.METRICS
]
