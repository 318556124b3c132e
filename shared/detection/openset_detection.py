"""Images prepared once: their boxes are matched, and counts of the images give results.

Images are resampled, not boxes, since the boxes of one image are not independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..arrays.arrays import MAX_EXACT
from ..arrays.checks import as_bool, as_choice, as_fraction, as_int_list, as_reals, plain_value
from ..metric.metric import Metric
from ..metric.prepared import Prepared
from ..metric.results import Results, as_dict
from .boxes import BOX_FORMATS, DetectionState, as_detection_state, box_state, places_of_images
from .budgets import BUDGETS, RECALL_IOUS, BudgetRecall
from .curves import AVERAGE_PRECISIONS
from .errors import NEARBY, Errors
from .matching import select_boxes
from .ow_dln import OwDln
from .owod import Owod
from .protocols import DetectionOptions, MatchedImages, tally
from .rules import RULE_CHECKS, Rules


class PreparedOptions(DetectionOptions, Protocol):
    """Options of `OpenSetDetection`, each of which is checked."""

    per_class: bool
    per_image: bool
    conf_list: Sequence[float] | None
    errors: bool
    budget: str

    @property
    def budget_sizes(self) -> list[int]:
        """Numbers of predictions per image."""


class PreparedImages(Prepared):
    """Images with boxes that are matched once; equal images are one row, in the order of their boxes."""

    def __init__(self, state: DetectionState, protocol: type[MatchedImages], options: PreparedOptions) -> None:
        self.state, self._options = state, options
        boxes = select_boxes(state, protocol.rules(options))
        lowest = [boxes.rules.iou_threshold]
        lowest += [float(NEARBY)] if options.errors else []
        lowest += [float(RECALL_IOUS[0])] if options.budget_sizes else []
        overlaps = boxes.overlaps(min(lowest))
        self.matched = protocol(boxes, overlaps.reaching(boxes.rules.iou_threshold), options)
        self._own = boxes.counts
        self.errors = Errors(self.matched, overlaps) if options.errors else None
        self._recall = None
        if options.budget_sizes:
            self._recall = BudgetRecall(boxes, overlaps, options.budget_sizes, options.budget)

    @cached_property
    def _places(self) -> np.ndarray:
        return places_of_images(self.state)

    @cached_property
    def _first(self) -> np.ndarray:
        return np.unique(self._places, return_index=True)[1]  # of each row, an image

    @cached_property
    def counts(self) -> np.ndarray:  # type: ignore[override]
        """The number of images that each row stands for."""
        return tally(self._places, self._own, len(self._first))

    @property
    def strata(self) -> np.ndarray:  # type: ignore[override]
        """One for all images."""
        return np.zeros_like(self.counts)

    def rows(self) -> np.ndarray:
        """The row of each image."""
        return self._places

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Rates and counts of the images; in resamples too, 0/0 is 0.0.

        Raises ValueError where there is no WI of protocol="owod".
        """
        if counts is None:
            return self._rates(self._own)
        images = np.zeros_like(self._own)
        images[self._first] = counts
        try:
            return self._rates(images)
        except ValueError as error:
            raise ValueError(f"among resampled images, {error}") from None

    def _rates(self, images: np.ndarray) -> Results:
        results = self.matched.rates(images)
        for more in (self._recall, self.errors):
            results |= more.rates(images) if more is not None else {}
        return results

    def tables(self, results: Results) -> dict[str, Any]:
        """The tables by class and by image, the sweep over confidences, fates and errors."""
        options, tables = self._options, dict[str, Any]()
        if options.per_class:
            more = self.errors.table_by_class() if self.errors is not None else {}
            tables["per_class"] = {**self.matched.table_by_class(), **more}
        if options.per_image:
            tables["per_image"] = {"image": [*range(int(self._own.sum()))], **self.matched.table_by_image()}
            for beside in (self._recall, self.errors):
                tables["per_image"] |= beside.table_by_image() if beside is not None else {}
        if options.conf_list is not None:
            sweep = self.matched.sweep(results, options.conf_list)
            tables["sweep"] = {"confidence": options.conf_list, **sweep}
        return {**tables, **(self.errors.tables(results) if self.errors is not None else {})}


# The metric openset_detection: detection of known objects, and of unknown ones as unknown, by two protocols.


PROTOCOLS: dict[str, type[MatchedImages]] = {"ow-dln": OwDln, "owod": Owod}


@dataclass(kw_only=True, eq=False, repr=False)
class OpenSetDetection(Metric):
    """Object detection with objects of unknown classes.

    Columns: see `reduce_boxes`. Options, in addition to the common ones (see `Metric`):

    known_classes to unknown_below: see `Rules`; matching=None is "iou", and Pascal VOC's with protocol="owod"
    protocol: "ow-dln", see `count_openset_detections` and `openset_detection_rates`; or "owod", see `Owod`
    recall_level: in (0, 1], the recall of WI in "owod"; None leaves WI out
    previously_known: the known_classes of earlier tasks, for mAP of "owod"
    average_precision: "all" or "11-point", of "owod"
    per_class, per_image: whether to add a table, a dict of columns of one length
    conf_list: confidences at which to add "sweep", a table of U-Recall, WI and A-OSE of the predictions that reach
        them; "ow-dln" needs matching="confidence" for it: by IoU, leaving out a box changes the matches of others
    errors: whether to add "fates" and "errors", tables of the fates of objects, and of the kinds of false positives
        with the gains from mending them; see `Errors`
    recall_budgets, budget: numbers k of predictions per image for which to add AR@k of unknown objects; see
        `found_within`
    box_format: "xyxy", "xywh" or "cxcywh". Fixed at load

    Raises ValueError for an option that the protocol does not have, and the errors of its rates.

    >>> boxes, objects = [[10, 10, 50, 50, 0.9, 0]], [[10, 10, 50, 50, 0], [60, 60, 100, 100, 5]]
    >>> OpenSetDetection(known_classes=[0]).compute(predictions=[boxes], references=[objects])["FN_unknown"]
    1
    """

    name = "openset_detection"
    truth = ("num_references", "references", "ignored", "reference_remainders")
    fixed_options = frozenset({"box_format"})
    aliases = {"ground_truth": "references"}
    configs = {name: {"protocol": name} for name in PROTOCOLS}

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
    unknown_below: float | None = Rules.unknown_below
    average_precision: str = "all"
    per_class: bool = False
    per_image: bool = False
    conf_list: Sequence[float] | None = None
    errors: bool = False
    recall_budgets: int | Sequence[int] | None = ()
    budget: str = "unknown"
    box_format: str = "xyxy"

    def __post_init__(self) -> None:
        """Check each option."""
        super().__post_init__()
        for name, check in RULE_CHECKS.items():
            value = getattr(self, name)
            if value is not None or name not in ("known_classes", "matching"):
                setattr(self, name, check(value, name))
        self.protocol = as_choice(self.protocol, "protocol", [*PROTOCOLS])
        self.average_precision = as_choice(self.average_precision, "average_precision", [*AVERAGE_PRECISIONS])
        self.budget = as_choice(self.budget, "budget", BUDGETS)
        self.box_format = as_choice(self.box_format, "box_format", BOX_FORMATS)
        self.recall_level = None if self.recall_level is None else as_fraction(self.recall_level, "recall_level")
        self.conf_list = None if self.conf_list is None else as_reals(self.conf_list, "conf_list")
        for name in ("per_class", "per_image", "errors"):
            setattr(self, name, as_bool(getattr(self, name), name))
        _ = self.budget_sizes

    @property
    def budget_sizes(self) -> list[int]:
        """The numbers of `recall_budgets`."""
        budgets = plain_value(self.recall_budgets)
        sizes = [] if budgets in (None, (), []) else as_int_list(budgets, "recall_budgets", 1, MAX_EXACT)
        if len(set(sizes)) < len(sizes):
            raise ValueError(f"recall_budgets: expected different numbers, got {sizes}")
        return sizes

    @property
    def matched_images(self) -> type[MatchedImages]:
        """The protocol."""
        return PROTOCOLS[self.protocol]

    @property
    def bytes_per_second(self) -> int:
        """As of `Metric`; a resample of "ow-dln" only weights counts of images, which are matched once."""
        return 1 << 30 if self.protocol == "ow-dln" else super().bytes_per_second

    @property
    def rules(self) -> Rules:
        """The rules of the protocol among the options."""
        return self.matched_images.rules(self)

    def reduce(self, predictions: Any, references: Any) -> DetectionState:
        """Check the boxes of a batch of images and lay them out in two tables."""
        return box_state(predictions, references, box_format=self.box_format)

    def as_state(self, state: Mapping[str, Any]) -> DetectionState:
        """Check a state from elsewhere."""
        return as_detection_state(state)

    def prepare(self, state: DetectionState) -> PreparedImages:
        """Match the boxes of each image."""
        return PreparedImages(state, self.matched_images, self)


def reduce_boxes(predictions: Any, references: Any, *, box_format: str = OpenSetDetection.box_format) -> DetectionState:
    """Check the boxes of a batch of images and lay them out in two tables.

    Parameters: predictions, per image (n, 6) rows x1, y1, x2, y2, confidence, class, or {"boxes", "scores",
    "labels"}, or a `supervision.Detections` or Ultralytics `Results`; references, per image (m, 5) rows x1, y1, x2,
    y2, class, or {"boxes", "labels"} and, if there are difficult or crowd objects, {"ignored"} or {"iscrowd"} with 1
    for them and 0 for the others, or a `supervision.Detections`; box_format, "xyxy", "xywh" (corner and size) or
    "cxcywh" (centre and size), which must be "xyxy" beside objects of these two libraries.

    Returns a `DetectionState`.
    Raises ValueError naming the image for shapes, NaN, x2 < x1, fractional classes; TypeError for other types.
    """
    return box_state(predictions, references, box_format=box_format)


def openset_detection(
    state: DetectionState,
    rules: Rules,
    *,
    per_class: bool = OpenSetDetection.per_class,
    per_image: bool = OpenSetDetection.per_image,
    conf_list: Sequence[float] | None = OpenSetDetection.conf_list,
) -> dict[str, Any]:
    """The results of `OpenSetDetection` with protocol="ow-dln", of a state of `reduce_boxes`.

    >>> state = reduce_boxes([[[0, 0, 4, 4, 0.9, 1]]], [[[0, 0, 4, 4, 1], [6, 6, 9, 9, 5]]])
    >>> openset_detection(state, Rules(known_classes=[1]))["TP_known"]
    1
    """
    return detection_results(
        state, OpenSetDetection(**asdict(rules), per_class=per_class, per_image=per_image, conf_list=conf_list)
    )


def owod_detection(state: DetectionState, rules: Rules, **options: Any) -> dict[str, Any]:
    """The results of `OpenSetDetection` with protocol="owod" and its other options, of a state of `reduce_boxes`.

    Parameters: rules; their matching and count_background have no effect here. Returns {key: number or table}.
    """
    of_rules = {**asdict(rules), "matching": None, "count_background": False}
    return detection_results(state, OpenSetDetection(**of_rules, protocol="owod", **options))


def detection_results(state: DetectionState, metric: OpenSetDetection) -> dict[str, Any]:
    """The results of a metric, of a state of `reduce_boxes`."""
    prepared = metric.prepare(state)
    results = prepared.rates()
    return as_dict({**results, **prepared.tables(results)})
