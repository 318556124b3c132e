"""Time calls against each other in one run: alternating, best of several, after a warm-up."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

Call = Callable[[], Any]
BUDGET_S = 12.0  # for one row of the table, beyond one call of each
SLOW_S = 30.0  # a call whose warm-up took longer is not repeated
ROUNDS = 7


def timed(call: Call) -> tuple[float, Any]:
    """Seconds that a call takes, and what it returns."""
    start = time.perf_counter()
    returned = call()
    return time.perf_counter() - start, returned


def seconds(call: Call) -> float:
    """Seconds that a call takes."""
    return timed(call)[0]


def best_times(calls: Mapping[str, Call]) -> tuple[dict[str, float], dict[str, Any]]:
    """Best time of each call, and what it returns. A round calls each once, but for those whose budget is spent."""
    first = {name: timed(call) for name, call in calls.items()}  # the warm-up; it counts for calls that are slow
    best = {name: took for name, (took, _) in first.items()}
    spent = dict.fromkeys(calls, 0.0)
    for round_number in range(ROUNDS):
        for name, call in calls.items():
            if spent[name] + best[name] > (BUDGET_S if round_number else SLOW_S):
                continue
            took = seconds(call)
            spent[name] += took
            best[name] = min(best[name], took)
    return best, {name: returned for name, (_, returned) in first.items()}
