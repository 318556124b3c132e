"""Rates of images, from their scores and labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from ..arrays.arrays import State, to_numpy
from ..arrays.checks import as_bool, as_fractions, as_int
from ..metric.groups import GROUPS, Parts
from ..metric.metric import Metric
from ..metric.prepared import MissingClassError, Prepared
from ..metric.results import Results, as_dict
from ..ranking.counts import Counts, Side, as_side, exceedance_counts, sort_sides
from ..ranking.operating_points import check_thresholds_exist
from ..ranking.quantities import check_bits, quantities
from .aupimo import PimoRates, check_pimo_bounds
from .components import ComponentJudge
from .decisions import (
    IMAGE_CURVE,
    Judge,
    MapOptions,
    Points,
    as_threshold,
    check_points,
    decision_rates,
    level_rates,
    with_points,
)
from .images import SampleRates, as_sample_ids, check_groups_of_rows, check_one_group, check_reduction
from .maps import (
    LEVELS,
    AnomalyState,
    ImageRows,
    as_anomaly_state,
    check_levels,
    image_rows,
    level_sides,
    map_state,
    per_image_table,
)
from .masks import DEFAULT_REGIONS, check_ignore_value, check_regions
from .pixel_rates import PixelRates


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


# A state of anomaly_suite, prepared: pixels sorted once, and images as rows.


class TablesMaps(Protocol):
    """A metric that has tables beside its results."""

    def tables(self, prepared: PreparedMaps, results: Results) -> dict[str, Any]:
        """Tables of the images."""


class PreparedMaps(Prepared):
    """Images, or samples of several, each with its pixels, and the judges that give the results, by name.

    Raises ValueError for rows of a state in which pixels of several images have been counted together.
    """

    def __init__(self, metric: TablesMaps, state: AnomalyState, judges: Mapping[str, Judge]) -> None:
        self.metric, self.state, self.judges = metric, state, judges

    @cached_property
    def _images(self) -> ImageRows:
        if "normal_counts" in self.state:
            raise ValueError(
                "confidence_level: pixels of several images have been counted together; give it at load, not at compute"
            )
        return image_rows(self.state)

    @property
    def counts(self) -> np.ndarray:  # type: ignore[override]
        """The number of images, or samples, that each row stands for."""
        return self._images.counts

    @property
    def strata(self) -> np.ndarray:  # type: ignore[override]
        """The kind of each row."""
        return self._images.strata

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Results of the state, or of drawn images."""
        images = None if counts is None else np.where(self._images.standing, counts[self._images.of_images], 0)
        return {key: result for judge in self.judges.values() for key, result in judge.rates(images).items()}

    def rows(self) -> np.ndarray:
        """The row of each image; −1 for all but the first image of a sample."""
        return np.where(self._images.first, self._images.of_images, -1)

    def beside(self, models: Sequence[Prepared]) -> PreparedMaps:
        """The same with judges that merge pixels as those of all models do."""
        every = [model.judges for model in models if isinstance(model, PreparedMaps)]
        judges = {name: judge.beside([own[name] for own in every]) for name, judge in self.judges.items()}
        return PreparedMaps(self.metric, self.state, judges)

    def tables(self, results: Results) -> dict[str, Any]:
        """The metric's tables."""
        return self.metric.tables(self, results)


# anomaly_suite: image-level and pixel-level metrics of industrial anomaly detection.


def level_counts(state: AnomalyState, level: str) -> Counts:
    """Counts of the anomalous against the normal images, or of the anomalous against the normal pixels.

    Parameters: state of `reduce_maps`; level, "image" or "pixel".
    Returns `Counts`, at all thresholds. Raises ValueError if there are no anomalous or no normal ones.
    """
    positives, negatives = level_sides(state, level)
    return exceedance_counts(positives=positives, negatives=negatives)


@dataclass(kw_only=True, eq=False, repr=False)
class AnomalySuite(Metric):
    """Metrics of anomaly maps, of images and of pixels.

    Columns: see `reduce_maps`. Results are the areas and points of the curves of each level, and for pixels AUPRO up to
    each limit, as "image_auroc", "pixel_auroc", "aupro@0.3"; if references have a mask for each defect, "auspro@0.3"
    too. If scores were cut, results of pixels have errors, and results without a bound are left out.
    Options, in addition to the common ones (see `Metric`):

    integration_limits: false-positive rates up to which AUPRO is taken, in (0, 1]
    levels: "image", "pixel" or both
    points: operating points of the levels, such as "fpr95tpr", in the grammar of `OODBench`
    thresholds: whether to add the thresholds of the points
    num_thresholds: take AUPRO from this many sampled thresholds (see `sampled_aupro`); None takes all
    image_threshold, pixel_threshold: add F1, precision and recall of the decision score > threshold
    components: add siou, ppv and segment_f1 of components at the pixel_threshold (see `component_rates`). Fixed at load
    min_predicted, min_object: pixels below which a predicted component is erased, and an object is void. Fixed at load
    pimo_bounds: add AUPIMO between two false-positive rates (see `aupimo`)
    per_image: add the table of images (see `per_image_table`), at the thresholds chosen, else those of the best F1
    image_reduction, significant_bits, ignore_value, regions: see `reduce_maps`. Fixed at load

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
    regions: str = DEFAULT_REGIONS

    def __post_init__(self) -> None:
        """Check each option."""
        super().__post_init__()
        _ = self.limits, check_levels(self.levels), self.operating_points, self.bounds
        self.thresholds = as_bool(self.thresholds, "thresholds")
        self.num_thresholds = None if self.num_thresholds is None else as_int(self.num_thresholds, "num_thresholds", 2)
        for name in ("image_threshold", "pixel_threshold"):
            if getattr(self, name) is not None:
                setattr(self, name, as_threshold(getattr(self, name), name))
        self.components = as_bool(self.components, "components")
        self.min_predicted = as_int(self.min_predicted, "min_predicted", 0)
        self.min_object = as_int(self.min_object, "min_object", 0)
        self.per_image = as_bool(self.per_image, "per_image")
        check_reduction(self.image_reduction)
        self.significant_bits = check_bits(self.significant_bits)
        self.ignore_value = check_ignore_value(self.ignore_value)
        self.regions = check_regions(self.regions)

    @property
    def limits(self) -> list[float]:
        """The limits of AUPRO."""
        return as_fractions(self.integration_limits, "integration_limits")

    @property
    def operating_points(self) -> Points:
        """The rate, the bounded rate and the bound of each of the points."""
        return check_points(self.points)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The bounds of AUPIMO."""
        return check_pimo_bounds(self.pimo_bounds)

    def reduce(
        self, predictions: Any, references: Any, image_scores: Any = None, image_labels: Any = None, samples: Any = None
    ) -> AnomalyState:
        """Reduce a batch of anomaly maps and masks to the scores of their pixels, regions and images."""
        return map_state(
            predictions,
            references,
            image_scores,
            image_labels,
            samples,
            image_reduction=self.image_reduction,
            significant_bits=self.significant_bits,
            ignore_value=self.ignore_value,
            regions=self.regions,
            components=self.components,
            pixel_threshold=self.pixel_threshold,
            min_predicted=self.min_predicted,
            min_object=self.min_object,
        )

    def as_state(self, state: Mapping[str, Any]) -> AnomalyState:
        """Check a state from elsewhere."""
        return as_anomaly_state(
            state,
            image_reduction=self.image_reduction,
            significant_bits=self.significant_bits,
            ignore_value=self.ignore_value,
            regions=self.regions,
            components=self.components,
            pixel_threshold=self.pixel_threshold,
            min_predicted=self.min_predicted,
            min_object=self.min_object,
        )

    def prepare(self, state: Any) -> PreparedMaps:
        """Sort images and pixels; with groups_without="skip", leave out a level that lacks a class."""
        judges: dict[str, Judge] = {}
        missing: list[MissingClassError] = []
        for name, judge in self._judges(state).items():
            try:
                judges[name] = judge()
            except MissingClassError as error:
                missing.append(error)
        if missing and (self.groups_without == "raise" or not judges):
            raise missing[0]
        return PreparedMaps(self, state, judges)

    def _judges(self, state: AnomalyState) -> dict[str, Callable[[], Judge]]:
        judges: dict[str, Callable[[], Judge]] = {}
        for level in check_levels(self.levels):
            judges |= self._of_images(state) if level == "image" else self._of_pixels(state)
        return judges

    def _of_images(self, state: AnomalyState) -> dict[str, Callable[[], Judge]]:
        judges: dict[str, Callable[[], Judge]] = {"image": partial(ImageRates, self, state)}
        return {**judges, "sample": partial(SampleRates, state)} if "samples" in state else judges

    def _of_pixels(self, state: AnomalyState) -> dict[str, Callable[[], Judge]]:
        judges: dict[str, Callable[[], Judge]] = {
            "pixel": partial(PixelRates, self, state, in_place=self.owns_state and self.counts_rows())
        }
        if self.bounds is not None:
            judges["pimo"] = partial(PimoRates, state, self.bounds)
        if self.components:
            found_at = float(state["component_threshold"])
            if found_at != self.pixel_threshold:
                raise ValueError(
                    f"pixel_threshold: components were found at {found_at} as batches were added; give it at load, not "
                    "at compute"
                )
            judges["components"] = partial(ComponentJudge, state)
        return judges

    def _reduced(self, columns: Mapping[str, Any]) -> Parts:
        parts = super()._reduced(columns)
        if GROUPS in columns and "samples" in columns:
            check_groups_of_rows(as_sample_ids(columns["samples"], columns["predictions"]), columns[GROUPS])
        return parts

    def _states(self, batches: Sequence[Parts]) -> Mapping[str, Sequence[State]]:
        states = super()._states(batches)
        check_one_group(states)
        return states

    def tables(self, prepared: PreparedMaps, results: Results) -> dict[str, Any]:
        """The table of images, with `per_image`."""
        check_thresholds_exist(results)
        if not self.per_image:
            return {}
        thresholds = {f"{level}_threshold": self._threshold_of_table(level, results) for level in LEVELS}
        pimo = prepared.judges.get("pimo")
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


def reduce_maps(
    predictions: Any,
    references: Any,
    image_scores: Any = None,
    image_labels: Any = None,
    samples: Any = None,
    *,
    image_reduction: str | int = AnomalySuite.image_reduction,
    significant_bits: int | None = AnomalySuite.significant_bits,
    ignore_value: int | None = AnomalySuite.ignore_value,
    regions: str = AnomalySuite.regions,
    components: bool = AnomalySuite.components,
    pixel_threshold: float | None = AnomalySuite.pixel_threshold,
    min_predicted: int = AnomalySuite.min_predicted,
    min_object: int = AnomalySuite.min_object,
) -> AnomalyState:
    """Reduce a batch of anomaly maps and masks to the scores of their pixels, regions and images.

    Parameters: predictions (N, H, W) anomaly maps, higher is more anomalous, or a list of (H_i, W_i); references, masks
    of equal shapes, 0 or False for normal, or dicts with a mask for each defect of an image (see `split_defects`),
    which are united; image_scores and image_labels (N,), by default the map's maximum (or by `image_reduction`: "mean",
    or an int k for the mean of the k highest) and whether the mask has an anomaly; significant_bits in [4, 52], the
    number of bits kept of each pixel's score (see `cut`), for memory that does not grow with the normal pixels, unless
    intervals are requested at load; None keeps all. Scores of images are never cut; ignore_value, the value of void
    pixels in the masks, such as 255: they are neither normal nor anomalous, separate regions, and do not affect the
    scores and labels of images; regions, "components" for 8-connected regions of binary masks, or "labels" for masks of
    integers, k > 0 in region k of the image; components, whether to find the components of score > pixel_threshold (see
    `components_of`, also for the two sizes); samples (N,), the id of the sample that each image shows, a string or an
    integer.

    Returns an `AnomalyState`.
    Raises ValueError for NaN, shapes that differ, masks with other values, binary masks of one row with several
    anomalous pixels, a k above the number of a map's pixels, and an entirely void image without its own score and
    label.
    """
    return map_state(
        predictions,
        references,
        image_scores,
        image_labels,
        samples,
        image_reduction=image_reduction,
        significant_bits=significant_bits,
        ignore_value=ignore_value,
        regions=regions,
        components=components,
        pixel_threshold=pixel_threshold,
        min_predicted=min_predicted,
        min_object=min_object,
    )


def anomaly_metrics(state: AnomalyState, **options: Any) -> dict[str, Any]:
    """The results of `AnomalySuite`, with its options, for a state of `reduce_maps`. Returns {key: number or table}."""
    prepared = AnomalySuite(**options).prepare(state)
    results = prepared.rates()
    return as_dict({**results, **prepared.tables(results)})
