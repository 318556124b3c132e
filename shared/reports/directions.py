"""Which way a result is better, by its key: for tables, where the best is bold and rates may be percent."""

from __future__ import annotations

import re
from typing import NamedTuple


class Direction(NamedTuple):
    """Whether higher is better, and whether the result is a rate, in [0, 1]."""

    higher: bool
    rate: bool


# keys as the metrics' cards have them; a key that fits none, such as a count or a threshold, has no direction
_KEYS = {
    Direction(True, True): (
        r"accuracy(@\d+)?|closed_set_accuracy|autkc@\d+",
        r"(macro|micro)_open_f|openauc|auoscr|open_set_auroc|open_set_accuracy@\w+|ccr@.+|coverage@risk.+",
        r"auroc|aupr_(in|out)(_trapezoid)?|detect_acc|t[pn]r([\d.]+[tf][pn]r)?",
        r"(image|pixel|sample)_(auroc|ap|aupr|f1_max|iou_max|f1|precision|recall|t[pn]r[\d.]+[tf][pn]r)",
        r"aupro@.+|auspro@.+|aupimo|siou|ppv|segment_f1",
        r"(U-)?(recall|precision|AP|mAP)(50|50-95|@.+|\((Known|(previously|newly) known)\))?",
        r"(balanced_)?accuracy_score|(f1|fbeta|jaccard|precision|recall|average_precision|roc_auc)_score",
    ),
    Direction(True, False): (r"cohen_kappa_score|matthews_corrcoef|d2_\w+_score",),
    Direction(False, True): (
        r"((image|pixel)_)?f[pn]r([\d.]+[tf][pn]r)?",
        r"(hamming|zero_one)_loss",
        r"aurc|augrc|risk@cov.+",
    ),
    Direction(False, False): (r"WI(\(OWOD\))?(@.+)?", r"A-OSE(\(detections\))?", r"(brier_score|hinge|log)_loss"),
}


def direction(key: str) -> Direction | None:
    """The direction of a result by its key; None where neither way is better, or where the key is not known.

    Of a slash-joined name, such as far/mnist/auroc, the last part counts.

    >>> direction("fpr95tpr"), direction("far/mnist/auroc").higher, direction("total_known")
    (Direction(higher=False, rate=True), True, None)
    """
    name = key.rpartition("/")[2]
    if name.endswith(("_low", "_high", "_error", "_threshold")):
        return None
    for found, patterns in _KEYS.items():
        if re.fullmatch("|".join(patterns), name, re.IGNORECASE):
            return found
    return None


def better(key: str, difference: float, low: float, high: float) -> str | None:
    """Which of two models is better in a result, "first" or "second", if the interval of the difference leaves out 0.

    None where it does not, or where it is not known which way is better.

    >>> better("auroc", 0.02, 0.01, 0.03), better("fpr95tpr", 0.02, 0.01, 0.03), better("auroc", 0.02, -0.01, 0.05)
    ('first', 'second', None)
    """
    known = direction(key)
    if known is None or low <= 0 <= high:
        return None
    return "first" if (difference > 0) == known.higher else "second"
