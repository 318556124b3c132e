"""Rates of images, from their scores and labels."""

from __future__ import annotations

import numpy as np

from ..arrays.arrays import to_numpy
from ..metric.results import Results
from ..ranking.counts import Side, as_side, sort_sides
from ..ranking.quantities import quantities
from .decisions import decision_rates
from .judging import IMAGE_CURVE, Judge, MapOptions, level_rates, with_points
from .levels import level_sides
from .maps import AnomalyState


class ImageRates(Judge):
    """Rates of images: areas and points of their curves, and decisions at a threshold.

    Raises ValueError unless there are anomalous and normal images.
    """

    def __init__(self, options: MapOptions, state: AnomalyState) -> None:
        self.options, self.state = options, state
        self.sides = sort_sides(*level_sides(state, "image"))

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times."""
        sides = self.sides if images is None else self._drawn(images)
        wanted = with_points(IMAGE_CURVE, self.options)
        rates = level_rates(quantities(*sides, wanted), wanted, sides, "image_", self.options)
        return rates | decision_rates(*sides, self.options.image_threshold, "image_")

    def _drawn(self, images: np.ndarray) -> tuple[Side, Side]:
        scores, labels = to_numpy(self.state["image_scores"]), to_numpy(self.state["image_labels"])
        kinds = ((images > 0) & labels, (images > 0) & ~labels)
        return sort_sides(*(as_side(scores[kind], images[kind]) for kind in kinds))
