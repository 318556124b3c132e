"""Time calls against each other in one run: alternating, best of several, after a warm-up; and write their tables."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Call = Callable[[], Any]
BUDGET_S = 12.0  # for one row of a table, beyond one call of each
SLOW_S = 30.0  # a call whose warm-up took longer is not repeated
ROUNDS = 7
PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
HEADER = ("| work | ours | peer | peer's time | ours / peer | target |", "|---|---|---|---|---|---|")


class Peer(NamedTuple):
    """A peer's call, or None where it is not installed; and the largest share of its time that ours may take.

    numbers: those of its results, which may differ from ours by the tolerance, and by any if they are approximate
    """

    call: Call | None
    target: float | None = None
    numbers: Callable[[Any], Any] | None = None
    tolerance: float = 1e-6
    approximate: bool = False


class Work(NamedTuple):
    """Our call, its numbers if a peer has such, and peers; `data` is read and sorted once, as physical yardsticks."""

    name: str
    ours: Call
    numbers: Callable[[Any], Any] | None
    peers: dict[str, Peer]
    data: np.ndarray | None = None


def timed(call: Call, clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    """Seconds that a call takes, and what it returns."""
    start = clock()
    returned = call()
    return clock() - start, returned


def best_times(
    calls: Mapping[str, Call], clock: Callable[[], float] = time.perf_counter
) -> tuple[dict[str, float], dict[str, Any]]:
    """Best time of each call, and what it returns. A round calls each once, but for those whose budget is spent."""
    first = {name: timed(call, clock) for name, call in calls.items()}  # the warm-up; it counts for calls that are slow
    best = {name: took for name, (took, _) in first.items()}
    spent = dict.fromkeys(calls, 0.0)
    for round_number in range(ROUNDS):
        for name, call in calls.items():
            if spent[name] + best[name] <= (BUDGET_S if round_number else SLOW_S):
                took, _ = timed(call, clock)
                spent[name] += took
                best[name] = min(best[name], took)
    return best, {name: returned for name, (_, returned) in first.items()}


def compare(
    works: Iterable[Callable[[], Work]], words: Sequence[str], clock: Callable[[], float]
) -> tuple[list[str], int]:
    """The lines of a table of works whose names hold the words, and how many peers have other numbers than ours."""
    lines, wrong = [], 0
    for make in works:
        work = make()
        if all(word in work.name for word in words):
            print(work.name, flush=True)
            calls = {"ours": work.ours, **{name: peer.call for name, peer in work.peers.items() if peer.call}}
            if (data := work.data) is not None:
                calls["a bare read, scores.sum()"] = data.sum
                calls["one np.sort of the scores"] = lambda: np.sort(data, axis=None)
            times, returned = best_times(calls, clock)
            wrong += sum(not _agrees(work, name, returned) for name in work.peers if name in returned)
            lines += rows(work, times)
            print("\n".join(rows(work, times)), flush=True)
    return lines, wrong


def _agrees(work: Work, name: str, returned: Mapping[str, Any]) -> bool:
    """Whether the peer's numbers are ours, within its tolerance; says by how much they differ."""
    peer = work.peers[name]
    if peer.numbers is None or work.numbers is None:
        return True
    difference = np.max(np.abs(np.subtract(peer.numbers(returned[name]), work.numbers(returned["ours"]))))
    print(f"  {name}: differs by at most {difference:.2g}")
    return peer.approximate or bool(difference <= peer.tolerance)


def rows(work: Work, times: Mapping[str, float]) -> list[str]:
    """The lines of the table for one work: its peers, and the yardsticks."""
    ours, lines = times["ours"], []
    for name in dict.fromkeys((*work.peers, *times)):
        if name == "ours":
            continue
        peer = work.peers.get(name, Peer(None))
        target = peer.target
        bound = "" if target is None else f"≤ {target:.2g}" if target >= 1 else f"≤ 1/{1 / target:.0f}"
        label = f"{name} (approximate)" if peer.approximate else name
        cells = [work.name, milliseconds(ours), label, "not installed", "", bound]
        if name in times:
            took = times[name]
            missed = " **missed**" if target is not None and ours > target * took else ""
            cells[3:5] = milliseconds(took), (f"1/{took / ours:.1f}" if ours < took else f"{ours / took:.1f}") + missed
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def milliseconds(took: float) -> str:
    return f"{1000 * took:,.0f} ms" if took >= 0.01 else f"{1000 * took:.2f} ms"


def in_a_process(module: str, *arguments: object) -> Any:
    """What a module of this folder prints as JSON, last, when it runs with arguments in a process of its own."""
    command = [sys.executable, "-m", f"tests.benchmarks.{module}", *map(str, arguments)]
    return json.loads(subprocess.check_output(command).splitlines()[-1])


def write(marker: str, lines: Sequence[str], device: str = "") -> None:
    """Put a table on the page, between `<!-- marker -->` and `<!-- end of marker -->`; `device` names a GPU."""
    head, begin, rest = PAGE.read_text(encoding="utf-8").partition(f"<!-- {marker} -->\n")
    _, end, tail = rest.partition(f"<!-- end of {marker} -->")
    names = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    processor = next((line.partition(":")[2].strip() for line in names if line.startswith("model name")), "")
    machine = f"{device} and " if device else ""
    machine += f"{os.cpu_count()} cores of {processor or platform.machine()}, "
    machine += f"Python {platform.python_version()}, NumPy {np.__version__}."
    body = f"Measured on {machine}\n\n" + "\n".join(lines) + "\n"
    PAGE.write_text(head + begin + body + end + tail, encoding="utf-8")
