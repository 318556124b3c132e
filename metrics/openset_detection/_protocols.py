"""The two families of open-set detection measures under the options of one metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrays import State
from ._openset_counts import openset_detection
from ._options import as_bool, as_choice, as_fraction
from ._owod import owod_detection

PROTOCOLS = ("ow-dln", "owod")


def detection_results(
    state: State,
    known_classes: Any,
    *,
    protocol: str = "ow-dln",
    matching: str | None = None,
    count_background: bool = False,
    recall_level: float | None = 0.8,
    previously_known: Any = None,
    conf_list: Sequence[float] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Results of one protocol: `openset_detection` for "ow-dln", `owod_detection` for "owod".

    Parameters: state of `reduce_boxes`; options of the two; matching=None is "iou" for ow-dln, and the matching of
    Pascal VOC for owod, which has no other.
    Returns what the protocol's function returns. Raises ValueError also for an option that the protocol has not.
    """
    options["conf_list"] = conf_list
    background = as_bool(count_background, "count_background")
    if as_choice(protocol, "protocol", PROTOCOLS) == "owod":
        if matching is not None:
            raise ValueError(f"matching: expected None, since protocol='owod' matches as Pascal VOC, got {matching!r}")
        if background:
            raise ValueError("count_background: expected False, since protocol='owod' always counts them, got True")
        levels: dict[str, Any] = dict(recall_level=recall_level, previously_known=previously_known)
        return owod_detection(state, known_classes, **levels, **options)
    if previously_known is not None:
        raise ValueError(f"previously_known: expected None, since mAP is of protocol='owod', got {previously_known!r}")
    if recall_level is not None:
        as_fraction(recall_level, "recall_level")  # which has no use here, and is not to be wrong all the same
    how: dict[str, Any] = dict(matching="iou" if matching is None else matching, count_background=background)
    return openset_detection(state, known_classes, **how, **options)
