"""States from elsewhere: refused, and the metric is as it was; or taken, and then there are results or a ValueError.

The loops are compiled whatever the size, with their indices checked (NUMBA_BOUNDSCHECK, see worker.py).
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any
from unittest import mock

import numpy as np

from openworld_metrics import METRICS
from openworld_metrics.arrays import sorting, threads
from openworld_metrics.arrays.compacting import compact_table
from openworld_metrics.loading import metric_class
from openworld_metrics.metric import metric as metric_module
from openworld_metrics.metric.groups import as_parts
from openworld_metrics.metric.states import num_samples
from tests import cases
from tests.fuzz.engine import BrokenError, Case, Input, Refused, Target, check_results, check_same, samples_of
from tests.fuzz.metrics import random_case
from tests.fuzz.values import NUMBERS, anything, kind_of_array
from tests.splitting import batches, length, rows, split_options

State = dict[str, Any]
ROWS = 4  # beyond which a metric counts its rows here


def make(name: str, rng: Random) -> Input:
    """The state of a part of a random case, as it is, as .npz has it, or as JSON has it; and a metric's own batch."""
    columns, options = random_case(name, rng)
    at_load, at_compute = split_options(name, options)
    metric = metric_class(name)(**at_load)
    cut = rng.randrange(length(columns) + 1)
    metric.add_batch(**rows(columns, np.arange(cut)))
    state: State = dict(metric.state())
    if rng.random() < 0.3:
        state = _through_json(rng, state, name)
    rest = rows(columns, np.arange(cut, length(columns)))
    own = rest if cut < length(columns) and rng.random() < 0.6 else None
    return Input({}, {"state": state, "own": own, "at_load": at_load, "at_compute": at_compute})


def damage(name: str, rng: Random, value: Input) -> Input:
    return value.with_value(state=_damaged(name, rng, value.values["state"]))


def _damaged(name: str, rng: Random, state: State) -> State:
    """Something wrong with an array, or with which arrays there are."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        with contextlib.suppress(Exception):  # NumPy cannot do that with these arrays
            state = rng.choice(_WAYS)(rng, state, name)
    return state


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
    key, other = rng.choice([*state]), rng.choice([*state])
    odd: Any = rng.choice(("x", 1, None, "allow_pickle", "", "counts", "normal_counts"))
    ways: tuple[State, ...] = (
        {word: array for word, array in state.items() if word != key},
        {**state, key: state[other], other: state[key]},
        {**state, odd: anything(rng)},
        {**state, "metric": rng.choice((*METRICS, "", None, 1))},
        dict(reversed([*state.items()])),
    )
    return rng.choice(ways)


def _counts(rng: Random, state: State, name: str) -> State:
    """How many samples each entry stands for."""
    size = next((len(array) for array in state.values() if np.ndim(array)), 1)
    odd = rng.choice((0, 1, -1, 2**40, 2**62, 2**63 - 1, 0.5, math.nan))
    counts = [rng.choice((1, 2, 3, odd)) for _ in range(size)]
    return {**state, rng.choice(("counts", "normal_counts", "scores_counts")): counts}


def _through_json(rng: Random, state: State, name: str) -> State:
    through: State = json.loads(json.dumps({key: np.asarray(array).tolist() for key, array in state.items()}))
    return through


def _of_another(rng: Random, state: State, name: str) -> State:
    """Arrays of another case, or of another metric under this one's name."""
    other: State = make(rng.choice((name, *METRICS)), rng).values["state"]
    if rng.random() < 0.5:
        return {**other, "metric": name}
    return {key: other.get(key, array) if rng.random() < 0.5 else array for key, array in state.items()}


_WAYS: tuple[Callable[[Random, State, str], State], ...] = (
    *(_other_array, _other_array, _other_array, _other_array, _other_names, _counts, _through_json, _of_another),
)


def run(name: str, case: Case) -> None:
    """Merge, compute, and hand the state on."""
    state, own, at_load, at_compute = (case.values[key] for key in ("state", "own", "at_load", "at_compute"))
    threads.WORTHWHILE = sorting.SMALL = 0
    metric, other = (metric_class(name)(**at_load) for _ in range(2))
    if own is not None:
        metric.add_batch(**own)
    before = samples_of(metric)
    if isinstance(case.attempt(metric.merge, state), Refused):
        check_same(before, samples_of(metric), "the metric after a state that it refused")
        return
    if len(metric) < before[0]:
        raise BrokenError("the metric has fewer samples after a merge", len(metric))
    after = samples_of(metric)
    try:
        other.merge(metric.state())
    except (ValueError, TypeError) as error:
        raise BrokenError(f"a state that was taken is refused by another: {error}") from None
    results = _computed(metric, at_compute)
    if isinstance(results, ValueError):
        check_same(after, samples_of(metric), "the metric after a compute that it refused")
    else:
        check_results(results, bool({**at_load, **at_compute}.get("percent")))
    check_same(str(results), str(_computed(other, at_compute)), "the result of the state that was handed on")


def _computed(metric: Any, options: dict[str, Any]) -> Any:
    """Results, or the ValueError that says why there are none."""
    try:
        return metric.compute(**options)
    except ValueError as error:
        return error


def make_parts(rng: Random) -> Input:
    """States of batches of a random case, each as it is or counted, with scores that are cut now and then."""
    name = rng.choice(METRICS)
    columns, options = cases.draw(name, rng.randrange(1 << 30))
    if "significant_bits" in metric_class(name).options and rng.random() < 0.4:
        options["significant_bits"] = rng.choice((4, 7, 20, 52))
    parts = []
    for batch in batches(columns, np.random.default_rng(rng.getrandbits(64))):
        metric = metric_class(name)(**options)
        metric.add_batch(**batch)
        state = metric.state()
        if state and rng.random() < 0.6:
            for counts, own in metric_class(name).countable_tables.items():
                state = dict(compact_table(state, [name for name in own if name in state], counts))
        parts.append(state)
    rng.shuffle(parts)
    return Input({}, {"name": name, "parts": parts, "options": options, "columns": columns})


def damage_parts(rng: Random, value: Input) -> Input:
    """Something wrong with a part, or one of other options."""
    name, parts = value.values["name"], [*value.values["parts"]]
    i = rng.randrange(len(parts))
    parts[i] = rng.choice(make_parts(rng).values["parts"]) if rng.random() < 0.2 else _damaged(name, rng, parts[i])
    return value.with_value(parts=parts)


def run_parts(case: Case) -> None:
    """Merge the parts, compute: the results are those of the samples."""
    name, options = case.values["name"], case.values["options"]
    with mock.patch.object(metric_module, "ROWS", ROWS):
        metric = metric_class(name)(**options)
        for part in case.values["parts"]:
            before = samples_of(metric)
            if isinstance(case.attempt(metric.merge, part), Refused):
                check_same(before, samples_of(metric), "the metric after a state that it refused")
        number = len(metric)
        if sum(map(_size, metric.states())) != number:
            raise BrokenError("the parts of a metric have not all of its samples", number)
        results = case.attempt(metric.compute)
    if case.whole:
        expected = metric_class(name)(**options).compute(**case.values["columns"])
        check_same(expected, results, "the result of counted parts")


def _size(state: State) -> int:
    own = {name: array for name, array in state.items() if name != "metric"}
    return sum(map(num_samples, as_parts(own).values()))


TARGETS = {
    **{f"states of {name}": Target(partial(make, name), partial(run, name), partial(damage, name)) for name in METRICS},
    "states in parts": Target(make_parts, run_parts, damage_parts),
}
