"""Measure every work against its peers, print the table of ratios and write it into the README.

python -m tests.benchmarks [WORDS]    only the works whose names hold the words; the README is left alone then
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numpy as np

from tests.benchmarks.measure import Call, best_times
from tests.benchmarks.works import Work, all_works

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->"
HEADER = ["| work | ours | peer | peer's time | ours / peer | target |", "|---|---|---|---|---|---|"]


def main(words: list[str]) -> int:
    """Run the works, print and write the table. Returns 1 if a peer's numbers differ from ours."""
    lines, wrong = list(HEADER), 0
    for make in all_works():
        work = make()
        if all(word in work.name for word in words):
            print(work.name, flush=True)
            wrong += sum(not agrees(work, name) for name in work.peers)
            lines += rows(work)
            print("\n".join(lines[-len(work.peers) - 2 :]), flush=True)
    print("\n".join(lines))
    if not words:
        write(lines)
    return 1 if wrong else 0


def agrees(work: Work, name: str) -> bool:
    """Whether the peer's numbers are ours, within its tolerance; says by how much they differ."""
    peer = work.peers[name]
    theirs = peer.numbers(peer.call())
    if not theirs:
        return True
    difference = float(np.max(np.abs(np.asarray(theirs) - work.numbers(work.ours()))))
    print(f"  {name}: differs by at most {difference:.2g}")
    return difference <= peer.tolerance or peer.approximate


def rows(work: Work) -> list[str]:
    """The lines of the table for one work: its peers, and the yardsticks."""
    calls: dict[str, Call] = {"ours": work.ours, **{name: peer.call for name, peer in work.peers.items()}}
    if work.data is not None:
        data = work.data
        calls["a bare read, scores.sum()"] = lambda: data.sum()
        calls["one np.sort of the scores"] = lambda: np.sort(data, axis=None)
    times = best_times(calls)
    ours, lines = times.pop("ours"), []
    for name, took in times.items():
        peer = work.peers.get(name)
        target = "" if peer is None else f"≤ {peer.target:.2g}" if peer.target >= 0.1 else f"≤ 1/{1 / peer.target:.0f}"
        missed = " **missed**" if peer is not None and ours > peer.target * took else ""
        label = f"{name} (approximate)" if peer is not None and peer.approximate else name
        share = f"1/{took / ours:.1f}" if ours < took else f"{ours / took:.1f}"
        lines.append(
            f"| {work.name} | {milliseconds(ours)} | {label} | {milliseconds(took)} | {share}{missed} | {target} |"
        )
    return lines


def milliseconds(took: float) -> str:
    return f"{1000 * took:,.0f} ms" if took >= 0.01 else f"{1000 * took:.2f} ms"


def write(lines: list[str]) -> None:
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    machine = (
        f"Measured by `make bench` on {os.cpu_count()} cores of {processor()}, Python {platform.python_version()}, "
    )
    machine += f"NumPy {np.__version__}; best of several, alternating, in one run.\n\n"
    README.write_text(f"{head}{BEGIN}{machine}" + "\n".join(lines) + f"\n{END}{tail}", encoding="utf-8")


def processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
