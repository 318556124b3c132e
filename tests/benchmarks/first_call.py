"""What a process pays before its first large result: imports, compiled loops from their cache, the choice of a sort.

python -m tests.benchmarks.first_call           print the table and write it into docs/benchmarks.md
python -m tests.benchmarks.first_call NAME      one process: seconds of its imports, its first compute and its second
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from tests.benchmarks.table import write

NAMES = ("accuracyk", "macro_open_f", "openauc", "ood_bench", "openset_detection", "anomaly_suite")
SIZE = 2_000_000  # scores
ROUNDS = 5  # processes for each metric, of which the first fills the caches
TARGET_S = 0.7


def measure(name: str) -> dict[str, float]:
    """Seconds of the imports, of the first compute, and of the second in this process."""
    start = time.perf_counter()
    from openworld_metrics.loading import metric_class

    imports = time.perf_counter() - start
    import numpy as np

    from tests.benchmarks.growth import WORKS

    columns_of, options, _ = WORKS[name]
    columns = columns_of(np.random.default_rng(0), SIZE)
    times = []
    for _ in range(2):
        start = time.perf_counter()
        metric_class(name)(**options).compute(**columns)
        times.append(time.perf_counter() - start)
    return {"imports": imports, "first": times[0], "second": times[1]}


def main() -> None:
    """Measure each metric in processes of their own, and write the table."""
    lines = [
        f"| metric, {SIZE:,} scores | imports | first compute | second compute | paid once (target ≤ {TARGET_S} s) |",
        "|---|---|---|---|---|",
    ]
    for name in NAMES:
        command = [sys.executable, "-m", __spec__.name, name]
        runs = [json.loads(subprocess.check_output(command)) for _ in range(ROUNDS)][1:]
        best = min(runs, key=lambda run: run["imports"] + run["first"] - run["second"])
        once = best["imports"] + best["first"] - best["second"]
        missed = " **missed**" if once > TARGET_S else ""
        cells = " | ".join(f"{best[part]:.2f} s" for part in ("imports", "first", "second"))
        lines.append(f"| {name} | {cells} | {once:.2f} s{missed} |")
        print(lines[-1], flush=True)
    write("first-call", lines)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()
