"""Time and memory of each metric against the size of its input, each size in a process of its own.

python -m tests.benchmarks.growth               print both tables and write them into docs/benchmarks.md
python -m tests.benchmarks.growth NAME SIZE     one measurement, as JSON: seconds, the least of user time, the least and
                                                the most of kernel time, bytes of input, peak extra bytes
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import openworld_metrics
from tests.benchmarks.measure import ROUNDS, seconds
from tests.benchmarks.table import write

Columns = dict[str, Any]
KIB = 1024


def topk(rng: np.random.Generator, size: int) -> Columns:
    rows = size // 1000
    return dict(predictions=rng.random((rows, 1000), dtype=np.float32), references=rng.integers(0, 1000, rows))


def open_set(rng: np.random.Generator, size: int) -> Columns:
    references = rng.integers(-50, 50, size)
    return dict(
        predictions=rng.integers(0, 50, size), references=references, open_scores=rng.random(size, dtype=np.float32)
    )


def ood(rng: np.random.Generator, size: int) -> Columns:
    return dict(predictions=rng.random(size, dtype=np.float32), references=rng.integers(0, 2, size).astype(np.int8))


def boxes(rng: np.random.Generator, size: int) -> Columns:
    def table(n: int, width: int) -> np.ndarray:
        rows = rng.random((n, width)) * 100
        rows[:, 2:4] = rows[:, :2] + rows[:, 2:4] / 2
        rows[:, -1] = rng.integers(0, 8, n)
        return rows

    images = size // 600
    return dict(predictions=[table(100, 6) for _ in range(images)], references=[table(8, 5) for _ in range(images)])


def maps(rng: np.random.Generator, size: int) -> Columns:
    count = size // 65536
    masks = np.zeros((count, 256, 256), dtype=bool)
    masks[::2, 100:150, 100:160] = True
    return dict(predictions=rng.random((count, 256, 256), dtype=np.float32), references=masks)


# metric → its columns for so many scores, the options, sizes, and the most extra memory per byte of scores (issue's)
WORKS: dict[str, tuple[Callable[[np.random.Generator, int], Columns], dict[str, Any], float | None]] = {
    "accuracyk": (topk, {"k_list": (1, 5)}, 0.1),
    "autkc": (topk, {"k_list": (1, 5, 10)}, 0.1),
    "macro_open_f": (open_set, {"num_classes": 50}, 4),
    "micro_open_f": (open_set, {"num_classes": 50}, 4),
    "openauc": (open_set, {}, 2),
    "ood_bench": (ood, {"metrics": ["auroc", "aupr_in", "aupr_out", "fpr95tpr", "detect_acc"]}, 2.5),
    "openset_detection": (boxes, {"known_classes": range(5), "unknown_class_id": 7}, None),
    "anomaly_suite": (maps, {}, 2),
}
SIZES = [6_250_000, 12_500_000, 25_000_000, 50_000_000, 100_000_000]


def memory(line: str) -> int:
    """Bytes of this process by Linux's account: VmRSS are held now, VmHWM were at the peak since `forget_peak`."""
    status = Path("/proc/self/status").read_text()
    return next(int(row.split()[1]) * KIB for row in status.splitlines() if row.startswith(line))


def forget_peak() -> None:
    """Let the peak start anew from what is held now; the making of the data has its own."""
    Path("/proc/self/clear_refs").write_text("5")


def measure(name: str, size: int) -> dict[str, float]:
    """Best of several computes, after a warm-up on little data, and the peak of the process's memory in the first."""
    columns_of, options, _ = WORKS[name]
    metric = openworld_metrics.load(name, **options)
    rng = np.random.default_rng(0)
    metric.compute(**columns_of(rng, 2_000_000))
    columns = columns_of(rng, size)
    forget_peak()
    before = memory("VmRSS")
    times, spent = [seconds(lambda: metric.compute(**columns))], [os.times()]
    extra = memory("VmHWM") - before
    # a virtual machine's host may take seconds to back new pages, in some computes and not in others
    for _ in range(ROUNDS):
        times.append(seconds(lambda: metric.compute(**columns)))
        spent.append(os.times())
    user, kernel = ([later[i] - earlier[i] for earlier, later in itertools.pairwise(spent)] for i in (0, 1))
    scores = columns["open_scores" if "open_scores" in columns else "predictions"]
    held = sum(x.nbytes for x in scores) if isinstance(scores, list) else scores.nbytes
    cpu = {"user": min(user), "kernel": min(kernel), "kernel_most": max(kernel)}
    return {"seconds": min(times), **cpu, "scores": held, "extra": extra}


def main() -> None:
    """Measure every metric at every size, and write the table."""
    lines = [
        "| metric | " + " | ".join(f"{size:.3g} scores" for size in SIZES) + " | most per doubling | extra memory |",
        "|---|" + "---|" * (len(SIZES) + 2),
    ]
    for name, (_, _, limit) in WORKS.items():
        runs = [json.loads(subprocess.check_output([sys.executable, "-m", __spec__.name, name, str(s)])) for s in SIZES]
        times = [run["seconds"] for run in runs]
        growth = max(later / earlier for earlier, later in itertools.pairwise(times))
        share = runs[-1]["extra"] / runs[-1]["scores"]
        missed = " **missed**" if limit is not None and round(share, 2) > limit else ""
        target = "" if limit is None else f" (target ≤ {limit}){missed}"
        cells = " | ".join(f"{1000 * took:,.0f} ms" for took in times)
        lines.append(f"| {name} | {cells} | {growth:.2f}× | {share:.2f}× the scores{target} |")
        print(lines[-1], flush=True)
    write("growth", lines)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        main()
