"""F1, precision and recall at a threshold chosen in advance: a score above it is called anomalous."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Sized
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ..arrays.checks import as_real, plain_value
from ..metric.results import Rate, Results
from ..ranking.counts import Side, exceeded_threshold
from ..ranking.curves import CURVE, IOU_MAX
from ..ranking.operating_points import F1_MAX_REACHED, RATES, BestValue, best_point, parse_point, samples_above
from ..ranking.quantities import Quantity, bounded, cut, error_of, was_cut


def as_threshold(threshold: Any, name: str) -> float:
    """Check a threshold. Raises ValueError for a list or NaN, TypeError for anything but a number."""
    is_scalar = isinstance(threshold, (str, bytes)) or getattr(threshold, "ndim", 1) == 0
    if isinstance(threshold, Sized) and not is_scalar:
        raise ValueError(f"{name}: expected one threshold, got a list or array")
    return as_real(threshold, name)


def decision_rates(positives: Side, negatives: Side, threshold: float | None, prefix: str) -> Results:
    """F1, precision and recall of the decision score > threshold, named with a prefix; nothing without a threshold.

    F1 = 2·TP / (TP + FP + P),  precision = TP / (TP + FP),  recall = TP / P;  0/0 is 0

    Parameters: the two sides, the positives not empty; threshold, no NaN.
    Returns rates in [0, 1], with errors where scores were cut. At the threshold of the best F1, F1 is the best.
    Source: van Rijsbergen, Information Retrieval, 1979.

    >>> sides = Side(np.asarray([0.4, 0.9])), Side(np.asarray([0.1, 0.6]))
    >>> {key: rate.value for key, rate in decision_rates(*sides, 0.5, "pixel_").items()}
    {'pixel_f1': 0.5, 'pixel_precision': 0.5, 'pixel_recall': 0.5}
    """
    if threshold is None:
        return {}
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


# Rates of image or pixel scores: areas under their curves, the best F1, and operating points.


Points = dict[str, tuple[str, str, Fraction]]  # by name: the rate, the bounded rate, and its bound


class MapOptions(Protocol):
    """The options of anomaly_suite that its results depend on, checked."""

    thresholds: bool
    num_thresholds: int | None
    image_threshold: float | None
    pixel_threshold: float | None

    @property
    def limits(self) -> list[float]:
        """Limits of the false-positive rate, for AUPRO."""

    @property
    def operating_points(self) -> Points:
        """The operating points."""


class Judge(Protocol):
    """A part of the results, of images, of pixels or of components."""

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times, (N,) int64; None: once, and exactly."""

    def beside(self, judges: Sequence[Any]) -> Judge:
        """The same for a comparison with those of other models, this one among them: see `Prepared.beside`."""
        return self


def check_points(points: Any) -> Points:
    """Check names of operating points, such as "fpr95tpr": one, or a list of them."""
    points = plain_value(points)
    if not isinstance(points, Iterable):
        raise TypeError(f"points: expected names such as 'fpr95tpr', got {points!r}")
    parsed: Points = {}
    for name in [points] if isinstance(points, str) else points:
        point = parse_point(name) if isinstance(name, str) else None
        if point is None:
            raise ValueError(
                "points: expected a rate, a number in (0, 100] and a rate, such as 'fpr95tpr', with rates "
                f"{', '.join(RATES)}; got {name!r}"
            )
        parsed[name] = point
    return parsed


IMAGE_CURVE = {**CURVE, "f1_max": F1_MAX_REACHED}  # quantities by the names of results
PIXEL_CURVE = {**IMAGE_CURVE, "iou_max": IOU_MAX}


def with_points(curve: Mapping[str, Quantity], options: MapOptions) -> dict[str, Quantity]:
    """The quantities of a curve, and the operating points."""
    return {**curve, **{name: best_point(*point) for name, point in options.operating_points.items()}}


def with_ends(wanted: Mapping[str, Quantity], bits: int | None) -> Mapping[str, Quantity]:
    """The quantities; if scores were cut to `bits` bits, only quantities with bounds, as (value, end, end)."""
    return wanted if bits is None else bounded(wanted, bits)


def level_rates(
    values: Mapping[str, Any],
    wanted: Mapping[str, Quantity],
    sides: tuple[Side, Side],
    prefix: str,
    options: MapOptions,
) -> Results:
    """Values of `with_points` as rates, with a prefix to their names.

    The best F1 has a threshold if one exists. With `thresholds`, operating points have one too, NaN if none exists.
    If scores were cut, all rates have errors, and none has a threshold.
    """
    bits = sides[0].bits
    rates: Results = {}
    for name, quantity in wanted.items():
        ends = (values[name],) if bits is None else values[name]
        plain = tuple(end.value if isinstance(end, BestValue) else end for end in ends)
        rate = Rate(plain[0], quantity.higher, error=None if bits is None else error_of(plain[0], plain))
        if (
            bits is None
            and isinstance(ends[0], BestValue)
            and (options.thresholds or name not in options.operating_points)
        ):
            threshold = exceeded_threshold(ends[0].score, sides)
            rate = rate._replace(threshold=None if math.isnan(threshold) and not options.thresholds else threshold)
        rates[f"{prefix}{name}"] = rate
    return rates
