"""Time and memory of each metric against the size of its input, each size in a process of its own.

python -m tests.benchmarks.growth               print the table and write it into docs/benchmarks.md
python -m tests.benchmarks.growth NAME SIZE     one measurement, as JSON: seconds, bytes of input, peak extra bytes
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import openworld_metrics
from tests.benchmarks.measure import ROUNDS, in_a_process, timed, write

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
    """Bytes of this process by Linux's account: VmRSS are held now, VmHWM were at the peak."""
    status = Path("/proc/self/status").read_text()
    return next(int(row.split()[1]) * KIB for row in status.splitlines() if row.startswith(line))


def measure(name: str, size: int) -> dict[str, float]:
    """Best of several computes, after a warm-up on little data, and the peak of the process's memory in the first."""
    columns_of, options, _ = WORKS[name]
    metric = openworld_metrics.load(name, **options)
    rng = np.random.default_rng(0)
    metric.compute(**columns_of(rng, 2_000_000))
    columns = columns_of(rng, size)
    Path("/proc/self/clear_refs").write_text("5")  # the making of the data has a peak of its own
    before = memory("VmRSS")
    times = [timed(lambda: metric.compute(**columns))[0]]
    extra = memory("VmHWM") - before
    times += [timed(lambda: metric.compute(**columns))[0] for _ in range(ROUNDS)]
    scores = columns["open_scores" if "open_scores" in columns else "predictions"]
    held = sum(x.nbytes for x in scores) if isinstance(scores, list) else scores.nbytes
    return {"seconds": min(times), "scores": held, "extra": extra}


def main() -> None:
    """Measure every metric at every size, and write the table."""
    lines = [
        "| metric | " + " | ".join(f"{size:.3g} scores" for size in SIZES) + " | most per doubling | extra memory |",
        "|---|" + "---|" * (len(SIZES) + 2),
    ]
    for name, (_, _, limit) in WORKS.items():
        runs = [in_a_process("growth", name, size) for size in SIZES]
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
    main() if len(sys.argv) == 1 else print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
