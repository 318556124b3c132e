"""The command of this suite; see the package."""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

from tests.fuzz.engine import Finding, draw, save
from tests.fuzz.runs import Worker
from tests.fuzz.table import TARGETS, target

FOUND = Path(__file__).parent / "found"
SLICE = 3.0  # seconds of a target before the next one


def main() -> int:
    """Fuzz for some minutes, or one input again; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("target", nargs="?", help="this target only; all that begin so")
    parser.add_argument("index", nargs="?", type=int, help="this input only")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--first", type=int, default=1_000_000, help="the number of the first input")
    given = parser.parse_args()

    names = [name for name in TARGETS if name.startswith(given.target or "")]
    if given.target in TARGETS:
        names = [given.target]
    if not names:
        parser.error(f"expected a target of {', '.join(TARGETS)}")
    if given.index is not None:
        return _again(names[0], given.index)
    return _rounds(names, 60 * given.minutes, given.first)


def _again(name: str, index: int) -> int:
    print(f"input: {_saved(name, index)}")
    with Worker() as worker:
        _, findings = worker.run(name, index, 1)
    for finding in findings:
        print(f"{finding.how}\n{finding.detail}")
    return bool(findings)


def _rounds(names: list[str], seconds: float, first: int) -> int:
    """All targets in turn, until the time is over."""
    executed, spent = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    found: dict[tuple[str, str], list[Finding]] = {}
    begin = time.monotonic()
    with Worker() as worker:
        for name in itertools.cycle(names):
            start = time.monotonic()
            if start > begin + seconds and executed[name]:
                break
            seconds_each = min(SLICE, seconds / len(names))
            count, findings = worker.run(name, first + executed[name], 10**9, seconds_each)
            executed[name] += count
            spent[name] += time.monotonic() - start
            for finding in findings:
                known = found.setdefault((name, finding.how), [])
                known.append(finding)
                if len(known) == 1:
                    folder = _saved(name, finding.number)
                    (folder / "finding.txt").write_text(f"{finding.how}\n{finding.detail}\n")
                    print(f"{name} {finding.number}: {finding.how}\n  {folder}", flush=True)
    print()
    for name in names:
        defects = sum(target == name for target, _ in found)
        rate = executed[name] / spent[name] if spent[name] else 0
        taken, refused = (worker.calls.get((name, key), 0) for key in ("taken", "refused"))
        share = f"{refused / max(1, taken + refused):4.0%} refused"
        print(f"{name:32} {executed[name]:9,} executions {rate:9,.0f} a second {share} {defects:4} findings")
    print(f"{sum(executed.values()):,} executions in {time.monotonic() - begin:.0f} s, {len(found)} findings")
    for how in dict.fromkeys(how for _, how in found):
        where = [
            f"{name} {all_[0].number} ({len(all_)} times)" for (name, other), all_ in found.items() if other == how
        ]
        print(f"\n{how}\n    {', '.join(where)}")
    return bool(found)


def _saved(name: str, index: int) -> Path:
    """Write an input to a folder of its own."""
    folder = FOUND / f"{name}-{index}"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        save(draw(target(name), index)[0], folder)
    except Exception as error:  # then this is the finding
        print(f"{type(error).__name__}: {error}")
    return folder


if __name__ == "__main__":
    sys.exit(main())
