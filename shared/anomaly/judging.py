"""Rates of image or pixel scores: areas under their curves, the best F1, and operating points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ..arrays.options import plain_value
from ..metric.results import Rate, Results
from ..ranking.bounds import error_of
from ..ranking.counts import Side
from ..ranking.curves import CURVE, IOU_MAX
from ..ranking.exceeded import exceeded_threshold
from ..ranking.named_points import F1_MAX_REACHED, Reached, parse_point, reached_point
from ..ranking.operating_points import RATES
from ..ranking.quantities import Quantity, bounded

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
    return {**curve, **{name: reached_point(*point) for name, point in options.operating_points.items()}}


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
        plain = tuple(end.value if isinstance(end, Reached) else end for end in ends)
        rate = Rate(plain[0], quantity.higher, error=None if bits is None else error_of(plain[0], plain))
        if (
            bits is None
            and isinstance(ends[0], Reached)
            and (options.thresholds or name not in options.operating_points)
        ):
            threshold = exceeded_threshold(ends[0].score, sides)
            rate = rate._replace(threshold=None if math.isnan(threshold) and not options.thresholds else threshold)
        rates[f"{prefix}{name}"] = rate
    return rates
