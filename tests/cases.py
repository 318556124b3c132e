"""One table of random cases: for each metric, columns with many ties and options, from a seeded generator.

Scores are multiples of 1/64 in [−2, 2], which float16 and bfloat16 hold exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator
Columns = dict[str, Any]
Options = dict[str, Any]


def scores(rng: Rng, *shape: int) -> np.ndarray:
    levels = int(rng.integers(2, 129))
    return np.asarray(rng.integers(-levels, levels + 1, shape) / 64, dtype=np.float64)


def both_classes(rng: Rng, n: int) -> np.ndarray:
    labels = rng.integers(0, 2, n)
    labels[rng.permutation(n)[:2]] = 0, 1
    return labels


def topk_scores(rng: Rng, n: int) -> tuple[Columns, Options]:
    classes = int(rng.integers(1, 7))
    references = rng.integers(0, classes, n)
    ks = [int(k) for k in rng.integers(1, classes + 1, 3)]
    options = {
        "k_list": ks,
        "ties": str(rng.choice(["strict", "optimistic", "expected"])),
        "percent": bool(rng.random() < 0.3),
    }
    if rng.random() < 0.3:
        references[rng.permutation(n)[: n // 2]] = -1
        options["ignore_unknown"] = True
    return {"predictions": scores(rng, n, classes), "references": references}, options


def accuracyk(rng: Rng, n: int) -> tuple[Columns, Options]:
    columns, options = topk_scores(rng, n)
    if rng.random() < 0.4:
        width = int(rng.integers(1, 5))
        columns["predictions"] = rng.integers(0, 6, (n, width))
        options["k_list"] = [int(k) for k in rng.integers(1, width + 1, 2)]
    if rng.random() < 0.3:
        del options["k_list"]
    return columns, options


def open_set(rng: Rng, n: int) -> Columns:
    classes = int(rng.integers(2, 6))
    references = rng.integers(0, classes, n)
    unknown = both_classes(rng, n)
    columns: Columns = {"predictions": scores(rng, n, classes), "references": references, "open_scores": scores(rng, n)}
    if rng.random() < 0.4:
        columns["predictions"] = rng.integers(0, classes, n)
    if rng.random() < 0.5:
        columns["open_labels"] = unknown
    else:
        references[unknown == 1] = -1
    return columns


def open_f(rng: Rng, n: int) -> tuple[Columns, Options]:
    columns = open_set(rng, n)
    return columns, {"t_list": [float(t) for t in scores(rng, 5)]} if rng.random() < 0.5 else {}


def macro_open_f(rng: Rng, n: int) -> tuple[Columns, Options]:
    columns, options = open_f(rng, n)
    if rng.random() < 0.5:
        options["decisions"] = True
    if "t_list" not in options and rng.random() < 0.3:
        options["threshold"] = float(rng.choice(columns["open_scores"]))
    return columns, options


def openauc(rng: Rng, n: int) -> tuple[Columns, Options]:
    columns = open_set(rng, n)
    options: Options = {"tpr": float(rng.choice([0.5, 0.75, 0.9, 0.95, 1.0]))}
    if rng.random() < 0.5:
        shares = [f"{share:g}" for share in rng.choice([1, 7, 12.5, 50, 80, 100], 2)]
        options["risk_metrics"] = ["aurc", "augrc", f"risk@cov{shares[0]}", f"coverage@risk{shares[1]}"]
    if rng.random() < 0.3:
        limits = rng.integers(1, 100, 2)
        options["roc_metrics"] = ["eer", f"pauroc@tpr{limits[0]}", f"pauroc@fpr{limits[1]}_mcclish"]
    return columns, options


def ood_bench(rng: Rng, n: int) -> tuple[Columns, Options]:
    rates = ["fpr", "tpr", "fnr", "tnr"]
    points = [f"{rng.choice(rates)}{rng.integers(1, 100)}{rng.choice(rates)}" for _ in range(4)]
    options: Options = {"metrics": ["auroc", "aupr_in", "aupr_out", "detect_acc", "fpr95tpr", *points]}
    labels = both_classes(rng, n)
    if rng.random() < 0.3:
        options |= {"in_value": 1, "out_value": 0}
    columns = {"predictions": scores(rng, n), "references": labels}
    if rng.random() < 0.5:
        options["metrics"] += ["eer", "aurc", "e_aurc", "auarc", "augrc", "prr", f"pauroc@tpr{rng.integers(1, 100)}"]
        options["metrics"] += [f"pauroc@fpr{rng.integers(1, 101)}", f"pauroc@fpr{rng.integers(1, 101)}_mcclish"]
    if rng.random() < 0.3:
        options["positive"] = "in"
    if rng.random() < 0.5:
        options["metrics"] += costs_and_shares(rng)
        options |= {"cost_miss": float(rng.choice([1, 0.1, 10])), "cost_false_alarm": float(rng.choice([1, 0.3, 7]))}
    if rng.random() < 0.3:
        options["threshold"] = float(rng.choice(columns["predictions"]))
        options["metrics"] += ["dcf@p1", "dcf@p50", "answered", "f_answered"]
    return columns, options


def costs_and_shares(rng: Rng) -> list[str]:
    """Names of ood_bench with a number, and the others of their families."""
    names = ["detection_error", "best_balanced_accuracy", "eer_hull", "precision@n"]
    for kind in ("mindcf@p", "aupr_out@share", "precision@top", "recall@top", "risk@cov", "coverage@risk"):
        names.append(f"{kind}{rng.choice(['0.5', '1', '5', '12.5', '50', '80', '99'])}")
    return [*names, f"reliability@c{rng.choice(['0', '0.5', '1', '9'])}"]


def boxes(rng: Rng, n: int) -> np.ndarray:
    corners = rng.integers(0, 9, (n, 4)) / 2
    return np.concatenate([corners[:, :2], corners[:, :2] + corners[:, 2:]], axis=1)


def openset_detection(rng: Rng, n: int) -> tuple[Columns, Options]:
    found, true = [], []
    for _ in range(n):
        p, g = (int(k) for k in rng.integers(0, 6, 2))
        objects = np.column_stack([boxes(rng, g), rng.choice([0, 1, 3, 5], g)])
        table = np.column_stack([boxes(rng, p), scores(rng, p), rng.choice([0, 1, 2, 9], p)])
        near = rng.integers(0, g, p) if g else np.zeros(0, dtype=int)  # most predictions are near an object
        moved = objects[near, :4] + rng.integers(0, 2, (len(near), 4)) * [0, 0, 0.5, 0.5]
        table[: len(near), :4] = np.where(rng.random((len(near), 1)) < 0.7, moved, table[: len(near), :4])
        table[: len(near), 5] = np.where(rng.random(len(near)) < 0.5, objects[near, 4], table[: len(near), 5])
        table[table[:, 5] > 2, 5] = 9
        found.append(table)
        true.append(objects)
    options: Options = {
        "known_classes": [0, 1],
        "unknown_class_id": 9,
        "iou_threshold": float(rng.choice([0.25, 0.5, 0.55, 0.75, 0.8, 1.0])),
        "conf_threshold": float(rng.choice([0.0, 0.5, -2.0])),
        "plus_one": bool(rng.random() < 0.2),
    }
    if rng.random() < 0.5:
        options |= {"protocol": "owod", "recall_level": None}
    else:
        options["count_background"] = bool(rng.random() < 0.5)
        options["matching"] = rng.choice(np.asarray([None, "iou", "confidence"], dtype=object))
    return {"predictions": found, "references": true}, options


POINTS = (("fpr", "95", "tpr"), ("tnr", "62.5", "tpr"), ("tpr", "5", "fpr"))


def anomaly_suite(rng: Rng, n: int) -> tuple[Columns, Options]:
    height, width = (int(k) for k in rng.integers(2, 6, 2))
    masks = rng.integers(0, 2, (n, height, width)) * rng.integers(0, 2, (n, 1, 1))
    masks[0], masks[1] = 0, 0
    masks[1, 0, 0] = 1
    columns: Columns = {"predictions": scores(rng, n, height, width), "references": masks}
    if rng.random() < 0.3:
        columns |= {"image_scores": scores(rng, n), "image_labels": both_classes(rng, n)}
    options: Options = {"integration_limits": [0.3, 0.1, 0.01, 1.0, float(rng.uniform(0.01, 1))]}
    if rng.random() < 0.5:
        options["image_reduction"] = rng.choice(np.asarray(["max", "mean", 1], dtype=object))
    if rng.random() < 0.3:
        options["regions"] = "labels"
    if rng.random() < 0.4:
        options["points"] = [f"{rate}{bound}{other}" for rate, bound, other in POINTS[: int(rng.integers(1, 4))]]
    if rng.random() < 0.3:
        anomalous = columns.get("image_labels", masks.any((1, 2)))
        columns["samples"] = rng.integers(0, n, n)
        columns["samples"][[np.argmax(anomalous == 0), np.argmax(anomalous == 1)]] = n, n + 1  # so there are both kinds
    return columns, options


class Metric(NamedTuple):
    draw: Callable[[Rng, int], tuple[Columns, Options]]
    scores: tuple[str, ...]  # columns in which only the order matters
    thresholds: tuple[str, ...] = ()  # results that are scores themselves


METRICS = {
    "accuracyk": Metric(accuracyk, ("predictions",)),
    "autkc": Metric(topk_scores, ("predictions",)),
    "macro_open_f": Metric(macro_open_f, ("open_scores",), ("macro_open_f_threshold", "hos_max_threshold")),
    "micro_open_f": Metric(open_f, ("open_scores",), ("micro_open_f_threshold",)),
    "openauc": Metric(openauc, ("open_scores",)),
    "ood_bench": Metric(ood_bench, ("predictions",)),
    "openset_detection": Metric(openset_detection, ()),
    "anomaly_suite": Metric(anomaly_suite, ("predictions",), ("image_f1_max_threshold", "pixel_f1_max_threshold")),
}


def draw(name: str, seed: int, at_least: int = 2) -> tuple[Columns, Options]:
    rng = np.random.default_rng([seed, *name.encode()])
    return METRICS[name].draw(rng, max(at_least, int(rng.integers(2, 30))))


def take(column: Any, rows: Any) -> Any:
    """Some rows of a column, whether it is an array or a list of images."""
    return column[rows] if isinstance(column, np.ndarray) else [column[i] for i in rows]


def with_groups(columns: Columns, seed: int) -> Columns:
    """The samples once in each of three groups, and some of them in all, in another order, with their groups."""
    rng = np.random.default_rng(seed)
    number = len(next(iter(columns.values())))
    again = np.concatenate([np.tile(np.arange(number), 3), rng.integers(0, number, number // 2)])
    names = [name for name in ("near/a", "near/b", "far") for _ in range(number)] + [""] * (number // 2)
    order = rng.permutation(len(again))
    taken = {name: take(column, again[order].tolist()) for name, column in columns.items()}
    if "samples" in columns:  # the images of a sample lie in one group
        taken["samples"] = [f"{sample} of {names[i]}" for sample, i in zip(taken["samples"], order)]
    return {**taken, "groups": np.asarray(names)[order]}


def with_clusters(columns: Columns, seed: int) -> Columns:
    """The samples twice, in another order, each in one of some clusters, so that every cluster has another like it."""
    rng = np.random.default_rng(seed)
    number = len(next(iter(columns.values())))
    _, sample = np.unique(columns.get("samples", np.arange(number)), return_inverse=True)  # of one cluster
    own = rng.integers(0, int(rng.integers(1, 8)), number)[sample]
    order = rng.permutation(2 * number)
    taken = {name: take(column, (order % number).tolist()) for name, column in columns.items()}
    if "samples" in columns:
        taken["samples"] = [f"{sample} of {i // number}" for sample, i in zip(taken["samples"], order)]
    return {**taken, "clusters": np.asarray([f"c{own[i % number]} of {i // number}" for i in order])}


def as_lists(column: Any) -> list[Any]:
    if isinstance(column, np.ndarray):
        return column.tolist()
    return [item if isinstance(item, str) else as_lists(item) for item in column]
