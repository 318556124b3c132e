"""Sets of options of every metric, in which each option occurs, and columns that suit them all."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

Options = dict[str, Any]
Columns = dict[str, Any]

COMMON: list[Options] = [
    {},
    {"confidence_level": 0.9, "n_resamples": 9, "random_state": 3},
    {"groups_without": "skip", "groups_mean": "harmonic"},
]
TOP_K: list[Options] = [
    {"k_list": [1, 2], "ties": "expected"},
    {"average": "macro", "percent": True},
    {"per_class": True, "ignore_unknown": True},
]
OPEN_F: list[Options] = [{"t_list": [0.1, 0.5]}, {"num_classes": 3}, {"per_sample": True}]


def functions() -> list[Any]:
    """Functions of scikit-learn, and partials of them; none where it is not installed."""
    try:
        from sklearn.metrics import confusion_matrix, f1_score, fbeta_score
    except ModuleNotFoundError:
        return []
    return [f1_score, confusion_matrix, partial(fbeta_score, beta=2.0)]


OPTIONS: dict[str, list[Options]] = {
    "accuracyk": [*COMMON, *TOP_K],
    "autkc": [*COMMON, *TOP_K],
    "macro_open_f": [*COMMON, *OPEN_F, {"threshold": 0.5}, {"decisions": True}],
    "micro_open_f": [*COMMON, *OPEN_F],
    "openauc": [
        *COMMON,
        {"tpr": 0.5, "fpr_list": [0.1, 0.2], "per_sample": True},
        {"significant_bits": 5},
        {"risk_metrics": ["aurc", "augrc", "risk@cov80", "coverage@risk5"]},
        {"risk_metrics": "augrc", "ood_cost": 0.25, "unknown_share": 0.5},
        {"roc_metrics": "eer"},
        {"threshold": 0.5},
        {"roc_metrics": ["pauroc@fpr10", "pauroc@tpr80_mcclish"], "significant_bits": 6},
    ],
    "ood_bench": [
        *COMMON,
        {"in_value": 1, "out_value": 0},
        {"in_value": "rest", "ignore_value": 7},
        {"significant_bits": 5, "metrics": ["auroc", "aurc", "prr"]},
        {"metrics": ["fpr95tpr", "tnr95tpr", "tpr5fpr", "pauroc@fpr10"], "positive": "in", "thresholds": True},
        {"metrics": ["tpr", "accuracy_score"], "threshold": 0.5},
        {"metrics": ["auroc", "fpr95tpr"], "step": 2},
        {"metrics": ["mindcf@p5", "eer_hull"], "cost_miss": 2.0, "cost_false_alarm": 0.5},
        {"metrics": ["detect_acc", "eer", "aurc", "e_aurc", "auarc", "augrc", "prr"], "per_sample": True},
        {"metrics": ["aupr_in", "aupr_out", "aupr_in_trapezoid", "aupr_out_trapezoid"]},
        *({"metrics": each, "threshold": 0.5} for each in functions()),
    ],
    "openset_detection": [
        {"known_classes": [0, 1], **each}
        for each in (
            *COMMON,
            {"unknown_class_id": 9, "iou_threshold": 0.3, "conf_threshold": 0.2, "count_background": True},
            {"matching": "confidence", "conf_list": [0.5, 0.9], "unknown_below": 0.4},
            {"matching": "iou", "plus_one": True},
            {"protocol": "owod", "previously_known": [0], "average_precision": "11-point", "recall_level": 0.5},
            {"per_class": True, "per_image": True, "errors": True},
            {"recall_budgets": [1, 5], "budget": "all"},
            {"box_format": "xywh"},
        )
    ],
    "anomaly_suite": [
        *COMMON,
        {"integration_limits": [0.5], "levels": "pixel", "num_thresholds": 10},
        {"points": "fpr95tpr", "thresholds": True},
        {"image_threshold": 0.5, "pixel_threshold": 0.5, "components": True, "min_predicted": 2, "min_object": 2},
        {"pimo_bounds": (0.1, 0.5), "per_image": True},
        {"image_reduction": "mean", "significant_bits": 6},
        {"ignore_value": 7, "regions": "components"},
        {"regions": "labels"},
    ],
}


def draw(name: str, seed: int) -> Columns:
    """Columns that every set of options takes."""
    rng = np.random.default_rng(seed)
    labels = np.asarray([0, 1, 0, 1, *rng.integers(0, 2, 8)])
    scores = rng.integers(0, 12, 12) / 8
    if name == "ood_bench":
        return {"predictions": scores, "references": labels}
    if name == "anomaly_suite":
        masks = np.zeros((4, 3, 3), int)
        masks[1, 0, :2] = masks[3, 2, 1:] = 1
        return {"predictions": rng.integers(0, 12, (4, 3, 3)) / 8, "references": masks}
    if name == "openset_detection":
        boxes = np.asarray([[0, 0, 4, 4], [4, 4, 9, 9], [0, 5, 3, 9]], float)
        found = [np.column_stack([boxes + rng.integers(0, 2, (3, 4)), rng.random(3), [0, 1, -1]]) for _ in range(4)]
        objects = np.column_stack([boxes, [0, 1, 5]])
        return {"predictions": found, "references": [objects, objects[:2]] * 2}
    classes = rng.integers(0, 3, 12)
    if name in ("accuracyk", "autkc"):
        return {"predictions": rng.integers(0, 5, (12, 3)) / 4, "references": classes}
    classes[labels == 1] = -1
    return {"predictions": rng.random((12, 3)), "references": classes, "open_scores": scores}
