"""Out-of-distribution benchmarks: metrics by name, including scikit-learn's.

A name is parsed into a `Quantity` of the exceedance counts, or into a function of the two sides. All quantities of a
call come from one sort of the scores and one pass over the counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from ..arrays.checks import as_bool, as_int, as_real, by_keyword, did_you_mean, plain_value
from ..metric.results import Rate, Results, as_dict
from ..ranking.counts import Side, check_both_classes, exceeded_threshold, two_sides
from ..ranking.curves import AUPR, AUROC, AVERAGE_PRECISION
from ..ranking.operating_points import (
    DETECTION_ACCURACY_REACHED,
    RATES,
    Reached,
    check_thresholds_exist,
    parse_point,
    rate_above,
    reached_point,
)
from ..ranking.quantities import Quantity, bounded, check_bits, quantities, with_errors
from .oodeel import curve_of_sides, sampled_measure
from .sides import Measure, Sides, measure_of, required_threshold
from .sklearn_metrics import (
    SKLEARN_LABELS,
    SKLEARN_PARTIAL,
    SKLEARN_SCORES,
    called,
    is_function,
    sklearn_measure,
    takes_scores,
)

DEFAULT_METRICS = ("auroc", "fpr95tpr")
_OF_OUT = {
    "auroc": AUROC,
    "aupr_out": AVERAGE_PRECISION,
    "aupr_out_trapezoid": AUPR,
    "detect_acc": DETECTION_ACCURACY_REACHED,
}
_OF_IN = {"aupr_in": AVERAGE_PRECISION, "aupr_in_trapezoid": AUPR}
_SAMPLED = ("auroc", "detect_acc")


@by_keyword
def bench_metrics(
    *,
    positives: Any,
    negatives: Any,
    metrics: Any = DEFAULT_METRICS,
    threshold: float | None = None,
    thresholds: bool = False,
    step: int | None = None,
    significant_bits: int | None = None,
) -> dict[str, Any]:
    """Metrics of an OOD detector by name, from one sort of the scores.

    auroc         area under the ROC curve, ties counting half
    aupr_out      average precision with OOD as the positive class
    aupr_in       average precision with in-distribution as the positive class, of the negated scores
    aupr_out_trapezoid, aupr_in_trapezoid
                  area under these precision-recall curves by trapezoids, as in OpenOOD and pytorch-ood
    detect_acc    highest accuracy over all thresholds
    fpr95tpr      the best FPR at TPR ≥ 0.95; likewise any of fpr, tpr, fnr, tnr on both sides of a number in (0, 100],
                  decimals included, such as tpr0.1fpr
    tpr, …        that rate if a sample is called OOD iff its score > threshold
    f1_score, …   a scalar binary metric of sklearn.metrics, by name or as the function: a score-based one gets the
                  scores, a label-based one gets scores > threshold
    a function    any other function of sklearn.metrics, or a partial of one, such as confusion_matrix: it is called
                  with the labels, 1 for OOD, and scores > threshold, or the scores if its name begins with roc or ends
                  in _curve; its return value is the result

    Parameters: positives, the scores of the OOD samples, and negatives, scores of the in-distribution samples, higher
    is more OOD; metrics, a name or a list of names and functions; threshold, for the rates and the label-based metrics;
    thresholds, to add `<name>_threshold` for detect_acc and operating points: the t such that score > t gives that
    value on these data, −inf or inf if every sample or none is OOD; step, to take auroc, detect_acc and the
    operating points from every `step`-th score as oodeel does (approximate, of bounds below 100); significant_bits, the
    bits that scores were cut to (see `cut`), to add `<name>_error` with |value − value of the original scores| ≤ error,
    and to leave out results without such a bound: thresholds, rates at a threshold, sampled curves, and metrics of
    scikit-learn.

    Returns {name: float}, and the results of functions. Raises ValueError for an unknown name, a missing threshold,
    thresholds of sampled points or of points that only scores of −inf reach, no remaining name with a bound, or a class
    without samples.
    Source: oodeel's bench_metrics.

    >>> sides = {"positives": [0.9, 0.4], "negatives": [0.6, 0.1]}
    >>> bench_metrics(**sides, metrics=["auroc", "fpr95tpr", "detect_acc"])
    {'auroc': 0.75, 'fpr95tpr': 0.5, 'detect_acc': 0.75}
    >>> bench_metrics(**sides, metrics="fpr95tpr", thresholds=True)
    {'fpr95tpr': 0.5, 'fpr95tpr_threshold': 0.1}
    """
    bits = check_bits(significant_bits)
    threshold = None if threshold is None else as_real(threshold, "threshold")
    sides = two_sides(positives=positives, negatives=negatives)
    rates = bench_rates(
        *sides,
        metrics,
        bits=bits,
        threshold=threshold,
        thresholds=as_bool(thresholds, "thresholds"),
        step=None if step is None else as_int(step, "step", 1),
    )
    check_thresholds_exist(rates)
    return as_dict(rates) | function_results(*sides, metrics, threshold=threshold, bits=bits)


def function_results(
    positives: Side, negatives: Side, metrics: Any, *, threshold: float | None, bits: int | None
) -> dict[str, Any]:
    """Results of scikit-learn's functions, by name: they are not rates, so they have neither mean nor interval.

    Cut scores have no such results.
    """
    functions = [metric for metric in names_and_functions(metrics) if is_function(metric)]
    if bits is not None or not functions:
        return {}
    sides = Sides(positives, negatives)
    return {_name_of(function): called(function, _name_of(function), sides, threshold) for function in functions}


def bench_rates(
    positives: Side,
    negatives: Side,
    metrics: Any,
    *,
    threshold: float | None,
    thresholds: bool,
    step: int | None,
    bits: int | None,
) -> Results:
    """As `bench_metrics`, of checked options; a threshold that does not exist is NaN."""
    if thresholds and step is not None:
        raise ValueError("thresholds: expected False with a step, since sampled points are not reached; got True")
    measures = parsed_measures(metrics, threshold, step)
    check_both_classes(positives.total, negatives.total)
    sides = Sides(positives, negatives)
    wanted: list[dict[str, Quantity]] = [{}, {}]  # of the OOD and of the in-distribution samples as positives
    for name, measure in measures.items():
        if isinstance(measure.source, Quantity):
            wanted[measure.of_inside][name] = measure.source
    passes: _Passes = [*zip((lambda: sides.ascending, sides.flipped), wanted)]
    if bits is not None:
        return _with_errors(measures, [(both, bounded(each, bits)) for both, each in passes], bits)
    values = _values(passes)
    rates: Results = {}
    for name, measure in measures.items():
        value = values[name] if name in values else measure.source(sides)  # type: ignore[operator]
        rates[name] = Rate(_plain(value), measure.higher, measure.share)
        if thresholds and isinstance(value, Reached):
            rates[name] = rates[name]._replace(threshold=exceeded_threshold(value.score, sides.ascending))
    return rates


def parsed_measures(metrics: Any, threshold: float | None, step: int | None) -> dict[str, Measure]:
    """Parse metrics into measures, by name."""
    curve = None if step is None else curve_of_sides(step)
    parse = _parse if step is not None else _parsed_once
    measures: dict[str, Measure] = {}
    names = set()
    for metric in dict.fromkeys(names_and_functions(metrics)):
        name = metric if isinstance(metric, str) else _name_of(metric)
        if name in names:
            raise ValueError(f"metrics: expected each name once, since they name the results; got {name!r} twice")
        names.add(name)
        if not is_function(metric):
            measures[name] = parse(metric, name, threshold=threshold, curve=curve)
    if not names:
        raise ValueError("metrics: expected at least one name, got none")
    return measures


def check_metrics(metrics: Any) -> dict[str, Measure]:
    """Raise the errors of metrics that are wrong with any scores and any threshold; return them as measures."""
    return parsed_measures(metrics, threshold=0.0, step=None)


def need_threshold(metrics: Any) -> bool:
    """Whether a metric is of the decisions score > threshold."""
    functions = [_name_of(metric) for metric in names_and_functions(metrics) if is_function(metric)]
    return any(measure.of_decisions for measure in check_metrics(metrics).values()) or not all(
        map(takes_scores, functions)
    )


def names_and_functions(metrics: Any) -> list[Any]:
    """Metrics as a list, even if there is only one."""
    metrics = plain_value(metrics)
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        metrics = (metrics,)
    names = [str(metric) if isinstance(metric, str) else metric for metric in metrics]
    for name in names:
        if not isinstance(name, str) and not callable(name):
            raise TypeError(f"metrics: expected names or functions, got {name!r:.60}")
    return names


def has_threshold(metric: Any) -> bool:
    """Whether a metric has a threshold, since it is the best value over all: an operating point, or detect_acc."""
    return isinstance(metric, str) and (metric == "detect_acc" or parse_point(metric) is not None)


_Passes = Iterable[tuple[Callable[[], tuple[Side, Side]], dict[str, Quantity]]]


def _values(passes: _Passes) -> dict[str, Any]:
    """Values by name, from one pass over the counts of each kind of positives."""
    return {name: value for both, wanted in passes if wanted for name, value in quantities(*both(), wanted).items()}


def _plain(value: Any) -> float:
    return float(value.value if isinstance(value, Reached) else value)


def _with_errors(measures: Mapping[str, Measure], passes: _Passes, bits: int) -> Results:
    """Values and errors of the metrics with bounds, in the order of the names."""
    values = _values(passes)
    if not values:
        raise ValueError(
            "metrics: expected at least one that has an error bound, since scores were cut to "
            f"significant_bits={bits}; got {', '.join(measures)}"
        )
    ends = {name: tuple(map(_plain, values[name])) for name in measures if name in values}
    return with_errors({name: Rate(ends[name][0], measures[name].higher) for name in ends}, ends)


def _parse(metric: Any, name: str, *, threshold: float | None, curve: Any) -> Measure:
    """Parse a metric into a measure."""
    by_name = isinstance(metric, str)
    if name in (*SKLEARN_SCORES, *SKLEARN_LABELS) or (not by_name and name in SKLEARN_PARTIAL):
        return sklearn_measure(metric, name, threshold)
    point = parse_point(name) if by_name else None
    if by_name and curve is not None and (point or name in _SAMPLED):
        return sampled_measure(name, curve)
    if point:
        return measure_of(reached_point(*point))
    if by_name and name in _OF_OUT:
        return measure_of(_OF_OUT[name])
    if by_name and name in _OF_IN:
        return measure_of(_OF_IN[name], of_inside=True)
    if by_name and name in RATES:
        return _rate_measure(name, threshold)
    known = (*_OF_OUT, *_OF_IN, *RATES)
    hint = did_you_mean(name, (*known, *DEFAULT_METRICS, *SKLEARN_SCORES, *SKLEARN_LABELS))
    raise ValueError(
        f"metrics: unknown metric {name!r}; known are {', '.join(known)}, "
        f"<rate><number in (0, 100]><rate> such as 'fpr95tpr' with rates {', '.join(RATES)}, sklearn.metrics' "
        f"{', '.join(SKLEARN_SCORES + SKLEARN_LABELS)}, any function of sklearn.metrics, and functools.partial of one"
        f"{hint}"
    )


_parsed_once = lru_cache(1 << 8)(_parse)  # for a thousand resamples of one size


def _name_of(function: Any) -> str:
    return str(getattr(getattr(function, "func", function), "__name__", function))  # func of a functools.partial


def _rate_measure(name: str, threshold: float | None) -> Measure:
    threshold = required_threshold(threshold, name)
    return Measure(
        lambda sides: rate_above(name, *sides.ascending, threshold), name in ("tpr", "tnr"), of_decisions=True
    )
