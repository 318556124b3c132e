"""PyADMetric's functions: `from test_score import …` becomes `from openworld_metrics.dropin.pyadmetric import …`.

Those of one level, `calculate_…`, are of its test_score.py and round as it does; `cal_metric`, of both levels at once,
is of its test_score_gpu_accelerate.py, takes tensors on their device, and does not round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..anomaly.anomaly_suite import AnomalySuite
from ..anomaly.aupro import pro_curve
from ..arrays.arrays import as_array
from ..arrays.checks import as_fractions, as_int
from ..ranking.auroc import AUROC
from ..ranking.curves import AUPR, AVERAGE_PRECISION, F1_MAX
from .labelled_scores import labelled_value

_LIMITS: Any = AnomalySuite.integration_limits
_KEYS = {
    **{
        f"{level}-{theirs}": f"{level.lower()}_{ours}"
        for level in ("Image", "Pixel")
        for theirs, ours in (
            ("AUROC", "auroc"),
            ("Average precision", "ap"),
            ("F1-maximum", "f1_max"),
            ("AUPR", "aupr"),
        )
    },
    **{f"Pixel-AUPRO@{limit:.0%}": f"aupro@{limit}" for limit in _LIMITS},
}


def calculate_AUROC(gt: Any, predict: Any, decimals: int | None = 3) -> float:
    """Area under the ROC curve, of images or of pixels.

    Parameters: gt (N,), 1 for anomalous, 0 for normal; predict (N,) scores, higher is more anomalous; decimals, to
    which the result is rounded, None not at all.
    Returns a float in [0, 1]. Raises ValueError for NaN, lengths that differ, other labels and a missing class.

    >>> calculate_AUROC([1, 1, 0, 0], [0.9, 0.4, 0.4, 0.1])
    0.875
    """
    return _round(labelled_value(AUROC, predict=predict, gt=gt), decimals)


def calculate_AP(gt: Any, predict: Any, decimals: int | None = 3) -> float:
    """Average precision, the step sum under the precision-recall curve. As `calculate_AUROC` in all else.

    >>> calculate_AP([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    0.833
    """
    return _round(labelled_value(AVERAGE_PRECISION, predict=predict, gt=gt), decimals)


def calculate_AUPR(gt: Any, predict: Any, decimals: int | None = 3) -> float:
    """Area under the precision-recall curve by trapezoids. As `calculate_AUROC` in all else.

    >>> calculate_AUPR([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], decimals=None)
    0.7916666666666666
    """
    return _round(labelled_value(AUPR, predict=predict, gt=gt), decimals)


def calculate_F1max(gt: Any, predict: Any, decimals: int | None = 3) -> float:
    """Highest F1 over all thresholds. As `calculate_AUROC` in all else.

    >>> calculate_F1max([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1])
    0.8
    """
    return _round(labelled_value(F1_MAX, predict=predict, gt=gt)[0], decimals)


def _round(value: Any, decimals: int | None) -> float:
    return float(value if decimals is None else round(value, as_int(decimals, "decimals", 0)))


def calculate_Pro(
    gts: Any,
    predictions: Any,
    integration_limit: float | Sequence[float] = _LIMITS,
    num_thresholds: int | None = None,
    shape: tuple[int, int] = (256, 256),
    decimals: int | None = 3,
) -> tuple[list[float], tuple[list[float], list[float], list[float]]]:
    """Area under the per-region overlap curve up to limits of the FPR, divided by the limit, and the curve.

    Parameters: gts and predictions, masks and anomaly maps, which are reshaped to (N, *shape); integration_limit, the
    limits in (0, 1]; num_thresholds, 99 for PyADMetric's areas, from thresholds at 99 ranks of the normal pixels, which
    are wrong if scores tie; None takes all; decimals as of `calculate_AUROC`.
    Returns (areas, (fpr, pro, thresholds)), with the exact curve in ascending order of the FPR.
    Raises ValueError for a size that shape does not divide, and as `AnomalySuite` does.

    >>> areas, (fpr, pro, thresholds) = calculate_Pro([0, 1, 0, 1], [0.1, 0.9, 0.5, 0.2], 1.0, shape=(2, 2))
    >>> areas, fpr, pro
    ([0.75], [0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    limits = as_fractions(integration_limit, "integration_limit")
    metric = AnomalySuite(levels="pixel", integration_limits=limits, num_thresholds=num_thresholds)
    state = metric.reduce(_shaped(predictions, shape, "predictions"), _shaped(gts, shape, "gts"))
    results = metric.prepare(state).rates()
    curve = pro_curve(
        region_scores=state["anomalous"], region_sizes=state["region_sizes"], normal=state["normal"], max_points=None
    )
    areas = [_round(results[f"aupro@{limit}"].value, decimals) for limit in limits]
    return areas, (curve["fpr"], curve["pro"], curve["threshold"])


def cal_metric(gt_sp: Any, gt_mask: Any, pr_sp: Any, pr_mask: Any, shape: tuple[int, int] | None = None) -> Any:
    """AUROC, average precision, F1-max and AUPR of images and of pixels, and AUPRO at four limits.

    Parameters: gt_sp (N,), 1 for anomalous images; gt_mask (N, H, W), 1 for anomalous pixels; pr_sp (N,) and pr_mask
    (N, H, W), their scores; shape, (H, W) to which masks and maps are reshaped.
    Returns a dict of floats with keys such as "Image-AUROC" and "Pixel-AUPRO@30%". Raises as `AnomalySuite` does.

    >>> masks, maps = [[[0, 1], [0, 0]], [[0, 0], [0, 0]]], [[[0.1, 0.9], [0.2, 0.3]], [[0.1, 0.2], [0.0, 0.3]]]
    >>> cal_metric([1, 0], masks, [0.9, 0.3], maps)["Image-AUROC"]
    1.0
    """
    masks, maps = _shaped(gt_mask, shape, "gt_mask"), _shaped(pr_mask, shape, "pr_mask")
    results = AnomalySuite().compute(predictions=maps, references=masks, image_scores=pr_sp, image_labels=gt_sp)
    return {theirs: results[ours] for theirs, ours in _KEYS.items()}


def _shaped(maps: Any, shape: tuple[int, int] | None, name: str) -> Any:
    if shape is None:
        return maps
    array, (height, width) = as_array(maps, name), shape
    number = math.prod(array.shape)
    if number % (height * width):
        raise ValueError(f"{name}: expected maps of shape {height} × {width}, got {number} pixels")
    return array.reshape(-1, height, width)
