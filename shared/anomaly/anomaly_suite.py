"""anomaly_suite: image-level and pixel-level metrics of industrial anomaly detection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from ..core.arrays import Array
from ..core.bounds import results_with_errors
from ..core.counts import Counts, Side, as_side, exceedance_counts, runs, sort_sides, split
from ..core.curves import CURVE, bounded, curve_metrics, quantities
from ..core.metric import Metric
from ..core.options import as_choice, as_fractions, as_int, plain_value
from ..core.sorting import indices, sorted_with
from .aupro import areas_up_to, counts_of_pixels, sampled_aupro
from .maps import AnomalyState, as_anomaly_state, reduce_maps

if TYPE_CHECKING:
    from typing_extensions import Unpack

LIMITS = (0.3, 0.1, 0.05, 0.01)  # of the false-positive rate, for AUPRO

LEVELS = ("image", "pixel")


class AnomalySuiteOptions(TypedDict, total=False):
    """Options of `AnomalySuite`; see `anomaly_metrics` and `reduce_maps`."""

    integration_limits: float | Sequence[float]
    num_thresholds: int | None
    image_reduction: str | int
    significant_bits: int | None
    levels: str | Sequence[str]


def check_levels(levels: Any) -> list[str]:
    """Check the levels to report: "image", "pixel", or a list of them."""
    levels = plain_value(levels)
    if not isinstance(levels, Iterable):
        raise TypeError(f"levels: expected a list of {LEVELS}, got {levels!r}")
    chosen = [levels] if isinstance(levels, str) else list(levels)
    if not chosen:
        raise ValueError(f"levels: expected at least one of {LEVELS}, got none")
    return [as_choice(level, "levels", LEVELS) for level in chosen]


def level_counts(state: AnomalyState, level: str) -> Counts:
    """Counts of the anomalous images against the normal ones, or of the anomalous pixels against the normal ones.

    Parameters: state of `reduce_maps`; level, "image" or "pixel".
    Returns `Counts`, at all thresholds. Raises ValueError if there are no anomalous or no normal ones.
    """
    positives, negatives, counts = _level_sides(state, level)
    return exceedance_counts(positives, as_side(negatives, counts))


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
    integration_limits: Any = LIMITS,
    levels: Any = LEVELS,
    *,
    num_thresholds: int | None = None,
    owned: bool = False,
) -> dict[str, float]:
    """All metrics of the levels asked for: those of `curve_metrics`, and for pixels AUPRO up to each limit.

    Parameters: state of `reduce_maps`; the others as of `aupro` and `sampled_aupro`, which num_thresholds asks for;
    owned, whether the state's normal pixels may be sorted where they lie, which saves a copy.
    Returns {"image_auroc": …, "pixel_auroc": …, "aupro@0.3": …}; of pixels whose scores were cut, each with
    `<name>_error`, |value − value of the scores before| ≤ error, and without what has no such bound: the threshold of
    the best F1, and AUPRO of sampled thresholds. Raises ValueError if a level has one class only.
    """
    chosen = check_levels(levels)
    if num_thresholds is not None:
        num_thresholds = as_int(num_thresholds, "num_thresholds", 2)
    sides = {level: _level_sides(state, level) for level in chosen}
    limits = as_fractions(integration_limits, "integration_limits")
    results: dict[str, float] = {}
    for level, (positives, normal, counts) in sides.items():
        if level == "image":
            values = quantities(runs(*sort_sides(positives, normal)), CURVE)
            results.update(curve_metrics(values, "image_"))
            continue
        negatives = as_side(normal, counts, owned=owned)
        ordered, order = sorted_with(positives, indices(positives))
        wanted = {**CURVE, "pixels": counts_of_pixels(order)}
        pixels, sizes = runs(*sort_sides(Side(ordered), negatives)), state["region_sizes"]
        if "significant_bits" in state:
            values = quantities(pixels, bounded(wanted, int(state["significant_bits"])))
            areas = [areas_up_to(counted, sizes, negatives.total, limits) for counted in values.pop("pixels")]
            results.update(_with_errors(values, limits if num_thresholds is None else [], areas))
            continue
        values = quantities(pixels, wanted)
        results.update(curve_metrics(values, "pixel_"))
        if num_thresholds is None:
            found = areas_up_to(values["pixels"], sizes, negatives.total, limits)
        else:
            found = sampled_aupro(positives, sizes, negatives.repeated(), limits, num_thresholds)
        results.update({f"aupro@{limit}": area for limit, area in zip(limits, found)})
    return results


def _with_errors(values: dict[str, Any], limits: Sequence[float], areas: Sequence[Sequence[float]]) -> dict[str, float]:
    """Results of pixels with their errors, from values and the two ends of each, and areas and theirs."""
    named = {f"pixel_{name}": three for name, three in values.items()}
    named["pixel_f1_max"] = tuple(best for best, _ in values["f1_max"])
    named |= {f"aupro@{limit}": three for limit, three in zip(limits, zip(*areas))}
    return results_with_errors({name: value for name, (value, *_) in named.items()}, named)


def anomaly_suite_results(
    state: AnomalyState,
    *,
    integration_limits: Any = LIMITS,
    num_thresholds: int | None = None,
    levels: Any = LEVELS,
) -> dict[str, float]:
    """As `anomaly_metrics`, of a state whose normal pixels are then sorted where they lie."""
    return anomaly_metrics(state, integration_limits, levels, num_thresholds=num_thresholds, owned=True)


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
    summarise = staticmethod(anomaly_suite_results)
    tables = {"normal_counts": ("normal",)}

    def __init__(self, **options: Unpack[AnomalySuiteOptions]) -> None:
        super().__init__(**options)
