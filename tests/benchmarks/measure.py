"""Time calls against each other in one run: alternating, best of several, after a warm-up."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

Call = Callable[[], Any]
BUDGET_S = 12.0  # for one row of the table, beyond one call of each
ROUNDS = 7


def seconds(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def best_times(calls: Mapping[str, Call]) -> dict[str, float]:
    """Best time of each call. A round calls each once; a slow call sits out when the budget for it is spent."""
    best = {name: seconds(call) for name, call in calls.items()}  # the warm-up, which counts for calls that are slow
    spent = dict(best)
    for round_number in range(ROUNDS):
        for name, call in calls.items():
            if spent[name] + best[name] > BUDGET_S:
                continue
            took = seconds(call)
            spent[name] += took
            best[name] = took if round_number == 0 else min(best[name], took)
    return best
