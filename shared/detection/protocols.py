"""The results of one protocol, from all options; of a state, or of its images with other counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..arrays.options import as_bool, as_choice, as_fraction
from ..metric.metric import keyword_options
from .boxes import DetectionState
from .counting import counts_by_image
from .ow_dln import openset_detection, openset_outcomes, openset_summary
from .owod import owod_detection, owod_options, owod_summary
from .owod_matches import class_precisions, match_owod
from .rules import Rules

PROTOCOLS = ("ow-dln", "owod")


def detection_results(
    state: DetectionState,
    *,
    known_classes: Sequence[int] | None = None,
    unknown_class_id: int = Rules.unknown_class_id,
    iou_threshold: float = Rules.iou_threshold,
    conf_threshold: float = Rules.conf_threshold,
    count_background: bool = Rules.count_background,
    protocol: str = "ow-dln",
    matching: str | None = None,
    recall_level: float | None = 0.8,
    previously_known: Sequence[int] | None = None,
    plus_one: bool = Rules.plus_one,
    unknown_below: float | None = None,
    per_class: bool = False,
    per_image: bool = False,
    conf_list: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Results of one protocol: `openset_detection` for "ow-dln", `owod_detection` for "owod".

    Parameters: state of `reduce_boxes`; `Rules`, of which known_classes is required, and options of the two;
    matching=None is "iou" for ow-dln, and the matching of Pascal VOC for owod, which has no other.
    Returns what the protocol's function returns. Raises what it raises, and ValueError for an option that the protocol
    has not.
    """
    chosen: dict[str, Any] = dict(
        known_classes=known_classes,
        unknown_class_id=unknown_class_id,
        iou_threshold=iou_threshold,
        conf_threshold=conf_threshold,
        count_background=count_background,
        protocol=protocol,
        matching=matching,
        recall_level=recall_level,
        previously_known=previously_known,
        plus_one=plus_one,
        unknown_below=unknown_below,
    )
    rules, tables = (
        _protocol_rules(chosen),
        dict[str, Any](per_class=per_class, per_image=per_image, conf_list=conf_list),
    )
    if protocol == "owod":
        return owod_detection(state, rules, recall_level=recall_level, previously_known=previously_known, **tables)
    return openset_detection(state, rules, **tables)


def results_by_counts(state: DetectionState, **options: Any) -> Callable[[np.ndarray], dict[str, Any]]:
    """Match the boxes once, for results of the same images with other counts.

    Parameters: state; options of `detection_results`, with its defaults. Returns a function from how often each image
    counts, (N,) int64, 0 included, to the results without tables; of the state's own counts they are those of
    `detection_results`, to the bit. That function raises ValueError where there is no WI of "owod".
    """
    chosen = {**keyword_options(detection_results), **options}
    rules = _protocol_rules(chosen)
    if chosen["protocol"] == "owod":
        level, groups = owod_options(rules, chosen["recall_level"], chosen["previously_known"])
        matches = match_owod(state, rules, with_wi=level is not None)
        return lambda counts: owod_summary(matches, class_precisions(matches, counts), counts, level, groups)
    by_image = counts_by_image(openset_outcomes(state, rules))
    return lambda counts: openset_summary(by_image, counts)


def _protocol_rules(options: Mapping[str, Any]) -> Rules:
    """The rules among all options, of which each is one that the protocol has."""
    is_owod, matching = as_choice(options["protocol"], "protocol", PROTOCOLS) == "owod", options["matching"]
    if is_owod and matching is not None:
        raise ValueError(f"matching: expected None, since protocol='owod' matches as Pascal VOC, got {matching!r}")
    if is_owod and as_bool(options["count_background"], "count_background"):
        raise ValueError("count_background: expected False, since protocol='owod' always counts them, got True")
    chosen = {field.name: options[field.name] for field in fields(Rules)}
    rules = Rules(**{**chosen, "matching": Rules.matching if matching is None else matching})
    if is_owod:
        return rules
    previous, level = options["previously_known"], options["recall_level"]
    if previous is not None:
        raise ValueError(f"previously_known: expected None, since mAP is of protocol='owod', got {previous!r}")
    if level is not None:
        as_fraction(level, "recall_level")  # which has no use here, and is not to be wrong all the same
    return rules
