"""What a process pays before its first large result: imports, compiled loops from their cache, the choice of a sort.

python -m tests.benchmarks.first_call           print the table and write it into docs/benchmarks.md
python -m tests.benchmarks.first_call NAME      one process: seconds of its imports, its first compute and its second
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from tests.benchmarks.measure import in_a_process, timed, write

NAMES = ("accuracyk", "macro_open_f", "openauc", "ood_bench", "openset_detection", "anomaly_suite")
SIZE = 2_000_000  # scores
ROUNDS = 5  # processes for each metric, of which the first fills the caches
TARGET_S = 0.7


def measure(name: str) -> dict[str, float]:
    """Seconds of the imports, of the first compute, and of the second in this process."""
    start = time.perf_counter()
    from openworld_metrics.loading import metric_class

    imports = time.perf_counter() - start
    from tests.benchmarks.growth import WORKS

    columns_of, options, _ = WORKS[name]
    columns = columns_of(np.random.default_rng(0), SIZE)
    first, second = (timed(lambda: metric_class(name)(**options).compute(**columns))[0] for _ in range(2))
    return {"imports": imports, "first": first, "second": second}


def main() -> None:
    """Measure each metric in processes of their own, and write the table."""
    lines = [
        f"| metric, {SIZE:,} scores | imports | first compute | second compute | paid once (target ≤ {TARGET_S} s) |",
        "|---|---|---|---|---|",
    ]
    for name in NAMES:
        runs = [in_a_process("first_call", name) for _ in range(ROUNDS)][1:]
        best = min(runs, key=lambda run: run["imports"] + run["first"] - run["second"])
        once = best["imports"] + best["first"] - best["second"]
        missed = " **missed**" if once > TARGET_S else ""
        cells = " | ".join(f"{best[part]:.2f} s" for part in ("imports", "first", "second"))
        lines.append(f"| {name} | {cells} | {once:.2f} s{missed} |")
        print(lines[-1], flush=True)
    write("first-call", lines)


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else print(json.dumps(measure(sys.argv[1])))
