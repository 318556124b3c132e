"""Images prepared once: their boxes are matched, and counts of the images give results.

Images are resampled, not boxes, since the boxes of one image are not independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..metric.prepared import Prepared
from ..metric.results import Results
from .boxes import DetectionState
from .budgets import RECALL_IOUS, BudgetRecall
from .counting import tally
from .errors import Errors
from .false_positives import NEARBY
from .image_places import places_of_images
from .outcomes import select_boxes
from .protocols import DetectionOptions, MatchedImages


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
