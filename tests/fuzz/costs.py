"""What a call of a page's endpoint costs with intervals: one that is not refused ends soon, whatever it multiplies.

The bounds of the pages are lowered, so that an execution may take a second where a visitor may wait a minute.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from random import Random
from typing import Any
from unittest.mock import patch

from openworld_metrics.answers import costs
from openworld_metrics.faces.page.worker import results
from tests.fuzz.engine import Case, Target
from tests.fuzz.pages import Call, check_refusal, make_call, refusing

LOWERED = {"MAX_STEPS": 60_000_000}
_LISTS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "accuracyk": ("k_list", lambda i: i + 1),
    "macro_open_f": ("t_list", lambda i: 1 / (i + 2)),
    "micro_open_f": ("t_list", lambda i: 1 / (i + 2)),
    "openauc": ("fpr_list", lambda i: 1 / (i + 3)),
    "ood_bench": ("metrics", lambda i: f"fpr{(i * 0.01 + 1):g}tpr"),
    "anomaly_suite": ("integration_limits", lambda i: 1 / (i + 2)),
    "openset_detection": ("conf_list", lambda i: 1 / (i + 2)),
}


def make(rng: Random) -> Call:
    """A small case with intervals."""
    call = make_call(rng)
    return call._replace(options={**call.options, "confidence_level": 0.95})


def damage(rng: Random, call: Call) -> Call:
    """More rows, groups, values of an option or resamples, or some of these together."""
    columns, options = dict(call.columns), dict(call.options)
    if rng.random() < 0.6:
        times = rng.choice((2, 30, 300, 3000))
        columns = {key: column * times for key, column in columns.items()}
    rows = max(map(len, columns.values()))
    if rng.random() < 0.5:
        groups = rng.choice((1, 2, 20, 200, 20_000))
        columns["groups"] = [f"{'a/' * rng.choice((0, 0, 9))}{i % groups}" for i in range(rows)]
    if rng.random() < 0.5 and call.name in _LISTS:
        option, value = _LISTS[call.name]
        options[option] = [value(i) for i in range(rng.choice((1, 5, 100, 400, 6000)))]
    if rng.random() < 0.3:
        options["n_resamples"] = rng.choice((0, 1, 100, 10_000, 10**9, -1, 1.5, None))
    return call._replace(columns=columns, options=options)


def run(case: Case) -> None:
    """Compute as the endpoint does; the suite holds it to its bound of time."""
    value: Call = case.value
    with patch.dict(vars(costs), LOWERED):
        outcome = case.attempt(refusing(functools.partial(results, value.name, value.columns, value.options)))
    check_refusal(outcome, case.folder)


TARGETS = [Target("page costs", make, damage, run)]
