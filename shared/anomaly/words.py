"""The meaning of each result of anomaly_suite, in plain words."""

from __future__ import annotations

import re

_RATES = {
    "auroc": "chance that an anomalous {one} scores above a normal one",
    "ap": "average precision of {many}: the step sum under the precision-recall curve",
    "aupr": "area under the precision-recall curve of {many}, by trapezoids",
    "f1_max": "the best F1 of {many} over all thresholds",
    "iou_max": "the best overlap of the {many} above a threshold with the anomalous ones, TP / (TP + FP + FN)",
    "f1": "F1 of {many} at the threshold chosen before",
    "precision": "share of the {many} called anomalous that are, at the threshold chosen before",
    "recall": "share of the anomalous {many} called so, at the threshold chosen before",
}
_POINTS = {  # the reported rate of a point, and the condition that holds there
    "fpr": (
        "lowest share of normal {many} called anomalous",
        "at most {bound} % of the normal ones are called so",
    ),
    "tnr": ("highest share of normal {many} called normal", "at least {bound} % of the normal ones are called so"),
    "tpr": ("highest share of anomalous {many} found", "at least {bound} % of the anomalous ones are found"),
    "fnr": ("lowest share of anomalous {many} missed", "at most {bound} % of the anomalous ones are missed"),
}
_REGIONS = {
    "aupro": "mean overlap of the regions, over false-positive rates of pixels up to {limit}",
    "auspro": "the same with the saturation areas of the defects, up to {limit}",
}
_ALONE = {
    "aupimo": "mean recall of an anomalous image's pixels at very few false alarms in normal images",
    "siou": "mean overlap of the objects with the components that touch them",
    "ppv": "mean share of a predicted component that lies inside objects",
    "segment_f1": "F1 of objects and components found, averaged over overlaps from 1/4 to 3/4",
    "images": "number of images",
    "anomalous_images": "number of anomalous images",
}


def meaning(key: str) -> str:
    """The meaning of a result, by its key; "" for any other key.

    >>> meaning("pixel_fpr95tpr")
    'lowest share of normal pixels called anomalous where at least 95 % of the anomalous ones are found'
    >>> meaning("aupro@0.3")
    'mean overlap of the regions, over false-positive rates of pixels up to 0.3'
    """
    name, _, limit = key.partition("@")
    if name in _REGIONS and limit:
        return _REGIONS[name].format(limit=limit)
    if key in _ALONE:
        return _ALONE[key]
    level, _, rate = key.partition("_")
    if level not in ("image", "pixel", "sample"):
        return ""
    if rate in _RATES:
        return _RATES[rate].format(one=level, many=f"{level}s")
    point = re.fullmatch(r"([tf][pn]r)([\d.]+)([tf][pn]r)", rate)
    if point is None:
        return ""
    reported, bound, bounded = point.groups()
    return f"{_POINTS[reported][0].format(many=f'{level}s')} where {_POINTS[bounded][1].format(bound=bound)}"
