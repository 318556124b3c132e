"""What is measured: our metric through `compute`, and the peers that answer the same question, on the same arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import sklearn.metrics as sk
import torch
from oodeel.eval.metrics import bench_metrics as oodeel_bench_metrics
from torchmetrics.functional.classification import binary_auroc, multiclass_accuracy
from XCurve.Metrics.AUTKC import AUTKC, TopkAcc
from XCurve.Metrics.OpenAUC import MacroF, MicroF, OpenAUC

if not hasattr(np, "trapz"):
    vars(np)["trapz"] = np.trapezoid  # NumPy 2.4 took away the name that adeval 1.1 uses
from adeval import auroc_aupr_aupro as adeval_pixel_metrics

import openworld_metrics
from tests.benchmarks.measure import Peer, Work
from tests.benchmarks.peers import match_by_confidence, match_per_image, sampled_pro, voc_mean_average_precision

Rng = np.random.Generator
FIVE = ("auroc", "aupr_out", "aupr_in", "fpr95tpr", "detect_acc")


def values(results: dict[str, Any]) -> list[float]:
    return [*results.values()]


def topk(rng: Rng, n: int, classes: int, dtype: str = "float32", sklearn: bool = False) -> Work:
    scores = rng.random((n, classes), dtype=np.float32)
    tensor = torch.from_numpy(scores).to(getattr(torch, dtype))
    references = rng.integers(0, classes, n)
    labels = torch.from_numpy(references)
    accuracyk = openworld_metrics.load("accuracyk", k_list=(1, 5), percent=True)
    autkc = openworld_metrics.load("autkc", k_list=(1, 5, 10), percent=True)
    columns = dict(predictions=tensor if dtype == "bfloat16" else scores, references=references)
    # ties, which are many in bfloat16, count otherwise there
    tolerance = 100.0 if dtype == "bfloat16" else 1e-3
    peers = {
        "XCurve AUTKC": Peer(lambda: AUTKC(tensor, labels, (1, 5, 10)), 0.5 if sklearn else 1.0, list, tolerance),
        "XCurve TopkAcc": Peer(lambda: TopkAcc(tensor, labels, (1, 5)), 1.0),
    }
    if sklearn:
        peers["scikit-learn top_k_accuracy_score, k=5"] = Peer(
            lambda: sk.top_k_accuracy_score(references, scores, k=5, labels=np.arange(classes)), 1 / 80
        )
        peers["torchmetrics multiclass_accuracy, k=5"] = Peer(
            lambda: multiclass_accuracy(tensor, labels, classes, top_k=5, average="micro"), 1 / 10
        )
    return Work(
        f"accuracyk k=1,5 and autkc K=1,5,10; {n:,} × {classes:,} {dtype}",
        lambda: {**accuracyk.compute(**columns), **autkc.compute(**columns)},
        lambda r: [value for key, value in r.items() if key.startswith("autkc")],
        peers,
        scores if dtype == "float32" else None,
    )


def ood(rng: Rng, n: int, share: float, target: float, names: Sequence[str] = FIVE) -> Work:
    labels = (rng.random(n) < share).astype(np.int64)
    scores = rng.random(n, dtype=np.float32) + 0.3 * labels.astype(np.float32)
    tensors = torch.from_numpy(scores) / 2, torch.from_numpy(labels)
    metric = openworld_metrics.load("ood_bench", metrics=names)
    title = "five metrics" if names == FIVE else ", ".join(names)
    return Work(
        f"ood_bench, {title}; {n:,} float32, {share:.0%} OOD",
        lambda: metric.compute(predictions=scores, references=labels),
        lambda r: r["auroc"],
        {
            "scikit-learn roc_auc_score": Peer(lambda: sk.roc_auc_score(labels, scores), target, float),
            "torchmetrics binary_auroc": Peer(lambda: binary_auroc(*tensors), 1 / 5, float, 1e-3),
        },
        scores,
    )


def ood_step(rng: Rng) -> Work:
    labels = rng.integers(0, 2, 80_000)
    scores = rng.random(80_000) + 0.3 * labels
    names = ["auroc", "fpr95tpr"]
    metric = openworld_metrics.load("ood_bench", metrics=names, step=4)
    return Work(
        "ood_bench step=4; 80,000 scores",
        lambda: metric.compute(predictions=scores, references=labels),
        values,
        {"oodeel bench_metrics": Peer(lambda: oodeel_bench_metrics(scores, labels, metrics=names), 1 / 100, values)},
    )


def anomaly(rng: Rng, n: int) -> Work:
    maps, masks = rng.random((n, 256, 256), dtype=np.float32), np.zeros((n, 256, 256), dtype=bool)
    for mask in masks[: 2 * n // 3]:
        for row, column in rng.integers(0, 220, (3, 2)):
            mask[row : row + 30, column : column + 30] = True
    maps[masks] += 0.3
    metric = openworld_metrics.load("anomaly_suite")
    image_labels, image_scores = masks.any(axis=(1, 2)), maps.max(axis=(1, 2))

    def by_scikit_learn() -> list[float]:
        labels, scores = masks.reshape(-1), maps.reshape(-1)
        found = []
        for y, s in ((image_labels, image_scores), (labels, scores)):
            precision, recall, _ = sk.precision_recall_curve(y, s)
            f1 = np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12))
            sk.precision_recall_curve(y, s)  # once for AUPR and once for F1, as the seed's toolkit does
            found += [sk.roc_auc_score(y, s), sk.average_precision_score(y, s), sk.auc(recall, precision), float(f1)]
        sampled_pro(masks, maps, 99)
        return found

    return Work(
        f"anomaly_suite, everything; {n:,} × 256 × 256",
        lambda: metric.compute(predictions=maps, references=masks),
        lambda r: [r[f"{level}_{name}"] for level in ("image", "pixel") for name in ("auroc", "ap", "aupr", "f1_max")],
        {
            "scikit-learn and sampled PRO": Peer(by_scikit_learn, 1 / 60, list),
            "adeval auroc_aupr_aupro": Peer(
                lambda: adeval_pixel_metrics(list(maps), list(masks.astype(np.uint8))), 1.0, approximate=True
            ),
        },
        maps.reshape(-1),
    )


def open_f(rng: Rng, name: str, theirs: Callable[..., Any]) -> Work:
    n, classes = 20_000, 100
    open_labels = rng.integers(0, 2, n)
    arrays = rng.random((n, classes)), rng.integers(0, classes, n), rng.random(n), open_labels
    columns = dict(zip(("close_pred", "close_labels", "open_pred", "open_labels"), arrays))
    t_list = [k / 100 for k in range(1, 100)]
    metric = openworld_metrics.load(name)
    return Work(
        f"{name}; 20,000 × 100, 99 thresholds",
        lambda: metric.compute(**columns, t_list=t_list),
        lambda r: r[f"{name}_curve"],
        {
            f"XCurve {theirs.__name__} (the other's name)": Peer(lambda: theirs(*arrays, t_list), 1 / 50, list),
        },
    )


def open_f_sweep(rng: Rng, name: str) -> Work:
    n, classes = 20_000, 100
    columns = dict(
        predictions=rng.random((n, classes)), references=rng.integers(-classes, classes, n), open_scores=rng.random(n)
    )
    t_list = [k / 100 for k in range(1, 100)]
    metric = openworld_metrics.load(name)
    return Work(
        f"{name}; 20,000 × 100, every distinct threshold",
        lambda: metric.compute(**columns),
        None,
        {"ours, 99 thresholds": Peer(lambda: metric.compute(**columns, t_list=t_list), 3.0)},
    )


def open_f_float64(rng: Rng, name: str) -> Work:
    n, classes = 10_000_000, 100
    ids, double = (rng.integers(0, classes, n), rng.integers(-1, classes, n)), rng.random(n)
    single = double.astype(np.float32)

    def call(scores: np.ndarray) -> dict[str, Any]:
        if name == "macro_open_f":
            return {name: openworld_metrics.macro_open_f(*ids, scores, classes)}
        return {name: openworld_metrics.micro_open_f(*ids, scores)}

    return Work(
        f"{name}; 10,000,000 float64, every distinct threshold",
        lambda: call(double),
        None,
        {"ours, float32": Peer(lambda: call(single), 2.0)},
        double,
    )


def open_auc(rng: Rng) -> Work:
    n = 1_000_000
    names = ("open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels")
    arrays = rng.random(n), rng.random(n) + 0.3, rng.integers(0, 4, n), rng.integers(0, 4, n)
    metric = openworld_metrics.load("openauc")
    return Work(
        "openauc; 1,000,000 + 1,000,000",
        lambda: metric.compute(**dict(zip(names, arrays))),
        lambda r: r["openauc"],
        {"XCurve OpenAUC": Peer(lambda: OpenAUC(*arrays), 1 / 10, float)},
        np.concatenate(arrays[:2]),
    )


def detection(rng: Rng, images: int, found: int, true: int, way: str = "ow-dln, by IoU") -> Work:
    predictions, references = boxes_of_images(rng, images, found, true)
    options, number, peer = DETECTION[way]
    metric = openworld_metrics.load("openset_detection", known_classes=range(5), unknown_class_id=7, **options)
    return Work(
        f"openset_detection; {way}; {images:,} × {found:,} × {true:,} boxes",
        lambda: metric.compute(predictions=predictions, references=references),
        lambda r: r[number],
        {"NumPy, image by image": Peer(lambda: peer(predictions, references, range(5)), 1 / 4, float, 1e-12)},
    )


def errors_of_detection(rng: Rng, images: int, found: int, true: int, protocol: str) -> Work:
    predictions, references = boxes_of_images(rng, images, found, true)
    options: dict[str, Any] = dict(known_classes=range(5), unknown_class_id=7, protocol=protocol, recall_level=None)
    plain, metric = (openworld_metrics.load("openset_detection", **options, errors=errors) for errors in (False, True))
    without = Peer(
        lambda: plain.compute(predictions=predictions, references=references), 3, lambda r: r["U-Recall"], 0.0
    )
    return Work(
        f"openset_detection; {protocol}, errors; {images:,} × {found:,} × {true:,} boxes",
        lambda: metric.compute(predictions=predictions, references=references),
        lambda r: r["U-Recall"],
        {"without errors": without},
    )


def boxes_of_images(rng: Rng, images: int, found: int, true: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    def boxes(n: int, extra: int) -> np.ndarray:
        table = rng.random((n, 4 + extra)) * 100
        table[:, 2:4] = table[:, :2] + table[:, 2:4] * 0.5
        table[:, -1] = rng.integers(0, 8, n)
        return table

    return [boxes(found, 2) for _ in range(images)], [boxes(true, 1) for _ in range(images)]


DETECTION: dict[str, tuple[dict[str, Any], str, Callable[..., float]]] = {
    "ow-dln, by IoU": ({}, "TP_known", match_per_image),
    "ow-dln, by confidence": ({"matching": "confidence"}, "TP_known", match_by_confidence),
    "owod": ({"protocol": "owod", "recall_level": None}, "mAP", voc_mean_average_precision),
}


def works() -> Iterator[Callable[[], Work]]:
    """The rows, each made when it is measured, so that one at a time is in memory."""
    rng = np.random.default_rng(0)
    yield lambda: topk(rng, 50_000, 1_000, sklearn=True)
    yield lambda: topk(rng, 200_000, 100)
    yield lambda: topk(rng, 5_000, 21_841)
    yield lambda: topk(rng, 200_000, 100, "bfloat16")
    yield lambda: topk(rng, 5_000, 21_841, "bfloat16")
    yield lambda: ood(rng, 10_000_000, 0.03, 1 / 15)
    yield lambda: ood(rng, 10_000_000, 0.5, 1 / 12)
    yield lambda: ood(rng, 10_000_000, 0.5, 1 / 20, ("auroc",))
    yield lambda: ood_step(rng)
    yield lambda: anomaly(rng, 83)
    yield lambda: anomaly(rng, 1_000)
    yield lambda: open_f(rng, "macro_open_f", MicroF)
    yield lambda: open_f(rng, "micro_open_f", MacroF)
    yield lambda: open_f_sweep(rng, "macro_open_f")
    yield lambda: open_f_sweep(rng, "micro_open_f")
    yield lambda: open_f_float64(rng, "macro_open_f")
    yield lambda: open_f_float64(rng, "micro_open_f")
    yield lambda: open_auc(rng)
    yield lambda: detection(rng, 1_000, 100, 8)
    yield lambda: detection(rng, 1, 5_000, 500)
    yield lambda: detection(rng, 5_000, 100, 8)
    yield lambda: detection(rng, 5_000, 100, 8, "ow-dln, by confidence")
    yield lambda: detection(rng, 5_000, 100, 8, "owod")
    yield lambda: errors_of_detection(rng, 5_000, 100, 8, "owod")
    yield lambda: errors_of_detection(rng, 5_000, 100, 8, "ow-dln")
