"""Metrics for models that meet the open world: the kernel of the eight evaluate modules of this collection.

Rules of the kernel, which every function follows:

- Scores rank. Open-set, OOD and anomaly scores are higher for what is unknown, OOD or anomalous. NaN is an error,
  ±inf is a score like any other, and −0.0 equals 0.0.
- Counts are int64, divided once; fractions are summed as integers or exactly. So results do not depend
  on the order of the samples, on their batches, or on the number of processes.
- There are no epsilons: ties get half credit in rank statistics, 0/0 is 0.0 in F-scores and detection ratios, and a
  quantity that needs two classes raises ValueError when one is missing.
- Exact by default: every distinct score is a threshold. Sampled curves are named options.
- NumPy arrays and torch tensors run the same lines, on the caller's device; torch is never imported here. Columns and
  batches on different devices meet on that of the first.

`load(name)` gives a metric as an `evaluate.Metric`; the functions below can be used without evaluate. They take
arrays that have been checked: the reduce_… functions check.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._anomaly import anomaly_metrics, level_counts
from ._aupro import aupro, sampled_aupro
from ._bench import bench_metrics
from ._boxes import box_iou, reduce_boxes
from ._counts import Counts, exceedance_counts
from ._curves import aupr, auroc, average_precision, detection_accuracy, f1_max, operating_point
from ._maps import reduce_maps
from ._matching import match_boxes
from ._ood import reduce_ood, split_ood
from ._open_f import macro_open_f, micro_open_f
from ._open_set import count_classes, reduce_known_unknown, reduce_open_set
from ._openauc import accuracy_at_tpr, openauc, openauc_metrics, split_open_set
from ._openset_counts import count_openset_detections, openset_detection, openset_detection_rates
from ._owod import owod_detection
from ._regions import split_regions
from ._sampled import ftpn, get_curve
from ._topk import (
    accuracy,
    autkc,
    known_ranks,
    listed_ranks,
    reduce_topk,
    reduce_topk_scores,
    topk_accuracy,
    true_class_ranks,
)
from ._voc import voc_average_precision

__all__ = [
    "METRICS",
    "Counts",
    "accuracy",
    "accuracy_at_tpr",
    "anomaly_metrics",
    "aupr",
    "aupro",
    "auroc",
    "autkc",
    "average_precision",
    "bench_metrics",
    "box_iou",
    "count_classes",
    "count_openset_detections",
    "detection_accuracy",
    "exceedance_counts",
    "f1_max",
    "ftpn",
    "get_curve",
    "known_ranks",
    "level_counts",
    "listed_ranks",
    "load",
    "macro_open_f",
    "match_boxes",
    "micro_open_f",
    "openauc",
    "openauc_metrics",
    "openset_detection",
    "openset_detection_rates",
    "operating_point",
    "owod_detection",
    "reduce_boxes",
    "reduce_known_unknown",
    "reduce_maps",
    "reduce_ood",
    "reduce_open_set",
    "reduce_topk",
    "reduce_topk_scores",
    "sampled_aupro",
    "split_ood",
    "split_open_set",
    "split_regions",
    "topk_accuracy",
    "true_class_ranks",
    "voc_average_precision",
]

METRICS = (
    "accuracyk",
    "autkc",
    "macro_open_f",
    "micro_open_f",
    "openauc",
    "ood_bench",
    "openset_detection",
    "anomaly_suite",
)


def load(name: str, **options: Any) -> Any:
    """Load a metric of this collection by name, offline, from the installed package.

    Parameters: name, one of `METRICS`; options of the metric and arguments of `evaluate.load`, as keywords.
    Returns an `evaluate.Metric`. Raises ValueError for an unknown name, TypeError for an unknown option.

    >>> load("openauc", tpr=0.9).compute(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    {'openauc': 1.0, 'closed_set_accuracy': 1.0, 'open_set_auroc': 1.0, 'open_set_accuracy@tpr90': 1.0}
    """
    import evaluate

    if name not in METRICS:
        raise ValueError(f"name: expected one of {', '.join(METRICS)}, got {name!r}")
    package = Path(__file__).parent
    # beside the modules in a wheel, beside the folder in a checkout
    folders = [folder / "metrics" / name for folder in (package, package.parent)]
    folder = next(folder for folder in folders if (folder / f"{name}.py").is_file())
    return evaluate.load(str(folder), module_type="metric", **options)
