"""Bootstrap intervals beside those of scipy and torchmetrics: the AUROC of 10,000 scores, 1,000 resamples.

python -m tests.benchmarks.intervals    print the table and write it into docs/benchmarks.md

Each draws resamples of its own, and so its bounds differ from the others' by chance. All work in one thread, and it is
the processor's time that counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from scipy.stats import bootstrap
from sklearn.metrics import roc_auc_score
from torchmetrics.classification import BinaryAUROC
from torchmetrics.wrappers import BootStrapper

import openworld_metrics
from openworld_metrics import delong
from tests.benchmarks.__main__ import milliseconds
from tests.benchmarks.table import write

LEVEL, SCORES, RESAMPLES = 0.95, 10_000, 1000
REPEATED_S = 5.0  # calls that take less are made three times
Interval = tuple[float, float]


class Way(NamedTuple):
    """A way to the interval, and how many resamples it draws; None for a formula."""

    name: str
    call: Callable[[], Interval]
    resamples: int | None


def ways(known: np.ndarray, unknown: np.ndarray) -> list[Way]:
    """Ours first."""
    scores, references = np.concatenate([known, unknown]), np.repeat([0, 1], [len(known), len(unknown)])
    metric = openworld_metrics.OODBench(metrics="auroc", confidence_level=LEVEL, n_resamples=RESAMPLES)

    def ours() -> Interval:
        results = metric.compute(predictions=scores, references=references)
        return results["auroc_low"], results["auroc_high"]

    def by_formula() -> Interval:
        found = delong(positives=unknown, negatives=known, confidence_level=LEVEL)
        return found.low, found.high

    def by_scipy() -> Interval:
        def auroc(first: np.ndarray, second: np.ndarray) -> float:
            return float(roc_auc_score(references, np.concatenate([first, second])))

        found = bootstrap(
            (known, unknown),
            auroc,
            n_resamples=RESAMPLES,
            confidence_level=LEVEL,
            method="percentile",
            vectorized=False,
            rng=np.random.default_rng(0),
        )
        return float(found.confidence_interval.low), float(found.confidence_interval.high)

    def by_torchmetrics() -> Interval:
        torch.manual_seed(0)
        bounds = torch.tensor([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        wrapper = BootStrapper(
            BinaryAUROC(), RESAMPLES, mean=False, std=False, quantile=bounds, sampling_strategy="multinomial"
        )
        wrapper.update(torch.from_numpy(scores), torch.from_numpy(references))
        low, high = wrapper.compute()["quantile"].tolist()
        return low, high

    return [
        Way("ours, `confidence_level`", ours, RESAMPLES),
        Way("ours, `delong`", by_formula, None),
        Way("`scipy.stats.bootstrap` over scikit-learn's `roc_auc_score`", by_scipy, RESAMPLES),
        Way("torchmetrics' `BootStrapper` over `BinaryAUROC`", by_torchmetrics, RESAMPLES),
    ]


def processor_time(call: Callable[[], Interval]) -> tuple[float, Interval]:
    """Seconds of the processor that a call takes, and what it returns."""
    start = time.process_time()
    interval = call()
    return time.process_time() - start, interval


def main() -> None:
    """Measure and write the table."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    known, unknown = rng.normal(size=SCORES // 2), rng.normal(size=SCORES // 2) + 1.2
    lines = [
        "| way | resamples | interval | its width | processor's time | times ours |",
        "|---|---|---|---|---|---|",
    ]
    ours = None
    for name, call, resamples in ways(known, unknown):
        took, (low, high) = processor_time(call)
        if took < REPEATED_S:
            took = min(processor_time(call)[0] for _ in range(3))
        ours = took if ours is None else ours
        drawn = f"{resamples:,}" if resamples else "none, a formula"
        share = f"{took / ours:.1f}" if took >= ours else f"1/{ours / took:.0f}"
        cells = name, drawn, f"{low:.4f} to {high:.4f}", f"{high - low:.4f}", milliseconds(took), share
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    write("intervals", lines)


if __name__ == "__main__":
    main()
