"""openset_detection: known objects found, unknown objects called unknown; two families of measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..metric.metric import IntervalOptions, Metric
from .boxes import as_detection_state, reduce_boxes
from .image_units import detection_units
from .protocols import detection_results

if TYPE_CHECKING:
    from typing_extensions import Unpack


class OpenSetDetectionOptions(IntervalOptions, total=False):
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
    unknown_below: float | None
    per_class: bool
    per_image: bool
    conf_list: Sequence[float] | None


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
    units = staticmethod(detection_units)
    aliases = {"ground_truth": "references"}

    def __init__(self, **options: Unpack[OpenSetDetectionOptions]) -> None:
        super().__init__(**options)
