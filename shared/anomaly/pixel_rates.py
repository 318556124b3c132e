"""Rates of the pixels of drawn images: each image is a histogram of its pixels over common bins of the scores.

Pixels of an image resemble each other, so intervals from resampled pixels would be several times too narrow. Images are
drawn instead, each with all its pixels, and a resample's histograms are sums of theirs. A region is the share of its
pixels in each bin.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ..arrays.arrays import is_numpy_array, to_numpy
from ..arrays.sorting import indices, sort_in_place, sorted_with
from ..metric.results import Rate, Results
from ..ranking.counts import Side, as_side, sort_sides
from ..ranking.prepared import Rows, rows_of_sides
from ..ranking.quantities import Quantity, error_of, quantities
from .aupro import STEPS, areas_up_to, by_limit, sampled_areas
from .decisions import (
    PIXEL_CURVE,
    Judge,
    MapOptions,
    cut_threshold,
    decision_rates,
    level_rates,
    rates_of_decision,
    with_ends,
    with_points,
)
from .maps import AnomalyState, exceeding, level_scores
from .regions import Regions, defects_of, overlaps_of, regions_of

MAX_BINS = 1 << 12  # of the pixels of either kind
_OF_A_REGION = 1 << 30  # shares of a region's pixels are multiples of 2^-30, whose sums are exact


def edges_of(*sides: Side) -> np.ndarray:
    """The edges of bins for anomalous and normal pixels, of one model or of several."""
    return np.unique(np.concatenate([rows.scores for rows in rows_of_sides(*sides, most=MAX_BINS)]))


class PixelBins:
    """The pixels of each image in bins of their scores; at the pixel_threshold, pixels are counted exactly.

    Parameters: options; state, with pixels image by image; edges, the highest score of each bin, ascending.
    """

    def __init__(self, options: MapOptions, state: AnomalyState, edges: np.ndarray) -> None:
        self.options, self.state = options, state
        self._bins = Rows(edges, np.ones(len(edges), np.int64))
        self._normal = self._histograms(to_numpy(state["normal"]), to_numpy(state["num_normal"]))
        regions = regions_of(state)
        self._anomalous = self._histograms(to_numpy(regions.scores), regions.num_pixels)
        overlaps = {} if options.num_thresholds is not None else overlaps_of(state)  # sampled areas have no interval
        self._overlaps = {name: (self._shares(each), each.numbers) for name, each in overlaps.items()}

    def rates(self, images: np.ndarray) -> Results:
        """Results where each image occurs `images` times."""
        positives, negatives = _summed(self._anomalous, images), _summed(self._normal, images)
        sides = sort_sides(*(self._bins.side(numbers) for numbers in (positives, negatives)))
        wanted = with_points(PIXEL_CURVE, self.options)
        rates = level_rates(quantities(*sides, wanted), wanted, sides, "pixel_", self.options)
        rates |= self._decisions(images)
        fp = np.cumsum(negatives[::-1])[::-1]
        for name, (shares, numbers) in self._overlaps.items():
            overlap = _summed(shares, images) / (_OF_A_REGION * int(numbers @ images))
            areas = [_area(overlap, fp - negatives, fp, limit) for limit in self.options.limits]
            rates |= by_limit(name, self.options.limits, [Rate(area, higher=True) for area in areas])
        return rates

    def _histograms(self, scores: np.ndarray, numbers: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """(bins, images), how many pixels there are of each, or sums of integer weights."""
        length = len(self._bins.scores)
        table = np.empty((length, len(numbers)), np.int64)
        start = 0
        for i, stop in enumerate(np.cumsum(numbers).tolist()):
            here = None if weights is None else weights[start:stop]
            table[:, i] = np.bincount(self._bins.places(scores[start:stop]), here, length)
            start = stop
        return table

    def _shares(self, regions: Regions) -> np.ndarray:
        """Histograms of the pixels of regions: each pixel is its share of its region, and shares of a region add up."""
        whole, left = np.divmod(_OF_A_REGION, regions.sizes)  # the first `left` pixels get one more
        begin = np.cumsum(regions.sizes) - regions.sizes
        place = np.arange(int(regions.sizes.sum())) - np.repeat(begin, regions.sizes)
        weights = np.repeat(whole, regions.sizes) + (place < np.repeat(left, regions.sizes))
        return self._histograms(to_numpy(regions.scores), regions.num_pixels, weights)

    def _decisions(self, images: np.ndarray) -> Results:
        if self.options.pixel_threshold is None:
            return {}
        tp, fp, num_positives = (int(each @ images) for each in self._called)
        return rates_of_decision(tp, fp, num_positives, "pixel_")

    @cached_property
    def _called(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each image, the anomalous and the normal pixels above the threshold, and all anomalous ones."""
        bits, state = self.state.get("significant_bits"), self.state
        at = cut_threshold(self.options.pixel_threshold or 0.0, None if bits is None else int(bits))
        num_pixels = regions_of(state).num_pixels
        normal = exceeding(state["normal"], to_numpy(state["num_normal"]), at)
        return exceeding(state["anomalous"], num_pixels, at), normal, num_pixels


def _summed(histograms: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The sum of the images' histograms; of integers, so it is exact, and twice as fast as by matmul."""
    return np.einsum("bi,i->b", histograms, images)


def _area(overlap: np.ndarray, above: np.ndarray, fp: np.ndarray, limit: float) -> float:
    """AUPRO up to a limit, from the mean share of regions' pixels in each bin, and the normal pixels over the bin.

    A bin with a ramp from `above` to `fp` below the limit has the area limit − (above + fp)/2 under its share, and a
    bin that the limit cuts (limit − above)² / (2·(fp − above)); in normal pixels, of which the limit is `reach`.
    """
    reach = limit * fp[0]
    first = int(np.searchsorted(-above, -reach, side="right"))  # bins of lower scores have no area
    overlap, above, fp = overlap[first:], above[first:], fp[first:]
    there = np.flatnonzero(overlap)
    overlap, above, fp = overlap[there], above[there], fp[there]
    whole = fp <= reach
    areas = reach - (above + fp) / 2
    at = np.flatnonzero(~whole)
    areas[at] = (reach - above[at]) ** 2 / (2 * (fp[at] - above[at]))
    return math.fsum((overlap * areas / reach).tolist())


# The meaning of each result of anomaly_suite, in plain words.


_RATES = {
    "auroc": "chance that an anomalous {one} scores above a normal one",
    "ap": "average precision of {many}: the step sum under the precision-recall curve",
    "aupr": "area under the precision-recall curve of {many}, by trapezoids",
    "f1_max": "the best F1 of {many} over all thresholds",
    "iou_max": "the best overlap of the {many} above a threshold with the anomalous ones, TP / (TP + FP + FN)",
    "f1": "F1 of {many} at the threshold chosen before",
    "precision": "share of the {many} called anomalous that are, at the threshold chosen before",
    "recall": "share of the anomalous {many} called so, at the threshold chosen before",
}
_POINTS = {  # the reported rate of a point, and the condition that holds there
    "fpr": (
        "lowest share of normal {many} called anomalous",
        "at most {bound} % of the normal ones are called so",
    ),
    "tnr": ("highest share of normal {many} called normal", "at least {bound} % of the normal ones are called so"),
    "tpr": ("highest share of anomalous {many} found", "at least {bound} % of the anomalous ones are found"),
    "fnr": ("lowest share of anomalous {many} missed", "at most {bound} % of the anomalous ones are missed"),
}
_REGIONS = {
    "aupro": "mean overlap of the regions, over false-positive rates of pixels up to {limit}",
    "auspro": "the same with the saturation areas of the defects, up to {limit}",
}
_ALONE = {
    "aupimo": "mean recall of an anomalous image's pixels at very few false alarms in normal images",
    "siou": "mean overlap of the objects with the components that touch them",
    "ppv": "mean share of a predicted component that lies inside objects",
    "segment_f1": "F1 of objects and components found, averaged over overlaps from 1/4 to 3/4",
    "images": "number of images",
    "anomalous_images": "number of anomalous images",
}
_ENDS = {
    "_threshold": "its threshold: anomalous is what scores above",
    "_low": "lower end of its interval",
    "_high": "upper end of its interval",
    "_error": "the most that the rounded scores can have moved it by",
}


def meaning(key: str) -> str:
    """The meaning of a result, by its key; "" for any other key.

    >>> meaning("pixel_fpr95tpr")
    'lowest share of normal pixels called anomalous where at least 95 % of the anomalous ones are found'
    >>> meaning("aupro@0.3")
    'mean overlap of the regions, over false-positive rates of pixels up to 0.3'
    >>> meaning("pixel_f1_max_threshold")
    'the best F1 of pixels over all thresholds; its threshold: anomalous is what scores above'
    """
    for end, words in _ENDS.items():
        if key.endswith(end):
            of = meaning(key.removesuffix(end))
            return of and f"{of}; {words}"
    name, _, limit = key.partition("@")
    if name in _REGIONS and limit:
        return _REGIONS[name].format(limit=limit)
    if key in _ALONE:
        return _ALONE[key]
    level, _, rate = key.partition("_")
    if level not in ("image", "pixel", "sample"):
        return ""
    if rate in _RATES:
        return _RATES[rate].format(one=level, many=f"{level}s")
    point = re.fullmatch(r"([tf][pn]r)([\d.]+)([tf][pn]r)", rate)
    if point is None:
        return ""
    reported, bound, bounded = point.groups()
    return f"{_POINTS[reported][0].format(many=f'{level}s')} where {_POINTS[bounded][1].format(bound=bound)}"


# Rates of pixels: of their curves, of decisions at a threshold, and areas under the mean overlap of regions.


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
