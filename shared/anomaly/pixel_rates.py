"""Rates of pixels: of their curves, of decisions at a threshold, and areas under the mean overlap of regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ..arrays.arrays import is_numpy_array
from ..arrays.sorting import indices, sort_in_place, sorted_with
from ..metric.results import Rate, Results
from ..ranking.bounds import error_of
from ..ranking.counts import Side, as_side, sort_sides
from ..ranking.quantities import Quantity, quantities
from .aupro import STEPS, areas_up_to, by_limit
from .decisions import decision_rates
from .judging import PIXEL_CURVE, Judge, MapOptions, level_rates, with_ends, with_points
from .levels import level_scores
from .maps import AnomalyState
from .pixel_bins import PixelBins, edges_of
from .regions import Regions
from .sampled_aupro import sampled_areas
from .spro import defects_of, regions_of


class PixelRates(Judge):
    """Rates of pixels: exact at all thresholds, and for drawn images from bins of the scores.

    With `in_place`, the normal pixels of the state are sorted in place, which saves memory.
    Raises ValueError unless there are anomalous and normal pixels.
    """

    def __init__(self, options: MapOptions, state: AnomalyState, *, in_place: bool = False) -> None:
        self.options, self.state = options, state
        _, normal, counts = level_scores(state, "pixel")
        bits = int(state["significant_bits"]) if "significant_bits" in state else None
        if in_place and is_numpy_array(normal) and normal.dtype in (np.float32, np.float64) and counts is None:
            sort_in_place(normal)
            self.normal = Side(normal, None, bits)
        else:
            self.normal = as_side(normal, counts, bits=bits)

    @cached_property
    def anomalous(self) -> RankedRegions:
        """The anomalous pixels, region by region."""
        return RankedRegions(regions_of(self.state), self.normal)

    @cached_property
    def bins(self) -> PixelBins:
        """The pixels of each image, in bins."""
        return PixelBins(self.options, self.state, edges_of(*self.anomalous.sides))

    def beside(self, judges: Sequence[PixelRates]) -> PixelRates:
        """The same with the bins of all models."""
        judge = copy(self)
        edges = edges_of(*chain(*(own.anomalous.sides for own in judges)))
        judge.bins = PixelBins(self.options, self.state, edges)
        return judge

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times."""
        return self._exact() if images is None else self.bins.rates(images)

    def _exact(self) -> Results:
        options, bits, sides = self.options, self.normal.bits, self.anomalous.sides
        wanted = with_ends(with_points(PIXEL_CURVE, options), bits)
        values, areas = self.anomalous.values_and_areas(wanted, options)
        rates = level_rates(values, wanted, sides, "pixel_", options)
        rates |= decision_rates(*sides, options.pixel_threshold, "pixel_")
        rates |= by_limit("aupro", options.limits, areas)
        defects = defects_of(self.state)
        if defects is not None:
            rates |= by_limit(
                "auspro", options.limits, RankedRegions(defects, self.normal).values_and_areas({}, options)[1]
            )
        return rates


class RankedRegions:
    """The pixels of regions, ranked against the normal ones.

    Parameters: regions; normal, the side of the normal pixels; the scores of all pixels were cut to its bits.
    """

    def __init__(self, regions: Regions, normal: Side) -> None:
        self.regions = regions
        ordered, self._order = sorted_with(regions.scores, indices(regions.scores))
        self.sides = sort_sides(Side(ordered, None, normal.bits), normal)

    def values_and_areas(
        self, wanted: Mapping[str, Quantity], options: MapOptions
    ) -> tuple[dict[str, Any], list[Rate]]:
        """Values of quantities and the area under the mean overlap up to each limit, from one pass over the counts.

        If scores were cut, areas have errors; areas at sampled thresholds have no bound and are left out.
        """
        positives, negatives = self.sides
        _, sizes, _ = self.regions
        if options.num_thresholds is not None:
            values = quantities(positives, negatives, wanted) if wanted else {}
            if negatives.bits is not None:
                return values, []
            pixels = (self.regions.scores, sizes, negatives.repeated())
            areas = sampled_areas(*pixels, options.limits, options.num_thresholds)
            return values, [Rate(area, higher=True) for area in areas]
        overlap = with_ends({"": STEPS}, negatives.bits)
        values = quantities(positives, negatives, {**wanted, **overlap})
        steps = values.pop("") if negatives.bits is not None else (values.pop(""),)
        step_of_pixel = steps[0].of_pixels(self._order)
        ends = [*zip(*(areas_up_to(each, step_of_pixel, sizes, negatives.total, options.limits) for each in steps))]
        errors = [None if negatives.bits is None else error_of(three[0], three) for three in ends]
        return values, [Rate(three[0], higher=True, error=error) for three, error in zip(ends, errors)]
