"""The metric openset_detection: detection of known objects, and of unknown ones as unknown, by two protocols.

The boxes of each image are matched once; counts of the images then give results. Images are resampled, not boxes, since
the boxes of one image are not independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays.arrays import MAX_EXACT
from ..arrays.box_objects import UNKNOWN_CLASS_ID
from ..arrays.checks import as_bool, as_choice, as_fraction, as_int, as_int_list, as_real, as_reals, plain_value
from ..metric.metric import Metric
from ..metric.prepared import Prepared
from ..metric.results import Rate, Results
from .boxes import BOX_FORMATS, DetectionState, as_detection_state, image_contents, places_of_images, reduce_boxes
from .budgets import BUDGETS, BudgetRecall
from .curves import AVERAGE_PRECISIONS
from .errors import NEARBY
from .matching import RECALL_IOUS
from .outcomes import DEFAULT_IOU, MATCHINGS, select_boxes, tally
from .protocols import OwDln, Owod

PROTOCOLS: dict[str, type[OwDln] | type[Owod]] = {"ow-dln": OwDln, "owod": Owod}
_ONLY: dict[str, tuple[tuple[str, Any, str], ...]] = {  # by protocol, options with one value, and why
    "ow-dln": (
        ("previously_known", None, "mAP is of protocol='owod'"),
        ("average_precision", "all", "mAP is of protocol='owod'"),
    ),
    "owod": (
        ("matching", None, "protocol='owod' matches as Pascal VOC"),
        ("count_background", False, "protocol='owod' always counts them"),
    ),
}


@dataclass(kw_only=True, eq=False, repr=False)
class OpenSetDetection(Metric):
    """Object detection with objects of unknown classes.

    Columns: see `reduce`; one-to-one matching: `match_boxes`. Options, in addition to the common ones (see `Metric`):

    known_classes: ids of the known classes, required; objects of all others are unknown
    unknown_class_id: the class by which a prediction says "unknown", which is not among them
    iou_threshold: in (0, 1]; boxes match at IoU ≥ threshold
    conf_threshold: predictions with a lower confidence are left out
    count_background: whether "unknown" predictions without an object are FP_unknown
    protocol: "ow-dln", see `one_to_one_outcomes` and `openset_detection_rates`; or "owod", see `Owod`
    matching: which box takes an object first, see `match_boxes`; None is "iou", and Pascal VOC's with protocol="owod"
    recall_level: in (0, 1], the recall of WI in "owod"; None leaves WI out
    previously_known: the known_classes of earlier tasks, for mAP of "owod"
    plus_one: whether widths and heights are x2 − x1 + 1, as the VOC devkit counts both border pixels
    unknown_below: predictions of known classes with a lower confidence count as unknown; with None, none does
    average_precision: "all" or "11-point", of "owod"
    per_class, per_image: whether to add a table, a dict of columns of one length
    conf_list: confidences at which to add "sweep", a table of U-Recall, WI and A-OSE of the predictions that reach
        them; "ow-dln" needs matching="confidence" for it: by IoU, leaving out a box changes the matches of others
    errors: whether to add "fates" and "errors", tables of the fates of objects, and of the kinds of false positives
        with the gains from correcting them; see `Errors`
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
    classes_needed = ("images",)
    configs = {name: {"protocol": name} for name in PROTOCOLS}
    selecting = Metric.selecting | {"recall_level", "per_class", "per_image", "conf_list", "errors", "recall_budgets"}
    selecting |= {"box_format"}  # which says how boxes are written

    known_classes: Sequence[int] | None = None
    unknown_class_id: int = UNKNOWN_CLASS_ID
    iou_threshold: float = DEFAULT_IOU
    conf_threshold: float = 0.0
    count_background: bool = False
    protocol: str = "ow-dln"
    matching: str | None = None
    recall_level: float | None = 0.8
    previously_known: Sequence[int] | None = None
    plus_one: bool = False
    unknown_below: float | None = None
    average_precision: str = "all"
    per_class: bool = False
    per_image: bool = False
    conf_list: Sequence[float] | None = None
    errors: bool = False
    recall_budgets: int | Sequence[int] | None = ()
    budget: str = "unknown"
    box_format: str = "xyxy"

    def __post_init__(self) -> None:
        """Check each option by itself, and keep it as a plain Python value."""
        super().__post_init__()
        self.unknown_class_id = as_int(self.unknown_class_id, "unknown_class_id", -MAX_EXACT, MAX_EXACT)
        for name in ("known_classes", "previously_known"):
            if getattr(self, name) is not None:
                setattr(self, name, as_int_list(getattr(self, name), name, -MAX_EXACT, MAX_EXACT))
        self.iou_threshold = as_fraction(self.iou_threshold, "iou_threshold")
        self.conf_threshold = as_real(self.conf_threshold, "conf_threshold")
        for flag in ("count_background", "plus_one", "per_class", "per_image", "errors"):
            setattr(self, flag, as_bool(getattr(self, flag), flag))
        if self.matching is not None:
            self.matching = as_choice(self.matching, "matching", MATCHINGS)
        if self.unknown_below is not None:
            self.unknown_below = as_real(self.unknown_below, "unknown_below")
        if self.recall_level is not None:
            self.recall_level = as_fraction(self.recall_level, "recall_level")
        self.protocol = as_choice(self.protocol, "protocol", [*PROTOCOLS])
        self.average_precision = as_choice(self.average_precision, "average_precision", [*AVERAGE_PRECISIONS])
        self.budget = as_choice(self.budget, "budget", BUDGETS)
        self.box_format = as_choice(self.box_format, "box_format", BOX_FORMATS)
        if self.conf_list is not None:
            self.conf_list = as_reals(self.conf_list, "conf_list")
        self.budget_sizes: list[int] = []  # the numbers of `recall_budgets`
        if plain_value(self.recall_budgets) not in (None, (), []):
            self.budget_sizes = as_int_list(self.recall_budgets, "recall_budgets", 1, MAX_EXACT)
        if len(set(self.budget_sizes)) < len(self.budget_sizes):
            raise ValueError(f"recall_budgets: expected different numbers, got {self.budget_sizes}")

    def check_together(self) -> None:
        """Raise TypeError without known_classes, and ValueError for options that exclude each other."""
        for name, expected, reason in _ONLY[self.protocol]:
            value = getattr(self, name)
            if value != expected:
                raise ValueError(f"{name}: expected {expected!r}, since {reason}, got {value!r}")
        if self.known_classes is None:
            raise TypeError("known_classes: expected a list of the known class ids, got None; the option is required")
        known, unknown_id, previous = self.known_classes, self.unknown_class_id, self.previously_known
        if unknown_id in known:
            raise ValueError(f"known_classes: expected them without unknown_class_id, got {unknown_id} in {known}")
        if previous is not None and not set(previous) < set(known):
            raise ValueError(f"previously_known: expected some, not all, of known_classes {known}, got {previous}")

    def moving(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """As of `Metric`: classes are sets, and the default matching has a name."""
        moving = super().moving(options)
        for name in ("known_classes", "previously_known"):
            if moving[name] is not None:
                moving[name] = sorted({*as_int_list(moving[name], name, -MAX_EXACT, MAX_EXACT)})
        if moving["protocol"] == "ow-dln" and moving["matching"] == MATCHINGS[0]:
            moving["matching"] = None
        if not self.budget_sizes:
            del moving["budget"]
        return moving

    @property
    def bytes_per_second(self) -> int:
        """As of `Metric`; a resample of "ow-dln" only weights counts of images, which are matched once."""
        # 1,000 resamples of 5,000 images with 100 boxes each, 43 MB, take half a second
        return 1 << 36 if self.protocol == "ow-dln" else super().bytes_per_second

    def reduce(self, predictions: Any, references: Any) -> DetectionState:
        """Check the boxes of a batch of images and lay them out in two tables.

        Parameters: predictions, per image (n, 6) rows x1, y1, x2, y2, confidence, class, or {"boxes", "scores",
        "labels"}, or a `supervision.Detections` or Ultralytics `Results`; references, per image (m, 5) rows x1, y1, x2,
        y2, class, or {"boxes", "labels"} and, if there are difficult or crowd objects, {"ignored"} or {"iscrowd"} with
        1 for them and 0 for the others, or a `supervision.Detections`. Boxes are "xyxy", "xywh" (corner and size) or
        "cxcywh" (centre and size), as `box_format` says, which must be "xyxy" with objects of these two libraries.

        Returns a `DetectionState`.
        Raises ValueError naming the image for shapes, NaN, x2 < x1, fractional classes; TypeError for other types.
        """
        return reduce_boxes(predictions, references, self.box_format)

    def as_state(self, state: Mapping[str, Any]) -> DetectionState:
        """Check a state from elsewhere."""
        return as_detection_state(state)

    def prepare(self, state: DetectionState) -> PreparedImages:
        """Match the boxes of each image."""
        return PreparedImages(state, self)

    def tables(self, prepared: PreparedImages, results: Results) -> dict[str, Any]:
        """The tables by class and by image, the sweep over confidences, fates and errors."""
        matched, errors, tables = prepared.matched, prepared.matched.errors, dict[str, Any]()
        if self.per_class:
            more = errors.table_by_class() if errors is not None else {}
            tables["per_class"] = {**matched.table_by_class(), **more}
        if self.per_image:
            tables["per_image"] = {"image": [*range(int(prepared.images.sum()))], **matched.table_by_image()}
            for more_rows in (prepared.recall, errors):
                tables["per_image"] |= more_rows.table_by_image() if more_rows is not None else {}
        if self.conf_list is not None:
            tables["sweep"] = {"confidence": self.conf_list, **matched.sweep(results, self.conf_list)}
        return {**tables, **(errors.tables(results, matched.gains) if errors is not None else {})}


class PreparedImages(Prepared):
    """Images with boxes that are matched once; equal images are one row, in the order of their boxes."""

    def __init__(self, state: DetectionState, metric: OpenSetDetection) -> None:
        self.state = state
        boxes, sizes = select_boxes(state, metric), metric.budget_sizes
        lowest = min(metric.iou_threshold, NEARBY if metric.errors else 1, RECALL_IOUS[0] if sizes else 1)
        overlaps = boxes.overlaps(float(lowest))
        self.matched = PROTOCOLS[metric.protocol](boxes, overlaps)
        self.images = boxes.counts  # how many each stands for
        self.recall = BudgetRecall(boxes, overlaps, sizes, metric.budget) if sizes else None

    @cached_property
    def _places(self) -> np.ndarray:
        return places_of_images(self.state)

    @cached_property
    def _first(self) -> np.ndarray:
        return np.unique(self._places, return_index=True)[1]  # of each row, an image

    @cached_property
    def counts(self) -> np.ndarray:  # type: ignore[override]
        """The number of images that each row stands for."""
        return tally(self._places, self.images, len(self._first))

    @property
    def strata(self) -> np.ndarray:  # type: ignore[override]
        """One for all images."""
        return np.zeros_like(self.counts)

    def rows(self) -> np.ndarray:
        """The row of each image."""
        return self._places

    def contents(self) -> Iterable[bytes]:
        """The boxes and objects of each row, and its images."""
        chosen = np.isin(np.arange(len(self._places)), self._first)
        images = [*zip(*image_contents(self.state, chosen))]
        for image, count in zip(self._first.tolist(), self.counts.tolist()):
            yield from (*images[image], b"%d" % count)

    @cached_property
    def _summed(self) -> np.ndarray | None:
        """The counts of one image of each row, (R, S), where all rates follow from their sums; else None."""
        if self.matched.rates_of_sums is None or self.matched.errors is not None or self.recall is not None:
            return None
        return np.stack([*self.matched.by_image.values()], axis=1)[self._first]

    def sums(self, counts: np.ndarray, keys: Sequence[Any]) -> Iterable[float]:
        """The counts of the drawn images, or their rates where these need more."""
        return super().sums(counts, keys) if self._summed is None else counts @ self._summed

    def values_of(self, sums: np.ndarray, keys: Sequence[Any]) -> np.ndarray:
        """Rates from the `sums` of B resamples, (B, K)."""
        if self._summed is None or self.matched.rates_of_sums is None:
            return super().values_of(sums, keys)
        rates = self.matched.rates_of_sums(dict(zip(self.matched.by_image, sums.T)))
        return np.reshape([rates[key] for key in keys], (len(keys), len(sums))).T

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Rates and counts of the images; a rate over no object is left out, and NaN among drawn images.

        Raises ValueError where there is no WI of protocol="owod".
        """
        images = self.images
        if counts is not None:
            images = np.zeros_like(images)
            images[self._first] = counts
        try:
            results = self.matched.rates(images)
        except ValueError as error:
            raise ValueError(f"among resampled images, {error}" if counts is not None else str(error)) from None
        for more in (self.recall, self.matched.errors):
            results |= more.rates(images) if more is not None else {}
        return results if counts is not None else {key: result for key, result in results.items() if _exists(result)}


def _exists(result: Any) -> bool:
    """Whether a result, a rate or a list of rates, is more than a share of nothing."""
    return not np.isnan(result if isinstance(result, list) else result.value if isinstance(result, Rate) else 0).any()
