"""openset_detection: known objects found, unknown objects called unknown; two families of measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..metric.metric import Metric, keyword_options
from ..metric.prepared_units import PreparedUnits
from .boxes import as_detection_state, reduce_boxes
from .image_units import detection_units
from .protocols import detection_results
from .rules import Rules


@dataclass(kw_only=True, eq=False, repr=False)
class OpenSetDetection(Metric):
    """Object detection with objects of unknown classes: see `reduce_boxes` and `detection_results`.

    >>> found, true = [[10, 10, 50, 50, 0.9, 0]], [[10, 10, 50, 50, 0], [60, 60, 100, 100, 5]]
    >>> OpenSetDetection(known_classes=[0]).compute(predictions=[found], references=[true])["FN_unknown"]
    1
    """

    name = "openset_detection"
    reduce = staticmethod(reduce_boxes)
    as_state = staticmethod(as_detection_state)
    fixed_options = frozenset({"box_format"})
    aliases = {"ground_truth": "references"}

    known_classes: Sequence[int] | None = None
    unknown_class_id: int = Rules.unknown_class_id
    iou_threshold: float = Rules.iou_threshold
    conf_threshold: float = Rules.conf_threshold
    count_background: bool = Rules.count_background
    protocol: str = "ow-dln"
    matching: str | None = None
    recall_level: float | None = 0.8
    previously_known: Sequence[int] | None = None
    plus_one: bool = Rules.plus_one
    per_class: bool = False
    per_image: bool = False
    conf_list: Sequence[float] | None = None
    box_format: str = "xyxy"

    def prepare(self, state: Any) -> PreparedUnits:
        """Match the boxes of each image."""
        options = {name: getattr(self, name) for name in keyword_options(detection_results)}
        return PreparedUnits(state, partial(detection_results, **options), partial(detection_units, **options))
