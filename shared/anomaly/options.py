"""The options of anomaly_suite, checked once, where the metric is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from ..arrays.checks import as_bool, as_choice, as_fractions, as_int, as_real, plain_value
from ..metric.metric import Metric
from ..ranking.operating_points import RATES, parse_point
from ..ranking.quantities import check_bits

LEVELS = ("image", "pixel")
REDUCTIONS = ("max", "mean")
REGIONS = ("components", "labels")
LOWEST_VOID, HIGHEST_VOID = -(2**31), 2**31 - 1

Points = dict[str, tuple[str, str, Fraction]]  # by name: the rate, the bounded rate, and its bound


class ComponentRule(NamedTuple):
    """The rule for components: pixels with score > threshold, and the sizes below which they do not count."""

    component_threshold: float
    min_predicted: int
    min_object: int


@dataclass(kw_only=True, eq=False, repr=False)
class AnomalyOptions(Metric):
    """The options of `AnomalySuite`, which describes them, as checked values.

    Those that are read in another form than they are written have a second name:

    limits: the integration_limits as a list
    chosen_levels: the levels as a list
    operating_points: the points, each parsed
    bounds: the pimo_bounds as a pair; None without
    """

    integration_limits: float | Sequence[float] = (0.3, 0.1, 0.05, 0.01)
    levels: str | Sequence[str] = LEVELS
    points: str | Sequence[str] = ()
    thresholds: bool = False
    num_thresholds: int | None = None
    image_threshold: float | None = None
    pixel_threshold: float | None = None
    components: bool = False
    min_predicted: int = 0
    min_object: int = 0
    pimo_bounds: Sequence[float] | None = None
    per_image: bool = False
    image_reduction: str | int = "max"
    significant_bits: int | None = None
    ignore_value: int | None = None
    regions: str = "components"

    def __post_init__(self) -> None:
        """Check each option by itself."""
        super().__post_init__()
        self.limits = as_fractions(self.integration_limits, "integration_limits")
        self.chosen_levels = check_levels(self.levels)
        self.operating_points = check_points(self.points)
        self.bounds = None if self.pimo_bounds is None else check_pimo_bounds(self.pimo_bounds)
        self.thresholds = as_bool(self.thresholds, "thresholds")
        self.num_thresholds = None if self.num_thresholds is None else as_int(self.num_thresholds, "num_thresholds", 2)
        if self.image_threshold is not None:
            self.image_threshold = as_threshold(self.image_threshold, "image_threshold")
        if self.pixel_threshold is not None:
            self.pixel_threshold = as_threshold(self.pixel_threshold, "pixel_threshold")
        self.components = as_bool(self.components, "components")
        self.min_predicted = as_int(self.min_predicted, "min_predicted", 0)
        self.min_object = as_int(self.min_object, "min_object", 0)
        self.per_image = as_bool(self.per_image, "per_image")
        self.image_reduction = check_reduction(self.image_reduction)
        self.significant_bits = check_bits(self.significant_bits)
        self.ignore_value = check_ignore_value(self.ignore_value)
        self.regions = check_regions(self.regions)

    @property
    def component_rule(self) -> ComponentRule | None:
        """The rule by which components are found; None without components. Raises ValueError without a threshold."""
        if not self.components:
            return None
        if self.pixel_threshold is None:
            raise ValueError(
                "pixel_threshold: expected a number with components=True, since components are found as maps come; fit "
                "it on validation data (pixel_f1_max_threshold of the same data is optimistic)"
            )
        return ComponentRule(self.pixel_threshold, self.min_predicted, self.min_object)


def check_levels(levels: Any) -> list[str]:
    """Check the levels to report: "image", "pixel", or a list of them."""
    levels = plain_value(levels)
    if not isinstance(levels, Iterable):
        raise TypeError(f"levels: expected a list of {LEVELS}, got {levels!r}")
    chosen = [levels] if isinstance(levels, str) else list(levels)
    if not chosen:
        raise ValueError(f"levels: expected at least one of {LEVELS}, got none")
    return [as_choice(level, "levels", LEVELS) for level in chosen]


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


def check_pimo_bounds(pimo_bounds: Any) -> tuple[float, float]:
    """Check the bounds of AUPIMO: two numbers in (0, 1], the lower one first."""
    bounds = as_fractions(pimo_bounds, "pimo_bounds")
    if len(bounds) != 2 or bounds[0] >= bounds[1]:
        raise ValueError(f"pimo_bounds: expected two numbers, the lower one first, got {bounds}")
    return bounds[0], bounds[1]


def as_threshold(threshold: Any, name: str) -> float:
    """Check a threshold. Raises ValueError for a list or NaN, TypeError for anything but a number."""
    is_scalar = isinstance(threshold, (str, bytes)) or getattr(threshold, "ndim", 1) == 0
    if isinstance(threshold, Sized) and not is_scalar:
        raise ValueError(f"{name}: expected one threshold, got a list or array")
    return as_real(threshold, name)


def check_reduction(image_reduction: Any) -> str | int:
    """Check that an image reduction is "max", "mean" or a positive int."""
    if not isinstance(image_reduction, str):
        return as_int(image_reduction, "image_reduction", 1)
    if image_reduction not in REDUCTIONS:
        raise ValueError(f"image_reduction: expected 'max', 'mean' or an int, got {image_reduction!r}")
    return str(image_reduction)


def check_ignore_value(ignore_value: Any) -> int | None:
    """Check the value of void pixels: None, or an int that is neither 0 nor 1."""
    if ignore_value is None:
        return None
    value = as_int(ignore_value, "ignore_value", LOWEST_VOID, HIGHEST_VOID)
    if value in (0, 1):
        raise ValueError(
            f"ignore_value: expected an int other than 0 and 1, which are normal and anomalous, got {value}"
        )
    return value


def check_regions(regions: Any) -> str:
    """Check what regions of a mask are: "components" or "labels"."""
    return as_choice(regions, "regions", REGIONS)
