"""anomaly_suite: image-level and pixel-level metrics of industrial anomaly detection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..arrays.arrays import Array
from ..arrays.options import as_bool, as_choice, as_fractions, as_int
from ..metric.metric import Metric, keyword_options
from ..metric.prepared_units import PreparedUnits
from ..ranking.counts import Counts, Side, as_side, exceedance_counts, split
from .aupimo import aupimo_of_images, check_pimo_bounds, mean_aupimo
from .decisions import as_thresholds
from .levels import LEVELS, check_levels
from .maps import AnomalyState, as_anomaly_state, reduce_maps
from .per_image import per_image_table
from .resampling import anomaly_units
from .results import bounded_pixel_results, image_results, pixel_results

LIMITS = (0.3, 0.1, 0.05, 0.01)  # of the false-positive rate, for AUPRO


def level_counts(state: AnomalyState, level: str) -> Counts:
    """Counts of the anomalous images against the normal ones, or of the anomalous pixels against the normal ones.

    Parameters: state of `reduce_maps`; level, "image" or "pixel".
    Returns `Counts`, at all thresholds. Raises ValueError if there are no anomalous or no normal ones.
    """
    return exceedance_counts(*level_sides(state, level))


def level_sides(state: AnomalyState, level: str) -> tuple[Side, Side]:
    """What is anomalous and what is normal; parameters and errors as of `level_counts`."""
    positives, negatives, counts = _level_sides(state, level)
    return as_side(positives), as_side(negatives, counts)


def _level_sides(state: AnomalyState, level: str) -> tuple[Array, Array, Array | None]:
    """Scores of what is anomalous and of what is normal, and how many samples each of the latter stands for."""
    counts = None
    if as_choice(level, "levels", LEVELS) == "pixel":
        positives, negatives, counts = state["anomalous"], state["normal"], state.get("normal_counts")
    else:
        positives, negatives = split(state["image_scores"], state["image_labels"])
    if not positives.shape[0] or not negatives.shape[0]:
        raise ValueError(
            f"references: expected anomalous and normal {level}s, got {positives.shape[0]} anomalous and "
            f"{negatives.shape[0]} normal; leave {level!r} out of levels={LEVELS} to go without"
        )
    return positives, negatives, counts


def anomaly_metrics(
    state: AnomalyState,
    *,
    integration_limits: Any = LIMITS,
    levels: Any = LEVELS,
    num_thresholds: int | None = None,
    image_threshold: float | None = None,
    pixel_threshold: float | None = None,
    pimo_bounds: Any = None,
    per_image: bool = False,
) -> dict[str, Any]:
    """All metrics of the levels asked for: those of `curve_metrics`, and for pixels AUPRO up to each limit.

    Parameters: state of `reduce_maps`; the others as of `aupro` and `sampled_aupro`, which num_thresholds asks for;
    image_threshold and pixel_threshold, to add F1, precision and recall of the decision score ≥ threshold;
    pimo_bounds, to add AUPIMO between these (see `aupimo`); per_image, to add "per_image", the `per_image_table` at the
    thresholds of the best F1.
    Returns {"image_auroc": …, "pixel_auroc": …, "aupro@0.3": …}, and "auspro@0.3" and so on where references told
    defects apart; of pixels whose scores were cut, each with `<name>_error`, |value − value of the scores before| ≤
    error, and without what has no such bound: the threshold of the best F1, and AUPRO of sampled thresholds.
    Raises ValueError if a level has one class only.
    """
    chosen = check_levels(levels)
    if num_thresholds is not None:
        num_thresholds = as_int(num_thresholds, "num_thresholds", 2)
    thresholds = as_thresholds(image_threshold, pixel_threshold)
    bounds = check_pimo_bounds(pimo_bounds)
    sides = {level: _level_sides(state, level) for level in chosen}
    limits = as_fractions(integration_limits, "integration_limits")
    pimo = aupimo_of_images(state, bounds) if bounds is not None and "pixel" in chosen else None
    with_table = as_bool(per_image, "per_image")
    results: dict[str, Any] = {}
    for level, (positives, normal, counts) in sides.items():
        if level == "image":
            results |= image_results(positives, normal, thresholds[level])
        else:
            of_pixels = pixel_results if "significant_bits" not in state else bounded_pixel_results
            negatives = as_side(normal, counts)
            results |= of_pixels(state, negatives, limits, num_thresholds, thresholds[level])
    if pimo is not None:
        results["aupimo"] = mean_aupimo(pimo)
    if with_table:
        best = {f"{level}_threshold": results.get(f"{level}_f1_max_threshold") for level in LEVELS}
        results["per_image"] = per_image_table(state, **best, pimo=pimo)
    return results


@dataclass(kw_only=True, eq=False, repr=False)
class AnomalySuite(Metric):
    """Metrics of anomaly maps, of images and of pixels: see `reduce_maps` and `anomaly_metrics`.

    >>> maps = [[[0.1, 0.2], [0.3, 0.9]], [[0.1, 0.4], [0.0, 0.2]]]
    >>> masks = [[[0, 0], [1, 1]], [[0, 0], [0, 0]]]
    >>> AnomalySuite(levels="image").compute(predictions=maps, references=masks)["image_auroc"]
    1.0
    """

    name = "anomaly_suite"
    reduce = staticmethod(reduce_maps)
    as_state = staticmethod(as_anomaly_state)
    fixed_options = frozenset({"ignore_value", "image_reduction", "regions", "significant_bits"})
    countable_tables = {"normal_counts": ("normal",)}
    owned_arrays = frozenset({"normal"})  # by far the most of a state

    integration_limits: float | Sequence[float] = (0.3, 0.1, 0.05, 0.01)
    levels: str | Sequence[str] = ("image", "pixel")
    num_thresholds: int | None = None
    image_threshold: float | None = None
    pixel_threshold: float | None = None
    pimo_bounds: Sequence[float] | None = None
    per_image: bool = False
    image_reduction: str | int = "max"
    significant_bits: int | None = None
    ignore_value: int | None = None
    regions: str = "components"

    def prepare(self, state: Any) -> PreparedUnits:
        """Sort the images and the pixels."""
        options = {name: getattr(self, name) for name in keyword_options(anomaly_metrics)}
        of_units = {name: getattr(self, name) for name in keyword_options(anomaly_units)}
        return PreparedUnits(state, partial(anomaly_metrics, **options), partial(anomaly_units, **of_units))

    def counts_rows(self) -> bool:
        """Not for intervals, AUPIMO and the table of images, which need to know of which image a pixel is."""
        # of pixels that were cut, the table says nothing
        table = self.per_image and self.significant_bits is None
        return self.confidence_level is None and self.pimo_bounds is None and not table
