"""The numbers of the report: three cards that say what each means, and a table of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...ranking.operating_points import parse_point
from ...written.results import direction_of
from ..frame import Figure, data_table
from .decisions import Decisions

_AUROC = "chance that an unknown sample scores above a known one, ties counting half"
_MEANINGS = {
    "openauc": "chance that a known sample is classified correctly and scores below an unknown one",
    "closed_set_accuracy": "of the known samples are classified correctly",
    "open_set_auroc": _AUROC,
    "auroc": _AUROC,
    "open_set_accuracy": "of all samples are correctly called known or unknown",
    "detect_acc": "of all samples are correctly called known or unknown, at the best threshold",
    "aupr_out": "area under the precision-recall curve of the unknown samples",
    "aupr_in": "area under the precision-recall curve of the known samples",
    "tpr": "of the unknown samples are called unknown",
    "fpr": "of the known samples are called unknown",
    "macro_open_f": "mean F-score of the known classes",
    "micro_open_f": "F-score of the known classes, their counts added up",
}
_POINTS = {  # by the rate and the bounded rate
    ("fpr", "tpr"): "of the known samples are called unknown where {:.12g} % of the unknown ones are",
    ("tpr", "fpr"): "of the unknown samples are called so where {:.12g} % of the known ones are",
}


def figures(numbers: Mapping[str, Any], decisions: Decisions, kinds: Mapping[str, Any]) -> list[Figure]:
    """The first three rates with their intervals; each says what it means and, if it has one, its threshold."""
    known = {key: way for key in numbers if (way := direction_of(key, kinds)) is not None and way.rate}
    return [
        Figure(
            key,
            numbers[key],
            numbers.get(f"{key}_low"),
            numbers.get(f"{key}_high"),
            higher=way.higher,
            words=_words(key, way.higher, numbers.get(f"{key}_threshold"), decisions),
        )
        for key, way in [*known.items()][:3]
    ]


def _words(key: str, higher: bool, threshold: float | None, decisions: Decisions) -> str:
    at = "" if threshold is None else f"; called unknown: score > {decisions.text(threshold)}"
    return f"{meaning(key) or ('higher is better' if higher else 'lower is better')}{at}"


def meaning(key: str) -> str:
    """A rate of samples in a few words; "" for others.

    >>> meaning("fpr95tpr")
    'of the known samples are called unknown where 95 % of the unknown ones are'
    """
    point = parse_point(key)
    if point is not None:
        return _POINTS.get(point[:2], "").format(float(100 * point[2]))
    return _MEANINGS.get(key.partition("@")[0].removesuffix("_trapezoid"), "")


def all_numbers(numbers: Mapping[str, Any]) -> str:
    """The HTML of the table of all numbers, each with its interval."""
    ends = {f"{key}_{end}" for key in numbers for end in ("low", "high") if f"{key}_{end}" in numbers}
    keys = [key for key in numbers if key not in ends]
    values = [
        (numbers[key], numbers[f"{key}_low"], numbers[f"{key}_high"]) if f"{key}_low" in ends else numbers[key]
        for key in keys
    ]
    return data_table({"result": keys, "value": values}, "All numbers", digits=6)
