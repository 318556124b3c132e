"""openset_detection: known objects found, unknown objects called unknown; two families of measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from ..core.metric import Metric
from ..core.options import as_bool, as_choice, as_fraction
from .boxes import DetectionState, as_detection_state, reduce_boxes
from .ow_dln import openset_detection
from .owod import owod_detection
from .rules import Rules

if TYPE_CHECKING:
    from typing_extensions import Unpack

PROTOCOLS = ("ow-dln", "owod")


class OpenSetDetectionOptions(TypedDict, total=False):
    """Options of `OpenSetDetection`; see `detection_results` and `reduce_boxes`."""

    known_classes: Sequence[int] | None
    unknown_class_id: int
    iou_threshold: float
    conf_threshold: float
    box_format: str
    count_background: bool
    protocol: str
    matching: str | None
    recall_level: float | None
    previously_known: Sequence[int] | None
    plus_one: bool
    per_class: bool
    per_image: bool
    conf_list: Sequence[float] | None


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
    is_owod = as_choice(protocol, "protocol", PROTOCOLS) == "owod"
    if is_owod and matching is not None:
        raise ValueError(f"matching: expected None, since protocol='owod' matches as Pascal VOC, got {matching!r}")
    if is_owod and as_bool(count_background, "count_background"):
        raise ValueError("count_background: expected False, since protocol='owod' always counts them, got True")
    rules = Rules(
        known_classes,
        unknown_class_id,
        iou_threshold,
        conf_threshold,
        Rules.matching if matching is None else matching,
        count_background,
        plus_one,
    )
    tables: dict[str, Any] = dict(per_class=per_class, per_image=per_image, conf_list=conf_list)
    if is_owod:
        return owod_detection(state, rules, recall_level=recall_level, previously_known=previously_known, **tables)
    if previously_known is not None:
        raise ValueError(f"previously_known: expected None, since mAP is of protocol='owod', got {previously_known!r}")
    if recall_level is not None:
        as_fraction(recall_level, "recall_level")  # which has no use here, and is not to be wrong all the same
    return openset_detection(state, rules, **tables)


class OpenSetDetection(Metric):
    """Object detection with objects of unknown classes: see `reduce_boxes` and `detection_results`.

    >>> found, true = [[10, 10, 50, 50, 0.9, 0]], [[10, 10, 50, 50, 0], [60, 60, 100, 100, 5]]
    >>> OpenSetDetection(known_classes=[0]).compute(predictions=[found], references=[true])["FN_unknown"]
    1
    """

    name = "openset_detection"
    reduce = staticmethod(reduce_boxes)
    as_state = staticmethod(as_detection_state)
    summarise = staticmethod(detection_results)
    aliases = {"ground_truth": "references"}

    def __init__(self, **options: Unpack[OpenSetDetectionOptions]) -> None:
        super().__init__(**options)
