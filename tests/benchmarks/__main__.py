"""Measure every work against its peers, print the table of ratios and write it into docs/benchmarks.md.

python -m tests.benchmarks [WORDS]    only the works whose names hold the words; the page is left alone then
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tests.benchmarks.measure import Call, best_times
from tests.benchmarks.table import write
from tests.benchmarks.works import Work, all_works

HEADER = ["| work | ours | peer | peer's time | ours / peer | target |", "|---|---|---|---|---|---|"]


def main(words: list[str]) -> int:
    """Run the works, print and write the table. Returns 1 if a peer's numbers differ from ours."""
    lines, wrong = list(HEADER), 0
    for make in all_works():
        work = make()
        if all(word in work.name for word in words):
            print(work.name, flush=True)
            times, returned = best_times(all_calls(work))
            wrong += sum(not agrees(work, name, returned) for name in work.peers)
            new = rows(work, times)
            print("\n".join(new), flush=True)
            lines += new
    print("\n".join(lines))
    if not words:
        write("benchmarks", lines)
    return 1 if wrong else 0


def all_calls(work: Work) -> dict[str, Call]:
    """Ours, the peers', and the yardsticks."""
    calls: dict[str, Call] = {"ours": work.ours, **{name: peer.call for name, peer in work.peers.items()}}
    if work.data is not None:
        data = work.data
        calls["a bare read, scores.sum()"] = lambda: data.sum()
        calls["one np.sort of the scores"] = lambda: np.sort(data, axis=None)
    return calls


def agrees(work: Work, name: str, returned: dict[str, Any]) -> bool:
    """Whether the peer's numbers are ours, within its tolerance; says by how much they differ."""
    peer = work.peers[name]
    theirs = peer.numbers(returned[name])
    if not theirs:
        return True
    difference = float(np.max(np.abs(np.asarray(theirs) - work.numbers(returned["ours"]))))
    print(f"  {name}: differs by at most {difference:.2g}")
    return difference <= peer.tolerance or peer.approximate


def rows(work: Work, times: dict[str, float]) -> list[str]:
    """The lines of the table for one work: its peers, and the yardsticks."""
    ours, lines = times["ours"], []
    for name, took in times.items():
        if name == "ours":
            continue
        peer = work.peers.get(name)
        target = "" if peer is None else f"≤ {peer.target:.2g}" if peer.target >= 0.1 else f"≤ 1/{1 / peer.target:.0f}"
        missed = " **missed**" if peer is not None and ours > peer.target * took else ""
        label = f"{name} (approximate)" if peer is not None and peer.approximate else name
        share = f"1/{took / ours:.1f}" if ours < took else f"{ours / took:.1f}"
        cells = work.name, milliseconds(ours), label, milliseconds(took), share + missed, target
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def milliseconds(took: float) -> str:
    return f"{1000 * took:,.0f} ms" if took >= 0.01 else f"{1000 * took:.2f} ms"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
