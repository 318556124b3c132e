"""Rates of images, samples, pixels and components: of their curves, and of decisions at a threshold.

Pixels of an image resemble each other, so intervals from resampled pixels would be several times too narrow. Images are
drawn instead, each with all its pixels: each is a histogram of its pixels over common bins of the scores, and a
resample's histograms are sums of theirs. A region is the share of its pixels in each bin.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.arrays import Array, to_numpy
from ..arrays.sorting import indices, sort_in_place, sorted_with, split
from ..metric.prepared import MissingClassError
from ..metric.results import Rate, Results
from ..ranking.auroc import AUROC
from ..ranking.counts import Side, as_side, exceeded_threshold, sort_sides
from ..ranking.curves import AUPR, AVERAGE_PRECISION, F1_MAX, F1_MAX_REACHED, IOU_MAX, BestValue
from ..ranking.operating_points import best_point, samples_above
from ..ranking.quantities import Quantity, bounded, cut, error_of, quantities, was_cut
from ..ranking.strata import Rows, rows_of_sides
from .aupro import STEPS, areas_up_to, by_limit, sampled_areas
from .components import COMPONENT_TABLES, OF_COMPONENTS, Components, component_rates
from .maps import LEVELS, exceeding
from .regions import Regions, defects_of, overlaps_of, regions_of

if TYPE_CHECKING:
    from .anomaly_suite import AnomalySuite

MAX_BINS = 1 << 12  # of the pixels of either kind
_OF_A_REGION = 1 << 30  # shares of a region's pixels are multiples of 2^-30, whose sums are exact
# quantities by the names of results
IMAGE_CURVE = {"auroc": AUROC, "ap": AVERAGE_PRECISION, "aupr": AUPR, "f1_max": F1_MAX_REACHED}
PIXEL_CURVE = {**IMAGE_CURVE, "iou_max": IOU_MAX}
_BEST_F1 = F1_MAX._replace(value=lambda *parts: F1_MAX.value(*parts)[0])
SAMPLE_CURVE = {"auroc": AUROC, "ap": AVERAGE_PRECISION, "f1_max": _BEST_F1}


def level_sides(state: Mapping[str, Any], level: str) -> tuple[Side, Side]:
    """The anomalous and the normal side of a level, sorted; errors as of `level_scores`."""
    positives, negatives, counts = level_scores(state, level)
    return as_side(positives), as_side(negatives, counts)


def level_scores(state: Mapping[str, Any], level: str) -> tuple[Array, Array, Array | None]:
    """Scores of both sides of a level, and the number of samples that each normal score stands for; None: one each.

    Raises ValueError if there are no anomalous or no normal ones.
    """
    counts = None
    if level == "pixel":
        positives, negatives, counts = state["anomalous"], state["normal"], state.get("normal_counts")
    else:
        positives, negatives = split(state["image_scores"], state["image_labels"])
    if not positives.shape[0] or not negatives.shape[0]:
        raise MissingClassError(
            f"references: expected anomalous and normal {level}s, got {positives.shape[0]} anomalous and "
            f"{negatives.shape[0]} normal; leave {level!r} out of levels={LEVELS} to go without"
        )
    return positives, negatives, counts


class MapRates(ABC):
    """A part of the results: rates of images, of samples, of pixels or of components."""

    @abstractmethod
    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times, (N,) int64; None: once, and exactly."""

    def aligned_with(self, models: Sequence[Any]) -> MapRates:
        """These rates for a comparison with other models, this one among them: see `Prepared.aligned_with`."""
        return self


class ImageRates(MapRates):
    """Rates of images: areas and points of their curves, and decisions at a threshold.

    Raises ValueError unless there are anomalous and normal images.
    """

    def __init__(self, options: AnomalySuite, state: Mapping[str, Any]) -> None:
        self.options, self.state = options, state
        self.sides = sort_sides(*level_sides(state, "image"))

    @cached_property
    def drawn_from(self) -> DrawnSides:
        """The images that resamples are drawn from."""
        return DrawnSides(to_numpy(self.state["image_scores"]), to_numpy(self.state["image_labels"]))

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times."""
        sides, options = self.sides, self.options
        if images is not None:
            sides = self.drawn_from.sides(images)
        wanted = _wanted(IMAGE_CURVE, options, None)
        rates = level_rates(quantities(*sides, wanted), wanted, sides, "image_", options)
        if options.image_threshold is not None:
            rates |= decision_rates(*sides, options.image_threshold, "image_")
        return rates


class SampleRates(MapRates):
    """Rates of samples: their score is the highest of their images', and they are anomalous if any image is.

    Raises ValueError unless there are anomalous and normal samples.
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        _, self.first, sample = np.unique(state["samples"], return_index=True, return_inverse=True)
        scores, labels = to_numpy(state["image_scores"]), to_numpy(state["image_labels"])
        self.scores, self.labels = np.full(len(self.first), -np.inf, scores.dtype), np.zeros(len(self.first), bool)
        np.maximum.at(self.scores, sample, scores)
        np.logical_or.at(self.labels, sample, labels)
        if self.labels.all() or not self.labels.any():
            anomalous = int(self.labels.sum())
            raise MissingClassError(
                f"references: expected anomalous and normal samples, got {anomalous} anomalous and "
                f"{len(self.labels) - anomalous} normal; leave the column samples out to go without"
            )
        self.drawn_from = DrawnSides(self.scores, self.labels)

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image, and with it its sample, occurs `images` times."""
        counts = np.ones(len(self.first), np.int64) if images is None else images[self.first]
        anomalous = self.labels[counts > 0]
        if anomalous.all() or not anomalous.any():  # of clusters that were drawn, some may have samples of both kinds
            raise MissingClassError("clusters: expected anomalous and normal samples among those drawn, got one kind")
        values = quantities(*self.drawn_from.sides(counts), SAMPLE_CURVE)
        return {f"sample_{name}": Rate(value, higher=True) for name, value in values.items()}


class DrawnSides:
    """Scores of anomalous and of normal samples, sorted once for all resamples."""

    def __init__(self, scores: np.ndarray, labels: np.ndarray) -> None:
        kinds = np.flatnonzero(labels), np.flatnonzero(~labels)
        self._kinds = [(kind, *np.unique(scores[kind] + 0, return_inverse=True)) for kind in kinds]  # 0.0 for −0.0

    def sides(self, counts: np.ndarray) -> tuple[Side, Side]:
        """The anomalous and the normal side, where each sample occurs `counts` times."""
        anomalous, normal = (
            Rows(scores, counts).side(np.bincount(rows, counts[kind], len(scores)).astype(np.int64))
            for kind, scores, rows in self._kinds
        )
        return anomalous, normal


class ComponentRates(MapRates):
    """Mean sIoU, PPV and F1 of the components of a state; None if there is nothing to average."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.components = Components(*(to_numpy(state[name]) for name in OF_COMPONENTS))
        self.numbers = [to_numpy(state[name]) for name in COMPONENT_TABLES]

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times; NaN instead of None."""
        counts = [None if images is None else np.repeat(images, numbers) for numbers in self.numbers]
        rates = component_rates(self.components, *counts)._asdict()
        none = None if images is None else Rate(math.nan, higher=True)
        return {name: none if value is None else Rate(value, higher=True) for name, value in rates.items()}


class PixelRates(MapRates):
    """Rates of pixels: exact at all thresholds, and for drawn images from bins of the scores.

    With `in_place`, the normal pixels of the state are sorted in place, which saves memory.
    Raises ValueError unless there are anomalous and normal pixels.
    """

    def __init__(self, options: AnomalySuite, state: Mapping[str, Any], *, in_place: bool = False) -> None:
        self.options, self.state = options, state
        _, normal, counts = level_scores(state, "pixel")
        bits = int(state["significant_bits"]) if "significant_bits" in state else None
        if in_place and isinstance(normal, np.ndarray) and normal.dtype.char in "fd" and counts is None:
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

    def aligned_with(self, models: Sequence[PixelRates]) -> PixelRates:
        """The same with the bins of all models."""
        pixels = copy(self)
        edges = edges_of(*chain(*(model.anomalous.sides for model in models)))
        pixels.bins = PixelBins(self.options, self.state, edges)
        return pixels

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times."""
        if images is not None:
            return self.bins.rates(images)
        options, sides = self.options, self.anomalous.sides
        wanted = _wanted(PIXEL_CURVE, options, self.normal.bits)
        values, areas = self.anomalous.values_and_areas(wanted, options)
        rates = level_rates(values, wanted, sides, "pixel_", options)
        if options.pixel_threshold is not None:
            rates |= decision_rates(*sides, options.pixel_threshold, "pixel_")
        rates |= by_limit("aupro", options.limits, areas)
        defects = defects_of(self.state)
        if defects is not None:
            _, areas = RankedRegions(defects, self.normal).values_and_areas({}, options)
            rates |= by_limit("auspro", options.limits, areas)
        return rates


def _wanted(curve: Mapping[str, Quantity], options: AnomalySuite, bits: int | None) -> Mapping[str, Quantity]:
    """The quantities of a curve, and the operating points.

    If scores were cut to `bits` bits, only quantities with bounds, as (value, end, end).
    """
    wanted = {**curve}
    for name, point in options.operating_points.items():
        wanted[name] = best_point(*point)
    return wanted if bits is None else bounded(wanted, bits)


def level_rates(
    values: Mapping[str, Any],
    wanted: Mapping[str, Quantity],
    sides: tuple[Side, Side],
    prefix: str,
    options: AnomalySuite,
) -> Results:
    """Values of quantities as rates, with a prefix to their names.

    The best F1 has a threshold if one exists. With `thresholds`, operating points have one too, NaN if none exists.
    If scores were cut, all rates have errors, and none has a threshold.
    """
    rates: Results = {}
    for name, quantity in wanted.items():
        value, threshold = values[name], None
        if sides[0].bits is not None:
            ends = tuple(end.value if isinstance(end, BestValue) else end for end in value)
            rates[f"{prefix}{name}"] = Rate(ends[0], quantity.higher, error=error_of(ends[0], ends))
            continue
        if isinstance(value, BestValue):
            if options.thresholds or name not in options.operating_points:
                threshold = exceeded_threshold(value.score, sides)
                threshold = None if math.isnan(threshold) and not options.thresholds else threshold
            value = value.value
        rates[f"{prefix}{name}"] = Rate(value, quantity.higher, threshold=threshold)
    return rates


def decision_rates(positives: Side, negatives: Side, threshold: float, prefix: str) -> Results:
    """F1, precision and recall of the decision score > threshold, named with a prefix.

    F1 = 2·TP / (TP + FP + P),  precision = TP / (TP + FP),  recall = TP / P;  0/0 is 0

    Parameters: the two sides, the positives not empty; threshold, no NaN.
    Returns rates in [0, 1], with errors where scores were cut. At the threshold of the best F1, F1 is the best.
    Source: van Rijsbergen, Information Retrieval, 1979.

    >>> sides = Side(np.asarray([0.4, 0.9])), Side(np.asarray([0.1, 0.6]))
    >>> {key: rate.value for key, rate in decision_rates(*sides, 0.5, "pixel_").items()}
    {'pixel_f1': 0.5, 'pixel_precision': 0.5, 'pixel_recall': 0.5}
    """
    at = cut_threshold(threshold, positives.bits)
    least = samples_above(positives, at), samples_above(negatives, at)
    rates = rates_of_decision(*least, positives.total, prefix)
    if positives.bits is None:
        return rates
    # scores that were cut to the threshold's own value may have been above it, if the threshold was cut as well
    unsure = bool(was_cut(np.asarray([at]), positives.bits)[0])
    below = math.nextafter(at, -math.inf)
    most = (samples_above(positives, below), samples_above(negatives, below)) if unsure else least
    # all three rates rise with TP and fall with FP
    ends = [rates_of_decision(tp, fp, positives.total, prefix) for tp, fp in ((least[0], most[1]), (most[0], least[1]))]
    return {
        key: rate._replace(error=error_of(rate.value, (rate.value, *(end[key].value for end in ends))))
        for key, rate in rates.items()
    }


def rates_of_decision(tp: int, fp: int, num_positives: int, prefix: str) -> Results:
    """As `decision_rates`, from the counts of samples called anomalous; 0 without positives."""
    called = tp + fp
    counts = {
        "f1": (2 * tp, called + num_positives),
        "precision": (tp, called),
        "recall": (tp, num_positives),
    }
    return {
        f"{prefix}{name}": Rate(count / total if total else 0.0, higher=True) for name, (count, total) in counts.items()
    }


def cut_threshold(threshold: float, bits: int | None) -> float:
    """Cut a threshold to `bits` bits, as scores are; a score above it after the cut was above it before."""
    return threshold if bits is None else float(cut(np.asarray([threshold], dtype=np.float64), bits)[0])


class RankedRegions:
    """The pixels of regions, ranked against the normal ones.

    Parameters: regions; normal, the side of the normal pixels; the scores of all pixels were cut to its bits.
    """

    def __init__(self, regions: Regions, normal: Side) -> None:
        self.regions = regions
        ordered, self._order = sorted_with(regions.scores, indices(regions.scores))
        self.sides = sort_sides(Side(ordered, None, normal.bits), normal)

    def values_and_areas(
        self, wanted: Mapping[str, Quantity], options: AnomalySuite
    ) -> tuple[dict[str, Any], list[Rate]]:
        """Values of quantities and the area under the mean overlap up to each limit, from one pass over the counts.

        If scores were cut, areas have errors; areas at sampled thresholds have no bound and are left out.
        """
        (positives, negatives), sizes, limits = self.sides, self.regions.sizes, options.limits
        if options.num_thresholds is not None:
            values = quantities(positives, negatives, wanted) if wanted else {}
            if negatives.bits is not None:
                return values, []
            pixels = (self.regions.scores, sizes, negatives.repeated())
            areas = sampled_areas(*pixels, limits, options.num_thresholds)
            return values, [Rate(area, higher=True) for area in areas]
        overlap = {"": STEPS} if negatives.bits is None else bounded({"": STEPS}, negatives.bits)
        values = quantities(positives, negatives, {**wanted, **overlap})
        steps, total = values.pop(""), negatives.total
        if negatives.bits is None:
            areas = areas_up_to(steps, steps.of_pixels(self._order), sizes, total, limits)
            return values, [Rate(area, higher=True) for area in areas]
        step_of_pixel = steps[0].of_pixels(self._order)
        ends = zip(*(areas_up_to(each, step_of_pixel, sizes, total, limits) for each in steps))
        return values, [Rate(three[0], higher=True, error=error_of(three[0], three)) for three in ends]


def edges_of(*sides: Side) -> np.ndarray:
    """The edges of bins for anomalous and normal pixels, of one model or of several."""
    return np.unique(np.concatenate([rows.scores for rows in rows_of_sides(*sides, most=MAX_BINS)]))


class PixelBins:
    """The pixels of each image in bins of their scores; at the pixel_threshold, pixels are counted exactly.

    Parameters: options; state, with pixels image by image; edges, the highest score of each bin, ascending.
    """

    def __init__(self, options: AnomalySuite, state: Mapping[str, Any], edges: np.ndarray) -> None:
        self.options, self.state = options, state
        self._bins = Rows(edges, np.ones(len(edges), np.int64))
        self._normal = self._histograms(to_numpy(state["normal"]), state["num_normal"])
        regions = regions_of(state)
        self._anomalous = self._histograms(to_numpy(regions.scores), regions.num_pixels)
        overlaps = {} if options.num_thresholds is not None else overlaps_of(state)  # sampled areas have no interval
        self._overlaps = {name: (self._shares(each), each.numbers) for name, each in overlaps.items()}

    def rates(self, images: np.ndarray) -> Results:
        """Results where each image occurs `images` times."""
        positives, negatives = _summed(self._anomalous, images), _summed(self._normal, images)
        sides = sort_sides(*(self._bins.side(numbers) for numbers in (positives, negatives)))
        wanted = _wanted(PIXEL_CURVE, self.options, None)
        rates = level_rates(quantities(*sides, wanted), wanted, sides, "pixel_", self.options)
        if self.options.pixel_threshold is not None:
            called = [int(each @ images) for each in self._called]
            rates |= rates_of_decision(called[0], called[1], called[2], "pixel_")
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
        whole, remainders = np.divmod(_OF_A_REGION, regions.sizes)  # as many first pixels as remain get one more
        begin = np.cumsum(regions.sizes) - regions.sizes
        place = np.arange(int(regions.sizes.sum())) - np.repeat(begin, regions.sizes)
        weights = np.repeat(whole, regions.sizes) + (place < np.repeat(remainders, regions.sizes))
        return self._histograms(to_numpy(regions.scores), regions.num_pixels, weights)

    @cached_property
    def _called(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each image, the anomalous and the normal pixels above the threshold, and all anomalous ones."""
        bits, state = self.state.get("significant_bits"), self.state
        at = cut_threshold(self.options.pixel_threshold or 0.0, None if bits is None else int(bits))
        num_pixels = regions_of(state).num_pixels
        normal = exceeding(state["normal"], state["num_normal"], at)
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
