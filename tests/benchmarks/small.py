"""What small work costs: a compute of ten samples, loading a metric, and many small batches instead of one.

python -m tests.benchmarks.small    print the table and write it into docs/benchmarks.md
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import openworld_metrics
from tests.benchmarks.measure import best_times, timed, write

METRICS = Path(__file__).resolve().parents[2] / "metrics"
LOAD = """
import time, evaluate
start = time.perf_counter()
evaluate.load({path!r}, module_type="metric")
print(time.perf_counter() - start)
"""


def ten_samples() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Options and columns of ten samples, by metric."""
    rng = np.random.default_rng(0)
    scores, references = rng.random((10, 5)), np.arange(10) % 5 - 1
    open_set = {"predictions": scores, "references": references, "open_scores": scores[:, 0]}
    masks = np.zeros((10, 16, 16), dtype=np.uint8)
    masks[::2, 4:8, 4:8] = 1
    corners = rng.random((10, 3, 2))
    boxes = np.concatenate([corners, corners + rng.random((10, 3, 2)), rng.random((10, 3, 1)), np.ones((10, 3, 1))], 2)
    return {
        "accuracyk": ({"k_list": (1, 3), "ignore_unknown": True}, {**open_set}),
        "autkc": ({"k_list": (1, 3), "ignore_unknown": True}, {**open_set}),
        "macro_open_f": ({}, open_set),
        "micro_open_f": ({}, open_set),
        "openauc": ({}, open_set),
        "ood_bench": ({}, {"predictions": scores[:, 0], "references": references < 0}),
        "openset_detection": (
            {"known_classes": [0, 1]},
            {"predictions": list(boxes), "references": list(np.delete(boxes, 4, axis=2))},
        ),
        "anomaly_suite": ({}, {"predictions": rng.random((10, 16, 16)), "references": masks}),
    }


def compute_time(name: str, options: dict[str, Any], columns: dict[str, Any]) -> float:
    """Best of many computes, in seconds."""
    metric = openworld_metrics.load(name, **options)
    return min(timed(lambda: metric.compute(**columns))[0] for _ in range(300))


def load_time(name: str) -> float:
    """Best of five loads, each in a process that has imported evaluate, in seconds."""
    script = LOAD.format(path=str(METRICS / name))
    return min(float(subprocess.check_output([sys.executable, "-c", script])) for _ in range(5))


def streaming() -> tuple[float, float]:
    """Seconds of 1,000 batches of 100 × 1,000 scores, and of one compute of them all."""
    rng = np.random.default_rng(0)
    scores, references = rng.random((100_000, 1000), dtype=np.float32), rng.integers(0, 1000, 100_000)
    metric = openworld_metrics.load("accuracyk", k_list=(1, 5))

    def stream() -> Any:
        for start in range(0, len(scores), 100):
            rows = slice(start, start + 100)
            metric.add_batch(predictions=scores[rows], references=references[rows])
        return metric.compute()

    calls = {"stream": stream, "once": lambda: metric.compute(predictions=scores, references=references)}
    times, returned = best_times(calls)
    assert returned["stream"] == returned["once"]
    return times["stream"], times["once"]


def main() -> None:
    """Measure and write the table."""
    lines = [
        "| metric | a compute of 10 samples (target ≤ 1 ms) | loading, beyond `import evaluate` (target ≤ 50 ms) |",
        "|---|---|---|",
    ]
    for name, (options, columns) in ten_samples().items():
        compute, load = 1e3 * compute_time(name, options, columns), 1e3 * load_time(name)
        lines.append(f"| {name} | {compute:.2f} ms | {load:.0f} ms |")
        print(lines[-1], flush=True)
    batches, once = streaming()
    times = (
        f"{1e3 * batches:.0f} against {1e3 * once:.0f} ms; target ≤ 2.2{' **missed**' if batches > 2.2 * once else ''}"
    )
    share = f"{batches / once:.2f} times as long as one compute"
    lines += ["", f"Streaming 1,000 batches of 100 × 1,000 scores takes {share} ({times})."]
    print(lines[-1])
    write("small", lines)


if __name__ == "__main__":
    main()
