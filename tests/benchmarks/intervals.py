"""Bootstrap intervals beside those of scipy and torchmetrics: the AUROC of 10,000 scores, 1,000 resamples.

Each draws resamples of its own, and so its bounds differ from the others' by chance. All work in one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from scipy.stats import bootstrap
from sklearn.metrics import roc_auc_score
from torchmetrics.classification import BinaryAUROC
from torchmetrics.wrappers import BootStrapper

from openworld_metrics import OODBench, delong
from tests.benchmarks.measure import Peer, Work

LEVEL, SCORES, RESAMPLES = 0.95, 10_000, 1000
ROWS, CLUSTERS = 100_000, 1000
CHANCE = 0.003  # by which bounds may differ


def works() -> Iterator[Callable[[], Work]]:
    yield auroc
    yield clusters


def clusters() -> Work:
    """The interval that draws 1,000 clusters, beside that of ours that draws the 100,000 rows."""
    rng = np.random.default_rng(0)
    references = np.repeat([0, 1], ROWS // 2)
    scores, own = rng.normal(size=ROWS) + references, np.arange(ROWS) // (ROWS // CLUSTERS)
    metric = OODBench(metrics="auroc", confidence_level=LEVEL, n_resamples=RESAMPLES)
    return Work(
        f"AUROC ± 95 %, {RESAMPLES:,} resamples of {CLUSTERS:,} clusters of {ROWS // CLUSTERS} rows",
        lambda: metric.compute(predictions=scores, references=references, clusters=own),
        None,
        {"ours, by rows": Peer(lambda: metric.compute(predictions=scores, references=references), 2.0)},
    )


def auroc() -> Work:
    """The interval by `confidence_level`, and the other ways to it."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    known, unknown = rng.normal(size=SCORES // 2), rng.normal(size=SCORES // 2) + 1.2
    scores, references = np.concatenate([known, unknown]), np.repeat([0, 1], [len(known), len(unknown)])
    metric = OODBench(metrics="auroc", confidence_level=LEVEL, n_resamples=RESAMPLES)

    def by_scipy() -> Any:
        def statistic(first: np.ndarray, second: np.ndarray) -> float:
            return float(roc_auc_score(references, np.concatenate([first, second])))

        options: Any = dict(n_resamples=RESAMPLES, confidence_level=LEVEL, method="percentile", vectorized=False)
        return bootstrap((known, unknown), statistic, rng=np.random.default_rng(0), **options).confidence_interval

    def by_torchmetrics() -> Any:
        torch.manual_seed(0)
        bounds = torch.tensor([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        options: Any = dict(mean=False, std=False, quantile=bounds, sampling_strategy="multinomial")
        wrapper = BootStrapper(BinaryAUROC(), RESAMPLES, **options)
        wrapper.update(torch.from_numpy(scores), torch.from_numpy(references))
        return wrapper.compute()["quantile"]

    def by_formula() -> Any:
        return delong(positives=unknown, negatives=known, confidence_level=LEVEL)

    return Work(
        f"AUROC ± 95 %, {RESAMPLES:,} resamples; {SCORES // 2:,} + {SCORES // 2:,} scores",
        lambda: metric.compute(predictions=scores, references=references),
        lambda results: [results["auroc_low"], results["auroc_high"]],
        {
            "`scipy.stats.bootstrap` of `roc_auc_score`": Peer(by_scipy, None, list, CHANCE),
            "torchmetrics `BootStrapper(BinaryAUROC())`": Peer(by_torchmetrics, None, lambda r: r.tolist(), CHANCE),
            "ours, `delong`, a formula": Peer(by_formula, None, lambda r: [r.low, r.high], CHANCE),
        },
    )
