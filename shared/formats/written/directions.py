"""The direction of a result, higher or lower is better: stated in results, or guessed for files of other programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple


class Direction(NamedTuple):
    """Whether higher is better, and whether the result is a rate, in [0, 1]."""

    higher: bool
    rate: bool


# keys as in the metrics' cards; a key without a match, such as a count or a threshold, has no direction
_KEYS = {
    Direction(True, True): (
        r"accuracy(@\d+)?|closed_set_accuracy|autkc@\d+",
        r"(macro|micro)_open_f|openauc|auoscr|open_set_auroc|open_set_accuracy@\w+|ccr@.+|coverage@risk.+",
        r"auroc|aupr_(in|out)(_trapezoid)?|detect_acc|((image|pixel)_)?t[pn]r([\d.]+[tf][pn]r)?",
        r"(image|pixel|sample)_(auroc|ap|aupr|f1_max|f1|iou_max|precision|recall)|aupro@.+|auspro@.+|aupimo",
        r"siou|ppv|segment_f1",
        r"(U-)?(recall|precision|F1|AP|AR|mAP)(50|50-95|@.+|\((Known|U|K|(previously|newly) known)\))?",
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
    """The direction of a result, guessed from its key; None if it has no direction or the key is unknown.

    For a slash-joined name, such as far/mnist/auroc, the last part counts.

    >>> direction("fpr95tpr"), direction("far/mnist/auroc").higher, direction("total_known")
    (Direction(higher=False, rate=True), True, None)
    """
    name = key.rpartition("/")[2]
    if name.endswith(("_low", "_high", "_error", "_threshold")):
        return None
    for kind, patterns in _KEYS.items():
        if re.fullmatch("|".join(patterns), name, re.IGNORECASE):
            return kind
    return None


def is_share(key: str, kinds: Mapping[str, Any]) -> bool:
    """Whether a result is a share, by the `kinds` of saved results; in files without kinds, a guess from the key.

    >>> is_share("ΔmAP(missed)", {"ΔmAP(missed)": {"kind": "rate", "higher": None, "share": True}}), is_share("WI", {})
    (True, False)
    """
    stated = kinds.get(key, kinds.get(key.rpartition("/")[2]))
    if isinstance(stated, Mapping):
        return stated.get("share") is True
    guessed = direction(key)
    return guessed is not None and guessed.rate


def direction_of(key: str, kinds: Mapping[str, Any]) -> Direction | None:
    """The direction in the `kinds` of saved results; in files without kinds, a guess from the key.

    >>> direction_of("auroc", {"auroc": {"kind": "rate", "higher": True, "share": True}})
    Direction(higher=True, rate=True)
    """
    stated = kinds.get(key, kinds.get(key.rpartition("/")[2]))
    if not isinstance(stated, Mapping):
        return direction(key)
    higher = stated.get("higher")
    return Direction(higher, stated.get("share") is True) if isinstance(higher, bool) else None
