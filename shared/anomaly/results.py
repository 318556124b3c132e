"""Results of a level: of curves, of overlaps up to limits of the false-positive rate, and at a threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..arrays.arrays import Array
from ..arrays.sorting import indices, sorted_with
from ..ranking.bounds import error_of
from ..ranking.counts import Side, runs, sort_sides
from ..ranking.curves import CURVE, curve_metrics
from ..ranking.quantities import Quantity, bounded, quantities
from .aupro import areas_up_to, by_limit, counts_of_pixels, sampled_aupro
from .decisions import bounded_decision_rates, decision_rates
from .maps import AnomalyState
from .spro import regions_of


def results_with_errors(results: Mapping[str, float], ends: Mapping[str, tuple[float, ...]]) -> dict[str, float]:
    """Results in [0, 1], each with its error; results without ends are dropped."""
    found: dict[str, float] = {}
    for name, value in results.items():
        if name in ends:
            found |= {name: value, f"{name}_error": error_of(value, ends[name])}
    return found


def image_results(anomalous: Array, normal: Array, threshold: float | None) -> dict[str, float]:
    """Those of images, from the scores of the anomalous and of the normal ones."""
    both = sort_sides(anomalous, normal)
    results = curve_metrics(quantities(runs(*both), CURVE), "image_")
    return results if threshold is None else {**results, **decision_rates(*both, threshold, "image_")}


def _against(scores: Array, negatives: Side) -> tuple[tuple[Side, Side], Quantity]:
    """Pixels and the normal ones, sorted, and the quantity of how these count at each of the pixels."""
    ordered, order = sorted_with(scores, indices(scores))
    return sort_sides(Side(ordered), negatives), counts_of_pixels(order)


def pixel_results(
    state: AnomalyState,
    negatives: Side,
    limits: Sequence[float],
    num_thresholds: int | None,
    threshold: float | None,
) -> dict[str, float]:
    """Those of pixels, against the normal ones. Parameters as of `anomaly_metrics`, checked."""
    results: dict[str, float] = {}
    for name, (scores, sizes, _) in regions_of(state).items():
        both, pixels = _against(scores, negatives)
        curve = CURVE if name == "aupro" else {}
        values = quantities(runs(*both), {**curve, "pixels": pixels})
        if num_thresholds is None:
            areas = areas_up_to(values.pop("pixels"), sizes, negatives.total, limits)
        else:
            areas = sampled_aupro(scores, sizes, negatives.repeated(), limits, num_thresholds)
        if curve:
            results |= curve_metrics(values, "pixel_")
            if threshold is not None:
                results |= decision_rates(*both, threshold, "pixel_")
        results |= by_limit(name, limits, areas)
    return results


def bounded_pixel_results(
    state: AnomalyState,
    negatives: Side,
    limits: Sequence[float],
    num_thresholds: int | None,
    threshold: float | None,
) -> dict[str, float]:
    """As `pixel_results`, of scores that were cut: each with its error, and without what has no bound."""
    bits = int(state["significant_bits"])
    named: dict[str, tuple[float, ...]] = {}
    for name, (scores, sizes, _) in regions_of(state).items():
        both, pixels = _against(scores, negatives)
        curve = CURVE if name == "aupro" else {}
        values: dict[str, Any] = quantities(runs(*both), bounded({**curve, "pixels": pixels}, bits))
        areas = [areas_up_to(counts, sizes, negatives.total, limits) for counts in values.pop("pixels")]
        named |= {f"pixel_{key}": three for key, three in values.items()}
        if curve:
            named["pixel_f1_max"] = tuple(best for best, _ in values["f1_max"])
            if threshold is not None:
                named |= bounded_decision_rates(*both, threshold, bits, "pixel_")
        if num_thresholds is None:
            named |= by_limit(name, limits, zip(*areas))
    return results_with_errors({name: value for name, (value, *_) in named.items()}, named)
