"""One core and two, by the affinity of a process: the best wall time of the same work.

python -m tests.benchmarks.cores                print the table and write it into docs/benchmarks.md
python -m tests.benchmarks.cores WORK CORES     one process on so many cores: seconds
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from openworld_metrics.loading import metric_class
from tests.benchmarks.growth import Columns, boxes, maps, open_set, topk
from tests.benchmarks.measure import in_a_process, timed, write

ROUNDS = 7
REPEATS = 3  # processes of each number of cores, alternating
LONGEST_S = 6.0  # after which a process stops; work that takes longer is done once, its warm-up a small part of it
TARGET = 1.5


def ood(rng: np.random.Generator, size: int) -> Columns:
    labels = (rng.random(size) < 0.4).astype(np.int64)
    return dict(predictions=rng.random(size, dtype=np.float32), references=labels)


FIVE = {"metrics": ["auroc", "aupr_in", "aupr_out", "fpr95tpr", "detect_acc"]}
RESAMPLED = {"confidence_level": 0.95, "n_resamples": 1_000}
OWOD = {"known_classes": range(5), "unknown_class_id": 7, "protocol": "owod", "recall_level": None}
# what is measured → the metric, its options, its columns for so many scores, and whether it has the target
WORKS: dict[str, tuple[str, dict[str, Any], Callable[[np.random.Generator, int], Columns], int, bool]] = {
    "ood_bench, five metrics; 10,000,000 scores": ("ood_bench", FIVE, ood, 10_000_000, True),
    "macro_open_f; 2,500,000 scores": ("macro_open_f", {"num_classes": 50}, open_set, 2_500_000, True),
    "openauc; 2,500,000 scores": ("openauc", {}, open_set, 2_500_000, False),
    "anomaly_suite; 300 × 256 × 256": ("anomaly_suite", {}, maps, 300 * 65536, True),
    "openset_detection, owod; 3,000 images": ("openset_detection", OWOD, boxes, 3_000 * 600, True),
    "ood_bench, 1,000 resamples of 1,000,000 scores": ("ood_bench", RESAMPLED, ood, 1_000_000, True),
    "accuracyk; 20,000 × 1,000": ("accuracyk", {"k_list": (1, 5)}, topk, 20_000_000, False),
}


def measure(work: str, cores: int) -> float:
    """The best wall time of several computes on so many cores, after a warm-up."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    name, options, columns_of, size, _ = WORKS[work]
    columns = columns_of(np.random.default_rng(0), size)
    times: list[float] = []
    while len(times) < ROUNDS + 1 and sum(times) < LONGEST_S:
        times.append(timed(lambda: metric_class(name)(**options).compute(**columns))[0])
    return min(times[1:] or times)


def main() -> None:
    """Measure every work, and write the table."""
    lines = [
        f"| work | one core | two cores | times as fast (target ≥ {TARGET} where there is one) |",
        "|---|---|---|---|",
    ]
    for work, (*_, has_target) in WORKS.items():
        best = {1: float("inf"), 2: float("inf")}
        for _ in range(REPEATS):
            for cores in best:
                best[cores] = min(best[cores], in_a_process("cores", work, cores))
        times = best[1] / best[2]
        missed = " **missed**" if has_target and times < TARGET else ""
        lines.append(f"| {work} | {1000 * best[1]:,.0f} ms | {1000 * best[2]:,.0f} ms | {times:.2f}×{missed} |")
        print(lines[-1], flush=True)
    write("cores", lines)


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else print(measure(sys.argv[1], int(sys.argv[2])))
