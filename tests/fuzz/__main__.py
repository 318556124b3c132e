"""The command of this suite; see the package."""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

from tests.fuzz.engine import draw, save
from tests.fuzz.table import TARGETS, find_target
from tests.fuzz.worker import started

FOUND = Path(__file__).parent / "found"
SLICE = 3.0  # seconds of a target before the next one


def main() -> int:
    """Fuzz for some minutes, or one input again; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("target", nargs="?", default="", help="this target only; all that begin so")
    parser.add_argument("index", nargs="?", type=int, help="this input only")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--first", type=int, default=1_000_000, help="the number of the first input")
    args = parser.parse_args()

    names = [args.target] if args.target in TARGETS else [name for name in TARGETS if name.startswith(args.target)]
    if not names:
        parser.error(f"expected a target of {', '.join(TARGETS)}")
    if args.index is None:
        return _rounds(names, 60 * args.minutes, args.first)
    print(f"input: {_saved(names[0], args.index)}")
    with started() as worker:
        _, findings = worker.run(names[0], args.index, 1)
    print(*(f"{finding.how}\n{finding.detail}" for finding in findings), sep="\n")
    return bool(findings)


def _rounds(names: list[str], seconds: float, first: int) -> int:
    """All targets in turn, until the time is over."""
    executed, spent = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    numbers: dict[tuple[str, str], list[int]] = {}  # of each target and defect, the inputs
    begin = time.monotonic()
    with started() as worker:
        for name in itertools.cycle(names):
            start = time.monotonic()
            if start > begin + seconds and executed[name]:
                break
            count, findings = worker.run(name, first + executed[name], 10**9, min(SLICE, seconds / len(names)))
            executed[name] += count
            spent[name] += time.monotonic() - start
            for finding in findings:
                known = numbers.setdefault((name, finding.how), [])
                known.append(finding.number)
                if len(known) == 1:
                    folder = _saved(name, finding.number)
                    (folder / "finding.txt").write_text(f"{finding.how}\n{finding.detail}\n")
                    print(f"{name} {finding.number}: {finding.how}\n  {folder}", flush=True)
    print()
    for name in names:
        defects = sum(target == name for target, _ in numbers)
        rate = executed[name] / spent[name] if spent[name] else 0
        taken, refused = (worker.calls.get((name, key), 0) for key in ("taken", "refused"))
        share = f"{refused / max(1, taken + refused):4.0%} refused"
        print(f"{name:32} {executed[name]:9,} executions {rate:9,.0f} a second {share} {defects:4} findings")
    print(f"{sum(executed.values()):,} executions in {time.monotonic() - begin:.0f} s, {len(numbers)} findings")
    for (name, how), inputs in sorted(numbers.items(), key=lambda item: item[0][1]):
        print(f"{how}\n    {name} {inputs[0]} ({len(inputs)} times)")
    return bool(numbers)


def _saved(name: str, index: int) -> Path:
    """Write an input to a folder of its own."""
    folder = FOUND / f"{name}-{index}"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        save(draw(name, find_target(name), index)[0], folder)
    except Exception as error:  # then this is the finding
        print(f"{type(error).__name__}: {error}")
    return folder


if __name__ == "__main__":
    sys.exit(main())
