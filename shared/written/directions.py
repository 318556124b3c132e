"""The direction of a result, higher or lower is better: as results state it, or by name in files of other programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..ranking.operating_points import RATES, parse_point


class Direction(NamedTuple):
    """Whether higher is better, and whether the result is a share, in [0, 1]."""

    higher: bool
    rate: bool


# names in lower case without options, such as @0.3, (Known) and 50-95, and without a level, such as pixel_ and U-
_NAMES = {
    Direction(True, True): (
        "accuracy autkc macro_open_f micro_open_f openauc closed_set_accuracy open_set_auroc open_set_accuracy ccr "
        "coverage auoscr auroc aupr_in aupr_in_trapezoid aupr_out aupr_out_trapezoid detect_acc "
        "ap aupr f1 f1_max iou_max precision recall aupro auspro aupimo siou ppv segment_f1 "
        "map ar auarc pauroc os os* unk hos hos_max open_miou "
        "accuracy_score balanced_accuracy_score f1_score fbeta_score jaccard_score precision_score recall_score "
        "average_precision_score roc_auc_score"
    ),
    Direction(True, False): "cohen_kappa_score matthews_corrcoef d2_log_loss_score d2_brier_score prr",
    Direction(False, True): "aurc augrc e_aurc eer risk hamming_loss zero_one_loss",
    Direction(False, False): "wi a-ose brier_score_loss hinge_loss log_loss",
}
_DIRECTIONS = {name: direction for direction, names in _NAMES.items() for name in names.split()}
_PREFIXES, _SUFFIXES = ("image_", "pixel_", "sample_", "u-"), ("50-95", "50")


def direction(key: str) -> Direction | None:
    """The direction of a result by its name; None if it has no direction or the name is unknown.

    For a slash-joined name, such as far/mnist/auroc, the last part counts.

    >>> direction("fpr95tpr"), direction("far/mnist/auroc").higher, direction("total_known")
    (Direction(higher=False, rate=True), True, None)
    """
    name = key.rpartition("/")[2].lower()
    if name.endswith(("_low", "_high", "_error", "_threshold")):
        return None
    name = name.partition("@")[0].partition("(")[0]
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    point = parse_point(name)
    rate = name if point is None else point[0]
    if rate in RATES:
        return Direction(rate in ("tpr", "tnr"), True)
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return _DIRECTIONS.get(name)


def direction_of(key: str, kinds: Mapping[str, Any]) -> Direction | None:
    """The direction in the `kinds` of saved results; in files without kinds, that of the name.

    >>> direction_of("auroc", {"auroc": {"kind": "rate", "higher": True, "share": True}})
    Direction(higher=True, rate=True)
    """
    kind = kinds.get(key, kinds.get(key.rpartition("/")[2]))
    if not isinstance(kind, Mapping):
        return direction(key)
    higher = kind.get("higher")
    return Direction(higher, kind.get("share") is True) if isinstance(higher, bool) else None


def is_share(key: str, kinds: Mapping[str, Any]) -> bool:
    """Whether a result is a share, by the `kinds` of saved results; in files without kinds, by its name.

    >>> is_share("ΔmAP(missed)", {"ΔmAP(missed)": {"kind": "rate", "higher": None, "share": True}}), is_share("WI", {})
    (True, False)
    """
    kind = kinds.get(key, kinds.get(key.rpartition("/")[2]))
    if isinstance(kind, Mapping):
        return kind.get("share") is True
    known = direction(key)
    return known is not None and known.rate
