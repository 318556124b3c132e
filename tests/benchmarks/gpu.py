"""The GPU path against its peers, timed by CUDA events after a warm-up; for a machine with a CUDA device.

python -m tests.benchmarks.gpu    print the table and write it into docs/benchmarks.md; without a CUDA device, make the
                                  same calls of small CPU tensors, timed by the clock, and write nothing
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torchmetrics.functional.classification import binary_auroc, binary_average_precision, multiclass_accuracy

if not hasattr(np, "trapz"):
    vars(np)["trapz"] = np.trapezoid  # NumPy 2.4 took away the name that adeval 1.1 uses
from adeval import EvalAccumulatorCuda

import openworld_metrics
from tests.benchmarks.measure import Call, timed, write

ROUNDS = 10
HEADER = ["| work | ours | peer | peer's time | peer / ours | share of copy bandwidth |", "|---|---|---|---|---|---|"]


class Work(NamedTuple):
    """Our call and the peers'; data is the tensor that has to be read once."""

    name: str
    ours: Call
    peers: dict[str, Call]
    data: torch.Tensor


def works(device: str, scale: int) -> Iterator[Work]:
    """The works, at 1/scale of their size; each is made when it is measured."""
    torch.manual_seed(0)
    yield top_k(device, 1_000_000 // scale, torch.float32)
    yield top_k(device, 1_000_000 // scale, torch.bfloat16)
    yield true_class_ranks(device, 1_000_000 // scale)
    yield out_of_distribution(device, 65_536_000 // scale)
    if device != "cpu":  # adeval's accumulator needs CUDA
        yield anomaly_maps(device, 1_000 // scale)


def top_k(device: str, n: int, dtype: torch.dtype) -> Work:
    scores, labels = torch.rand(n, 1000, device=device).to(dtype), torch.randint(0, 1000, (n,), device=device)
    metric = openworld_metrics.load("accuracyk", k_list=(1, 5))
    return Work(
        f"accuracyk k=1,5; {n:,} × 1,000 {str(dtype).removeprefix('torch.')}",
        lambda: metric.compute(predictions=scores, references=labels),
        {"torchmetrics multiclass_accuracy, k=5": lambda: multiclass_accuracy(scores, labels, 1000, "micro", 5)},
        scores,
    )


def true_class_ranks(device: str, n: int) -> Work:
    scores, labels = torch.rand(n, 1000, device=device), torch.randint(0, 1000, (n,), device=device)
    return Work(
        f"rank of the true class alone; {n:,} × 1,000 float32",
        lambda: openworld_metrics.AUTKC().reduce(scores, labels),
        {"torch.topk, k=5": lambda: torch.topk(scores, 5, dim=1)},
        scores,
    )


def out_of_distribution(device: str, n: int) -> Work:
    labels = (torch.rand(n, device=device) < 0.03).to(torch.int8)
    scores = torch.rand(n, device=device) + 0.3 * labels
    metric = openworld_metrics.load("ood_bench", metrics=["auroc", "aupr_out"])
    long = labels.long()
    # torchmetrics applies a sigmoid to scores outside [0, 1]
    return Work(
        f"ood_bench auroc and aupr_out; {n:,} pixels",
        lambda: metric.compute(predictions=scores, references=labels),
        {
            "torchmetrics AUROC and AP": lambda: (
                binary_auroc(scores / 2, long),
                binary_average_precision(scores / 2, long),
            )
        },
        scores,
    )


def anomaly_maps(device: str, n: int) -> Work:
    maps, masks = torch.rand(n, 256, 256, device=device), torch.zeros(n, 256, 256, dtype=torch.bool, device=device)
    masks[: 2 * n // 3, 100:130, 90:140] = True
    maps[masks] += 0.3
    metric = openworld_metrics.load("anomaly_suite")

    def by_adeval() -> Any:
        accumulator = EvalAccumulatorCuda(0.0, 1.0, 0.0, 1.3)
        accumulator.add_anomap_batch(maps, masks.to(torch.uint8))
        accumulator.add_image(maps.amax(dim=(1, 2)), masks.any(dim=2).any(dim=1))
        return accumulator.summary()

    name = f"anomaly_suite, everything; {n:,} × 256 × 256"
    ours = lambda: metric.compute(predictions=maps, references=masks)  # noqa: E731
    return Work(name, ours, {"adeval EvalAccumulatorCuda (approximate)": by_adeval}, maps)


def seconds(call: Call, device: str) -> float:
    """Best time of a call after a warm-up."""
    call()
    return min(by_events(call) if device == "cuda" else timed(call)[0] for _ in range(ROUNDS))


def by_events(call: Call) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end)) / 1000


def rows(work: Work, device: str) -> list[str]:
    """The lines of the table for one work."""
    other = torch.empty_like(work.data)
    read = seconds(lambda: other.copy_(work.data), device) / 2  # a copy reads and writes what a metric has to read once
    ours = seconds(work.ours, device)
    lines = []
    for name, call in work.peers.items():
        theirs = seconds(call, device)
        cells = f"{1e3 * ours:.2f} ms", name, f"{1e3 * theirs:.2f} ms", f"{theirs / ours:.1f}", f"{read / ours:.0%}"
        lines.append(f"| {work.name} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure all works."""
    device, scale = ("cuda", 1) if torch.cuda.is_available() else ("cpu", 500)
    lines = list(HEADER)
    for work in works(device, scale):
        new = rows(work, device)
        print(*new, sep="\n", flush=True)
        lines += new
    if device == "cuda":
        write("gpu", lines, torch.cuda.get_device_name())


if __name__ == "__main__":
    main()
