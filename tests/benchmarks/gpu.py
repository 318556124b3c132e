"""The GPU path against its peers; for a machine with a CUDA device.

python -m tests.benchmarks.gpu    print the table and write it into docs/benchmarks.md; without a CUDA device, make the
                                  same calls of small CPU tensors, and write nothing
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torchmetrics.functional.classification import (
    binary_auroc,
    binary_average_precision,
    binary_precision_recall_curve,
    multiclass_accuracy,
)

if not hasattr(np, "trapz"):
    vars(np)["trapz"] = np.trapezoid  # NumPy 2.4 took away the name that adeval 1.1 uses
from adeval import EvalAccumulatorCuda

import openworld_metrics
from openworld_metrics.dropin.pyadmetric import cal_metric
from tests.benchmarks.measure import HEADER, Peer, Work, compare, write


def works(device: str, scale: int) -> Iterator[Callable[[], Work]]:
    """The works, at 1/scale of their size; each is made when it is measured."""
    torch.manual_seed(0)
    yield lambda: top_k(device, 1_000_000 // scale, torch.float32)
    yield lambda: top_k(device, 1_000_000 // scale, torch.bfloat16)
    yield lambda: true_class_ranks(device, 1_000_000 // scale, torch.float32)
    yield lambda: true_class_ranks(device, 1_000_000 // scale, torch.bfloat16)
    yield lambda: out_of_distribution(device, 65_536_000 // scale)
    yield lambda: anomaly_maps(device, 1_000 // scale)
    yield lambda: pyadmetric(device, 1_000 // scale)


def top_k(device: str, n: int, dtype: torch.dtype) -> Work:
    scores, labels = torch.rand(n, 1000, device=device).to(dtype), torch.randint(0, 1000, (n,), device=device)
    metric = openworld_metrics.load("accuracyk", k_list=(1, 5))
    return Work(
        f"accuracyk k=1,5; {n:,} × 1,000 {str(dtype).removeprefix('torch.')}",
        lambda: metric.compute(predictions=scores, references=labels),
        None,
        {
            "torchmetrics multiclass_accuracy, k=5": Peer(
                lambda: multiclass_accuracy(scores, labels, 1000, "micro", 5), 1 / 5
            ),
            "a copy of the scores, which reads and writes them": Peer(scores.clone, 1),
        },
    )


def true_class_ranks(device: str, n: int, dtype: torch.dtype) -> Work:
    scores, labels = torch.rand(n, 1000, device=device).to(dtype), torch.randint(0, 1000, (n,), device=device)
    return Work(
        f"rank of the true class alone; {n:,} × 1,000 {str(dtype).removeprefix('torch.')}",
        lambda: openworld_metrics.AUTKC().reduce(scores, labels),
        None,
        {
            "torch.topk, k=5": Peer(lambda: torch.topk(scores, 5, dim=1)),
            "a copy of the scores, which reads and writes them": Peer(scores.clone, 1),
        },
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
        None,
        {
            "torchmetrics AUROC and AP": Peer(
                lambda: (binary_auroc(scores / 2, long), binary_average_precision(scores / 2, long)), 1 / 5
            ),
            "torch.sort of the scores": Peer(lambda: torch.sort(scores), 1.3),
        },
    )


def anomaly_maps(device: str, n: int) -> Work:
    maps, masks = maps_and_masks(device, n)
    metric = openworld_metrics.load("anomaly_suite")
    return Work(
        f"anomaly_suite, everything; {n:,} × 256 × 256",
        lambda: metric.compute(predictions=maps, references=masks),
        None,
        {"adeval EvalAccumulatorCuda": adeval(maps, masks)},
    )


def pyadmetric(device: str, n: int) -> Work:
    """The call of PyADMetric's test_score_gpu_accelerate.py, whose areas and curves are torchmetrics'."""
    maps, masks = maps_and_masks(device, n)
    scores, labels = maps.amax(dim=(1, 2)), masks.any(dim=2).any(dim=1)

    def by_torchmetrics() -> list[Any]:
        results = []
        for level in ((scores, labels), (maps, masks)):
            columns = level[0].flatten() / 2, level[1].flatten().long()  # in [0, 1], else it applies a sigmoid
            precision, recall, _ = binary_precision_recall_curve(*columns)
            f1 = 2 * precision * recall / (precision + recall)
            results += [binary_auroc(*columns), binary_average_precision(*columns), f1.nan_to_num().max()]
            results.append(-torch.trapezoid(precision, recall))
        return results

    return Work(
        f"PyADMetric's cal_metric; {n:,} × 256 × 256",
        lambda: cal_metric(labels, masks, scores, maps),
        None,
        {
            "torchmetrics, the same without AUPRO": Peer(by_torchmetrics),
            "adeval EvalAccumulatorCuda": adeval(maps, masks),
        },
    )


def maps_and_masks(device: str, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Maps of which two in three have an anomaly of 30 × 50 pixels."""
    maps, masks = torch.rand(n, 256, 256, device=device), torch.zeros(n, 256, 256, dtype=torch.bool, device=device)
    masks[: 2 * n // 3, 100:130, 90:140] = True
    maps[masks] += 0.3
    return maps, masks


def adeval(maps: torch.Tensor, masks: torch.Tensor) -> Peer:
    """Its accumulator, which needs CUDA."""

    def call() -> Any:
        accumulator = EvalAccumulatorCuda(0.0, 1.0, 0.0, 1.3)
        accumulator.add_anomap_batch(maps, masks.to(torch.uint8))
        accumulator.add_image(maps.amax(dim=(1, 2)), masks.any(dim=2).any(dim=1))
        return accumulator.summary()

    return Peer(call if maps.is_cuda else None, 1 / 2, approximate=True)


def clock() -> float:
    """The time at which the device has done all that it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def main() -> None:
    """Measure all works."""
    device, scale = ("cuda", 1) if torch.cuda.is_available() else ("cpu", 500)
    lines, _ = compare(works(device, scale), (), clock)
    if device == "cuda":
        write("gpu", [*HEADER, *lines], torch.cuda.get_device_name())


if __name__ == "__main__":
    main()
