"""Rates of the pixels of drawn images: each image is a histogram of its pixels over common bins of the scores.

Pixels of an image resemble each other, so intervals from resampled pixels would be several times too narrow. Images are
drawn instead, each with all its pixels, and a resample's histograms are sums of theirs. A region is the share of its
pixels in each bin.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..arrays.arrays import to_numpy
from ..metric.results import Rate, Results
from ..ranking.counts import Side, sort_sides
from ..ranking.quantities import quantities
from ..ranking.rows import Rows, rows_of_sides
from .aupro import by_limit
from .decisions import cut_threshold, rates_of_decision
from .judging import PIXEL_CURVE, MapOptions, level_rates, with_points
from .maps import AnomalyState
from .per_image import exceeding
from .regions import Regions
from .spro import overlaps_of, regions_of

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
