"""Each measure of ood_bench beside AUROC, of the same scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from openworld_metrics import OODBench
from tests.benchmarks.measure import Peer, Work

SCORES = 10_000_000
BEST = (
    *("mindcf@p1", "detection_error", "best_balanced_accuracy", "eer", "eer_hull", "coverage@risk5", "risk@cov80"),
    *("reliability@c1", "aupr_out@share50", "precision@n", "precision@top5", "recall@top5"),
)
GRADED = ("aurc", "auarc", "e_aurc", "prr")
AT_THRESHOLD = ("dcf@p1", "answered", "accuracy_given_answered", "f_answered")


def beside_auroc(name: str, scores: np.ndarray, labels: np.ndarray) -> Work:
    """A measure, at a threshold if it is of decisions, beside AUROC."""
    metric, auroc = OODBench(metrics=name, threshold=0.9 if name in AT_THRESHOLD else None), OODBench(metrics="auroc")
    return Work(
        f"{name}; {SCORES:,} float32, half of them OOD",
        lambda: metric.compute(predictions=scores, references=labels),
        None,
        {"auroc": Peer(lambda: auroc.compute(predictions=scores, references=labels), 2.0)},
    )


def graded(name: str, scores: np.ndarray, labels: np.ndarray, qualities: np.ndarray) -> Work:
    """An area of answers with qualities, beside AUROC of as many with labels."""
    metric, auroc = OODBench(metrics=name), OODBench(metrics="auroc")
    return Work(
        f"{name} of qualities; {SCORES:,} float32",
        lambda: metric.compute(predictions=scores, qualities=qualities),
        None,
        {"auroc": Peer(lambda: auroc.compute(predictions=scores, references=labels), 2.0)},
    )


def works() -> Iterator[Callable[[], Work]]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, SCORES)
    scores = rng.random(SCORES, dtype=np.float32) + 0.3 * labels.astype(np.float32)
    for name in (*BEST, *AT_THRESHOLD):
        yield partial(beside_auroc, name, scores, labels)
    qualities = rng.integers(0, 11, SCORES) / np.float32(10)
    for name in GRADED:
        yield partial(graded, name, scores, labels, qualities)
