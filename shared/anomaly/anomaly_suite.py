"""anomaly_suite: image-level and pixel-level metrics of industrial anomaly detection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..arrays.arrays import State
from ..arrays.checks import as_bool, as_choice, as_fractions, as_int, as_real, plain_value
from ..metric.groups import Parts
from ..metric.metric import Metric
from ..metric.prepared import MissingClassError, Prepared
from ..metric.results import SKIPPED, Results, check_thresholds_exist
from ..ranking.operating_points import RATES, parse_point
from ..ranking.quantities import check_bits, cut
from .aupimo import PimoRates
from .components import ComponentRule, component_columns
from .maps import (
    HIGHEST_VOID,
    KINDS_OF_IMAGES,
    LEVELS,
    LOWEST_VOID,
    SCORES_OF_PIXELS,
    AnomalyState,
    ImageRows,
    as_sample_ids,
    check_samples_together,
    check_single,
    checked_state,
    image_contents,
    image_rows,
    per_image_table,
)
from .masks import checked_images, image_columns
from .rates import ComponentRates, ImageRates, MapRates, PixelRates, SampleRates
from .regions import pixels_by_region, saturated_pixels


@dataclass(kw_only=True, eq=False, repr=False)
class AnomalySuite(Metric):
    """Metrics of anomaly maps, of images and of pixels.

    Columns: see `reduce`. Results are the areas and points of the curves of each level, and for pixels AUPRO up to
    each limit, as "image_auroc", "pixel_auroc", "aupro@0.3"; if references have a mask for each defect, "auspro@0.3"
    too. If scores were cut, results of pixels have errors, and results without a bound are left out.
    Options, in addition to the common ones (see `Metric`):

    integration_limits: false-positive rates up to which AUPRO is taken, in (0, 1]
    levels: "image", "pixel" or both
    points: operating points of the levels, such as "fpr95tpr", in the grammar of `OODBench`
    thresholds: whether to add the thresholds of the points
    num_thresholds: take AUPRO from this many sampled thresholds (see `sampled_areas`); None takes all
    image_threshold, pixel_threshold: add F1, precision and recall of the decision score > threshold
    components: add siou, ppv and segment_f1 of components at the pixel_threshold (see `component_rates`). Fixed at load
    min_predicted, min_object: pixels below which a predicted component is erased, and an object is void. Fixed at load
    pimo_bounds: add AUPIMO between two false-positive rates (see `aupimo`)
    per_image: add the table of images (see `per_image_table`), at the thresholds chosen, else those of the best F1
    image_reduction, significant_bits, ignore_value, regions: see `reduce`. Fixed at load

    Raises ValueError if a level has only one class.

    >>> maps = [[[0.1, 0.2], [0.3, 0.9]], [[0.1, 0.4], [0.0, 0.2]]]
    >>> masks = [[[0, 0], [1, 1]], [[0, 0], [0, 0]]]
    >>> AnomalySuite(levels="image").compute(predictions=maps, references=masks)["image_auroc"]
    1.0
    """

    name = "anomaly_suite"
    fixed_options = frozenset(
        {"components", "ignore_value", "image_reduction", "min_object", "min_predicted", "regions", "significant_bits"}
    )
    countable_tables = {"normal_counts": ("normal",)}
    truth = ("image_labels", "num_normal", "num_regions", "region_sizes", "samples")
    owned_arrays = frozenset({"normal"})  # by far the most of a state
    classes_needed = KINDS_OF_IMAGES
    selecting = Metric.selecting | {"integration_limits", "levels", "points", "thresholds", "components", "per_image"}

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
        # these are read in another form than they are written
        self.limits = as_fractions(self.integration_limits, "integration_limits")
        self.chosen_levels = check_levels(self.levels)
        self.operating_points = check_points(self.points)
        self.bounds = None if self.pimo_bounds is None else check_pimo_bounds(self.pimo_bounds)
        self.thresholds = as_bool(self.thresholds, "thresholds")
        self.num_thresholds = None if self.num_thresholds is None else as_int(self.num_thresholds, "num_thresholds", 2)
        if self.image_threshold is not None:
            self.image_threshold = as_real(self.image_threshold, "image_threshold")
        if self.pixel_threshold is not None:
            self.pixel_threshold = as_real(self.pixel_threshold, "pixel_threshold")
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

    def reduce(
        self, predictions: Any, references: Any, image_scores: Any = None, image_labels: Any = None, samples: Any = None
    ) -> AnomalyState:
        """Reduce a batch of anomaly maps and masks to the scores of their pixels, regions and images.

        Parameters: predictions (N, H, W) anomaly maps, higher is more anomalous, or a list of (H_i, W_i); references,
        masks of equal shapes, 0 or False for normal, or dicts {"masks": (D, H, W), "saturation_areas": (D,)} with a
        mask for each defect of an image, which are united; image_scores and image_labels (N,), by default those of the
        pixels (see below) and whether the mask has an anomaly; samples (N,), the id of the sample that each image
        shows, a string or an integer.

        Options: image_reduction, the score of an image: the "max" or "mean" of its map, or an int k for the mean of the
        k highest pixels; significant_bits in [4, 52], the number of bits kept of each pixel's score (see `cut`), for
        memory that does not grow with the normal pixels, unless intervals are requested at load, and None keeps all.
        Scores of images are never cut; ignore_value, the value of void pixels in the masks, such as 255: they are
        neither normal nor anomalous, separate regions, and do not affect the scores and labels of images; regions,
        "components" for 8-connected regions of binary masks, or "labels" for masks of integers, k > 0 in region k of
        the image; components, whether to find the components of score > pixel_threshold (see `components_of`, also for
        min_predicted and min_object).

        Returns an `AnomalyState`.
        Raises ValueError for NaN, shapes that differ, masks with other values, binary masks of one row with several
        anomalous pixels, a k above the number of a map's pixels, and an entirely void image without its own score and
        label.
        """
        rule = self.component_rule
        images = checked_images(predictions, references, self.ignore_value, self.regions)
        state: Any = image_columns(images, image_scores, image_labels, self.image_reduction)
        state["image_reduction"] = np.asarray(str(self.image_reduction))
        state |= pixels_by_region(images, self.regions)
        if images.defects is not None:
            state |= saturated_pixels(images.maps, images.defects)
        if rule is not None:
            state |= component_columns(images, rule)
        if samples is not None:
            state["samples"] = as_sample_ids(samples, images.maps)
        if self.significant_bits is not None:
            state |= {name: cut(state[name], self.significant_bits) for name in SCORES_OF_PIXELS if name in state}
            state["significant_bits"] = np.asarray(self.significant_bits)
        if self.ignore_value is not None:
            state["ignore_value"] = np.asarray(self.ignore_value)
        if self.regions != "components":
            state["regions"] = np.asarray(self.regions)
        reduced: AnomalyState = state
        return reduced

    def as_state(self, state: Mapping[str, Any]) -> AnomalyState:
        """Check a state from elsewhere."""
        return checked_state(state, self)

    def prepare(self, state: Any) -> PreparedMaps:
        """Sort images and pixels; with groups_without="skip", leave out a level that lacks a class."""
        parts: dict[str, MapRates] = {}
        missing: list[MissingClassError] = []
        for name, part in self._parts(state).items():
            try:
                parts[name] = part()
            except MissingClassError as error:
                missing.append(error)
        if missing and (self.groups_without == "raise" or not parts):
            raise missing[0]
        return PreparedMaps(self, state, parts, lacks_level=bool(missing))

    def _parts(self, state: AnomalyState) -> dict[str, Callable[[], MapRates]]:
        """The functions that prepare the parts of the results, level by level."""
        parts: dict[str, Callable[[], MapRates]] = {}
        for level in self.chosen_levels:
            if level == "image":
                parts["image"] = partial(ImageRates, self, state)
                if "samples" in state:
                    parts["sample"] = partial(SampleRates, state)
                continue
            in_place = self.owns_state and self.counts_rows()
            parts["pixel"] = partial(PixelRates, self, state, in_place=in_place)
            if self.bounds is not None:
                parts["pimo"] = partial(PimoRates, state, self.bounds)
            if self.components:
                found_at = float(state["component_threshold"])
                if found_at != self.pixel_threshold:
                    raise ValueError(
                        f"pixel_threshold: components were found at {found_at} as batches were added; give it at load, "
                        "not at compute"
                    )
                parts["components"] = partial(ComponentRates, state)
        return parts

    def _states(self, batches: Sequence[Parts]) -> Mapping[str, Sequence[State]]:
        states = super()._states(batches)
        check_samples_together(states)
        return states

    def tables(self, prepared: PreparedMaps, results: Results) -> dict[str, Any]:
        """The table of images, with `per_image`."""
        check_thresholds_exist(results)
        if not self.per_image:
            return {}
        thresholds = {f"{level}_threshold": self._threshold_of_table(level, results) for level in LEVELS}
        pimo = prepared.parts.get("pimo")
        of_images = pimo.of_images if isinstance(pimo, PimoRates) else None
        return {"per_image": per_image_table(prepared.state, **thresholds, pimo=of_images)}

    def _threshold_of_table(self, level: str, results: Results) -> float | None:
        """The threshold chosen, else that of the best F1; None where the best F1 has none, or is no result."""
        best: Any = results.get(f"{level}_f1_max")
        if best is None or best.threshold is None:
            return None
        chosen: float | None = getattr(self, f"{level}_threshold")
        return best.threshold if chosen is None else chosen

    def counts_rows(self) -> bool:
        """Whether equal rows are counted: not if intervals, AUPIMO or a table of images need each pixel's image."""
        # of pixels that were cut, the table says nothing
        table = self.per_image and self.significant_bits is None
        return self.confidence_level is None and self.pimo_bounds is None and not table


class PreparedMaps(Prepared):
    """Images, or samples of several, each with its pixels, and the parts of the results, by name.

    With `lacks_level`, where a level was left out, its results say so.
    Raises ValueError for rows of a state in which pixels of several images have been counted together.
    """

    def __init__(
        self, metric: AnomalySuite, state: AnomalyState, parts: Mapping[str, MapRates], *, lacks_level: bool
    ) -> None:
        self.metric, self.state, self.parts, self.lacks_level = metric, state, parts, lacks_level

    @cached_property
    def _images(self) -> ImageRows:
        check_single(self.state, "confidence_level")
        return image_rows(self.state)

    @property
    def counts(self) -> np.ndarray:  # type: ignore[override]
        """The number of images, or samples, that each row stands for."""
        return self._images.counts

    @property
    def strata(self) -> np.ndarray:  # type: ignore[override]
        """The kind of each row."""
        return self._images.strata

    @property
    def kinds(self) -> np.ndarray:
        """The kind of each row, whose bits are flags."""
        return self._images.strata

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Results of the state, or of drawn images."""
        images = None if counts is None else np.where(self._images.standing, counts[self._images.of_images], 0)
        results: Results = {}
        for part in self.parts.values():
            results |= part.rates(images)
        if self.lacks_level and images is None:
            results[SKIPPED] = 1
        return results

    def rows(self) -> np.ndarray:
        """The row of each image; −1 for all but the first image of a sample."""
        return np.where(self._images.first, self._images.of_images, -1)

    def contents(self) -> Iterable[bytes]:
        """The content of each image, row by row."""
        return (repr(image).encode() for image in sorted(zip(self.rows().tolist(), image_contents(self.state))))

    def aligned_with(self, models: Sequence[Prepared]) -> PreparedMaps:
        """The same state for a comparison, with its pixels merged as the pixels of all models are."""
        every = [model.parts for model in models if isinstance(model, PreparedMaps)]
        parts = {name: part.aligned_with([one[name] for one in every]) for name, part in self.parts.items()}
        return PreparedMaps(self.metric, self.state, parts, lacks_level=self.lacks_level)


REDUCTIONS = ("max", "mean")
REGIONS = ("components", "labels")

Points = dict[str, tuple[str, str, Fraction]]  # by name: the rate, the bounded rate, and its bound


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
    """Check the kind of a mask's regions: "components" or "labels"."""
    return as_choice(regions, "regions", REGIONS)
