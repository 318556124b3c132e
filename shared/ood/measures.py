"""Measures of a benchmark by name: of exceedance counts, at a threshold, scikit-learn's, and oodeel's sampled ones.

A name is parsed into a `Measure`, a function of the two `Sides`. Those of exceedance counts come from one pass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import to_numpy, trapezoid_area
from ..arrays.checks import did_you_mean, plain_value
from ..arrays.exact import as_written
from ..extras import extra
from ..ranking.auroc import AUROC
from ..ranking.counts import Side
from ..ranking.curves import (
    AUPR,
    AVERAGE_PRECISION,
    DETECTION_ACCURACY_REACHED,
    EER,
    BestValue,
    average_precision_at,
)
from ..ranking.highest import precision_at, recall_at, share_of_all
from ..ranking.hull import BEST_BALANCED_ACCURACY, DETECTION_ERROR, EER_HULL, DetectionCost, reliability
from ..ranking.operating_points import (
    RATES,
    best_point,
    equal_error_score,
    parse_area,
    parse_point,
    rate_above,
    samples_above,
)
from ..ranking.quantities import PERCENT, Quantity, quantities
from ..ranking.risk_curves import AUARC, AUGRC, AURC, E_AURC, PRR, RISK_POINTS, parse_risk

DEFAULT_METRICS = ("auroc", "fpr95tpr")
POSITIVES = ("out", "in")
_OTHER_CLASS = str.maketrans("pn", "np")  # within the name of a rate
_SAMPLED = ("auroc", "detect_acc")
SKLEARN_SCORES = {  # by name, whether the value is a share, in [0, 1]
    "average_precision_score": True,
    "brier_score_loss": False,
    "d2_brier_score": False,
    "d2_log_loss_score": False,
    "hinge_loss": False,
    "log_loss": False,
    "roc_auc_score": True,
}
_RANKS = ("average_precision_score", "roc_auc_score")  # to which any scores in the same order are the same
SKLEARN_LABELS = {  # the same, of decisions
    "accuracy_score": True,
    "balanced_accuracy_score": True,
    "cohen_kappa_score": False,
    "f1_score": True,
    "hamming_loss": True,
    "jaccard_score": True,
    "matthews_corrcoef": False,
    "precision_score": True,
    "recall_score": True,
    "zero_one_loss": True,
}
SKLEARN_PARTIAL = ("fbeta_score",)  # by name it lacks an argument

_Arrays = tuple[np.ndarray, ...]


class Sides:
    """The two sides of a benchmark in one type, the OOD samples first, with values that several measures share.

    Parameters: threshold, for measures of the decisions score > threshold; step, for those of every `step`-th score.
    """

    def __init__(
        self, positives: Side, negatives: Side, threshold: float | None = None, step: int | None = None
    ) -> None:
        self.positives, self.negatives, self.threshold, self.step = positives, negatives, threshold, step
        self.values: dict[str, Any] = {}  # of quantities

    @cached_property
    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores in an order independent of the order of the samples."""
        # in float64, since scikit-learn computes in the precision of its input
        sides = [to_numpy(side.repeated()).astype(np.float64) for side in (self.negatives, self.positives)]
        labels = np.repeat(np.asarray([0, 1]), [len(side) for side in sides])
        return labels, np.concatenate(sides)

    @cached_property
    def sampled(self) -> _Arrays:
        """The rates of `sampled_curve`."""
        positives, negatives = (to_numpy(side.repeated()) for side in (self.positives, self.negatives))
        return sampled_curve(positives, negatives, self.step or 1)[1]

    def threshold_of(self, name: str) -> float:
        """The threshold of a measure of decisions. Raises ValueError if there is none."""
        if self.threshold is None:
            raise ValueError(f"threshold: expected a number, since {name!r} judges scores > threshold; got None")
        return self.threshold


class Measure(NamedTuple):
    """How a metric of a benchmark is computed."""

    of: Callable[[Sides], Any]  # its value, from the sides
    higher: bool | None  # whether higher is better
    share: bool = True  # whether its value is a share, in [0, 1]
    of_decisions: bool = False  # whether it is of the decisions score > threshold
    quantity: Quantity | None = None  # what is computed beforehand, in one pass with other quantities, as sides.values
    of_inside: bool = False  # whether the positives of a quantity are the in-distribution samples, by negated scores
    score: Callable[[Sides], float | None] | None = None  # at which its value is, where the value does not say it

    @property
    def has_threshold(self) -> bool:
        """Whether it has a threshold of its own, since it is the best value over all, or the equal error rate."""
        return self.score is not None or (self.quantity is not None and _is_best(self.quantity))

    def score_of(self, value: Any, sides: Sides) -> float | None:
        """The score that is detected, with higher ones, where it has its value. Raises TypeError if there is none."""
        if self.score is not None:
            return self.score(sides)
        if isinstance(value, BestValue):
            return value.score
        raise TypeError("expected a measure with a threshold")


@lru_cache(1 << 8)
def _is_best(quantity: Quantity) -> bool:
    """Whether the values of a quantity say at which score they are, seen on two samples."""
    known, unknown = (Side(np.asarray([score])) for score in (0.0, 1.0))
    return isinstance(quantities(unknown, known, {"": quantity})[""], BestValue)


def _of_counts(name: str, quantity: Quantity, *, of_inside: bool = False, share: bool = True) -> Measure:
    return Measure(lambda sides: sides.values[name], quantity.higher, share, quantity=quantity, of_inside=of_inside)


def _at_threshold(name: str) -> Measure:
    def rate(sides: Sides) -> float:
        return rate_above(name, sides.positives, sides.negatives, sides.threshold_of(name))

    return Measure(rate, name in ("tpr", "tnr"), of_decisions=True)


def _misses_and_alarms(name: str, sides: Sides) -> tuple[int, int]:
    """The positives that are not above the threshold, and the negatives that are."""
    threshold = sides.threshold_of(name)
    misses = sides.positives.total - samples_above(sides.positives, threshold)
    return misses, samples_above(sides.negatives, threshold)


def _of_answers(name: str, value: Callable[[int, int, int], float], higher: bool | None) -> Measure:
    """value(right, answered, N) of the answers that score at most the threshold, which are wrong if OOD."""

    def of(sides: Sides) -> float:
        misses, alarms = _misses_and_alarms(name, sides)
        right = sides.negatives.total - alarms
        return value(right, right + misses, sides.positives.total + sides.negatives.total)

    return Measure(of, higher, of_decisions=True)


MEASURES = {
    "auroc": _of_counts("auroc", AUROC),
    "aupr_out": _of_counts("aupr_out", AVERAGE_PRECISION),
    "aupr_out_trapezoid": _of_counts("aupr_out_trapezoid", AUPR),
    "detect_acc": _of_counts("detect_acc", DETECTION_ACCURACY_REACHED),
    "aupr_in": _of_counts("aupr_in", AVERAGE_PRECISION, of_inside=True),
    "aupr_in_trapezoid": _of_counts("aupr_in_trapezoid", AUPR, of_inside=True),
    "eer": _of_counts("eer", EER)._replace(score=lambda sides: equal_error_score(sides.positives, sides.negatives)),
    "eer_hull": _of_counts("eer_hull", EER_HULL),
    "detection_error": _of_counts("detection_error", DETECTION_ERROR),
    "best_balanced_accuracy": _of_counts("best_balanced_accuracy", BEST_BALANCED_ACCURACY),
    "precision@n": _of_counts("precision@n", precision_at(lambda num_positives, _: num_positives)),
    "aurc": _of_counts("aurc", AURC),
    "e_aurc": _of_counts("e_aurc", E_AURC),
    "auarc": _of_counts("auarc", AUARC),
    "augrc": _of_counts("augrc", AUGRC),
    "prr": _of_counts("prr", PRR, share=False),
    **{name: _at_threshold(name) for name in RATES},
    "answered": _of_answers("answered", lambda right, answered, total: answered / total, None),
    "accuracy_given_answered": _of_answers(
        "accuracy_given_answered", lambda right, answered, total: right / answered if answered else math.nan, True
    ),
    "f_answered": _of_answers("f_answered", lambda right, answered, total: 2 * right / (total + answered), True),
}


class Reading(NamedTuple):
    """The options by which names are read.

    sampled: whether curves and points are taken from every few scores
    positive: which samples are the positives of rates, points, partial areas and costs: see `OODBench`
    decided: whether there is a threshold
    cost_miss, cost_false_alarm: the costs of a positive that is not detected, and of a negative that is
    """

    sampled: bool
    positive: str
    decided: bool
    cost_miss: float
    cost_false_alarm: float


_COST = re.compile(rf"(mindcf|dcf)@p{PERCENT}", re.ASCII)
_RELIABILITY = re.compile(r"reliability@c((?!0\d)\d+(?:\.\d+)?)", re.ASCII)
_SHARE = re.compile(rf"aupr_out@share{PERCENT}", re.ASCII)
_TOP = re.compile(rf"(precision|recall)@top{PERCENT}", re.ASCII)
_NUMBERED = (  # examples, those with a number in (0, 100) first
    *("mindcf@p1", "dcf@p1", "aupr_out@share50", "precision@top5", "recall@top5"),
    *("coverage@risk5", "risk@cov80", "reliability@c1"),
)
_SMALLEST_SHARE = Fraction(1, 10**7)  # so that precisions of 2^40 samples are at least 2^-64


def _with_number(name: str, reading: Reading) -> Measure | None:
    """The measure of a name with a number other than a point's or an area's; None for any other name."""
    match = _COST.fullmatch(name) or _SHARE.fullmatch(name) or _TOP.fullmatch(name)
    share = Fraction(match[match.lastindex or 1]) / 100 if match else Fraction()
    if match and not 0 < share < 1:
        return None
    if _COST.fullmatch(name):
        return _cost_measure(name, share, reading)
    if _TOP.fullmatch(name):
        return _of_counts(name, (precision_at if name[0] == "p" else recall_at)(share_of_all(share)))
    if match:
        return _of_counts(name, average_precision_at(share)) if share >= _SMALLEST_SHARE else None
    if risk := parse_risk(name):
        return _of_counts(name, RISK_POINTS[risk[0]](float(risk[1])))
    if match := _RELIABILITY.fullmatch(name):
        return _reliability_measure(name, Fraction(match[1]), decided=reading.decided)
    return None


def _cost_measure(name: str, prior: Fraction, reading: Reading) -> Measure:
    """The detection cost of the best threshold, or of the threshold."""
    cost = DetectionCost.of(prior, as_written(reading.cost_miss), as_written(reading.cost_false_alarm))
    cost = cost if reading.positive == "out" else cost.swapped()
    if name.startswith("min"):
        return _of_counts(name, cost.least())

    def of(sides: Sides) -> float:
        return cost.at(*_misses_and_alarms(name, sides), sides.positives.total, sides.negatives.total)

    return Measure(of, False, share=False, of_decisions=True)


def _reliability_measure(name: str, cost: Fraction, *, decided: bool) -> Measure:
    """The reliability of the best threshold or, where there is one, of the threshold, which may be below 0."""
    if not decided:
        return _of_counts(name, reliability(cost), share=False)  # as at a threshold
    c, unit = cost.as_integer_ratio()

    def of(sides: Sides) -> float:
        misses, alarms = _misses_and_alarms(name, sides)
        gain = unit * (sides.negatives.total - alarms) - c * misses
        return gain / (unit * (sides.positives.total + sides.negatives.total))

    return Measure(of, True, share=False, of_decisions=True)


class Measures(NamedTuple):
    """Metrics of a benchmark, parsed."""

    measures: dict[str, Measure]  # by name
    of_out: dict[str, Quantity]  # with of_inside: their quantities, with OOD or in-distribution samples as positives
    of_inside: dict[str, Quantity]
    functions: dict[str, Callable[..., Any]]  # of scikit-learn without a name here: no rates, so without an interval

    def need_threshold(self) -> bool:
        """Whether a metric is of the decisions score > threshold."""
        decisions = any(measure.of_decisions for measure in self.measures.values())
        return decisions or not all(map(takes_scores, self.functions))


def metric_list(metrics: Any) -> tuple[Any, ...]:
    """Names and functions as a tuple, even if there is only one."""
    metrics = plain_value(metrics)
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        metrics = (metrics,)
    names = []
    for metric in metrics:
        if not isinstance(metric, str) and not callable(metric):
            raise TypeError(f"metrics: expected names or functions, got {metric!r:.60}")
        names.append(str(metric) if isinstance(metric, str) else metric)
    return tuple(names)


@lru_cache(1 << 8)
def parsed(metrics: tuple[Any, ...], reading: Reading) -> Measures:
    """Parse names and functions, each once.

    Raises ValueError for an unknown name, two metrics of one name, and none.
    """
    wanted = Measures({}, {}, {}, {})
    for metric in dict.fromkeys(metrics):
        # func of a functools.partial
        name = metric if isinstance(metric, str) else str(getattr(getattr(metric, "func", metric), "__name__", metric))
        if name in wanted.measures or name in wanted.functions:
            raise ValueError(f"metrics: expected each name once, since they name the results; got {name!r} twice")
        if _is_function(metric, name):
            wanted.functions[name] = metric
            continue
        measure = wanted.measures[name] = _parsed(metric, name, reading)
        if measure.quantity is not None:
            (wanted.of_inside if measure.of_inside else wanted.of_out)[name] = measure.quantity
    if not wanted.measures and not wanted.functions:
        raise ValueError("metrics: expected at least one name, got none")
    return wanted


def _parsed(metric: Any, name: str, reading: Reading) -> Measure:
    by_name = isinstance(metric, str)
    if name in (*SKLEARN_SCORES, *SKLEARN_LABELS) or (not by_name and name in SKLEARN_PARTIAL):
        return _sklearn_measure(metric, name)
    if by_name:
        point_name = name if reading.positive == "out" else _of_other_class(name)
        point = parse_point(point_name)
        if reading.sampled and (point or name in _SAMPLED):
            return _sampled_measure(point_name)
        if point:
            return _of_counts(name, best_point(*point))
        if point_name in MEASURES:
            return MEASURES[point_name]
        area = parse_area(point_name)
        if area:
            return _of_counts(name, area[0], of_inside=area[1])
        numbered = _with_number(name, reading)
        if numbered:
            return numbered
    examples = ("pauroc@fpr10", "pauroc@fpr10_mcclish", "pauroc@tpr80")
    here = _elsewhere(name)
    others = (*MEASURES, *DEFAULT_METRICS, *examples, *_NUMBERED, *SKLEARN_SCORES, *SKLEARN_LABELS)
    hint = f"; {here}" if here else did_you_mean(name.lower(), others, 0.75)
    raise ValueError(
        f"metrics: unknown metric {name!r}; known are {', '.join(MEASURES)}, "
        f"<rate><number in (0, 100]><rate> such as 'fpr95tpr' with rates {', '.join(RATES)}, "
        f"pauroc@<rate><number in (0, 100]> such as {', '.join(map(repr, examples))}, "
        f"with a number in (0, 100) {', '.join(map(repr, _NUMBERED[:5]))}, coverage@risk<number in [0, 100]>, "
        f"risk@cov<number in (0, 100]>, reliability@c<number of at least 0>, sklearn.metrics' "
        f"{', '.join(SKLEARN_SCORES | SKLEARN_LABELS)}, any function of sklearn.metrics, and functools.partial of one"
        f"{hint}"
    )


def _called(here: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), f"that is {here} here")


# names of other libraries and fields, in lower case, with "at" for @ and no other marks; "…at" also with any number
_ELSEWHERE = {
    **_called("'auroc'", "auc auroc rocauc aucroc rocaucscore"),
    **_called("'auroc', which is the same of either side,", "aurocin aurocout"),
    **_called("'aupr_out', or 'aupr_in' of the in-distribution samples,", "aupr auprc aucpr prauc ap averageprecision"),
    **_called("'pauroc@fpr10', to an FPR of 10 %,", "pauc partialauc pauroc partialauroc"),
    **_called("'fpr95tpr'", "fpr95 fprat95 fpr95tpr fpr95recall fprattpr95 fpratrecall95 fprtpr95 fprat95tpr"),
    **_called("'tpr' at a threshold, or 'tpr5fpr' at 95 % specificity,", "sensitivity recall sens hitrate"),
    **_called("'tnr' at a threshold, or 'tnr95tpr' at 95 % sensitivity,", "specificity spec selectivity"),
    **_called("'tpr5fpr', for 95 % specificity,", "sensitivityatspecificity sensatspec recallatspecificity"),
    **_called("'f1_score' at a threshold", "f1 fscore fmeasure"),
    **_called("'matthews_corrcoef' at a threshold", "mcc phi"),
    **_called("'precision_score' at a threshold, or 'precision@n',", "precision ppv"),
    **_called("'accuracy_score' at a threshold, or 'detect_acc' at the best one,", "accuracy acc"),
    **_called("'balanced_accuracy_score' at a threshold, or 'best_balanced_accuracy',", "balancedaccuracy bacc"),
    **_called("'mAP' of openset_detection, for boxes,", "map meanaverageprecision"),
    **_called("'aupro' of anomaly_suite, for maps,", "aupro pro"),
    **dict.fromkeys(
        ["precisionat", "precisionatk", "recallat", "recallatk"],
        "'precision@n' takes as many samples as there are positives, 'precision@top5' and 'recall@top5' a share of all",
    ),
    **dict.fromkeys(
        ["recallatprecision", "precisionatrecall", "recallatp", "precisionatr", "ratp", "patr"],
        "'precision_recall_curve' of this package has every pair of them, with max_points=None",
    ),
    **dict.fromkeys(
        ["fnr95", "tpr95", "tnr95", "fprat", "tprat", "tpratfpr", "fprattpr"],
        "a number stands between two rates, as in 'tpr5fpr', the TPR at an FPR of 5 %",
    ),
    "ece": "calibration is not measured, since scores only rank here",
    "autc": "there is none, since it depends on the scale of the scores, which only rank here",
    "froc": "there is none, since each challenge matches lesions in its own way",
}


def _elsewhere(name: str) -> str | None:
    """The hint for a name of another library or field: its name here, or why it has none; None for other names."""
    key = re.sub(r"[^a-z0-9]", "", name.lower().replace("@", "at"))
    unnumbered = re.sub(r"[0-9]", "", key) if "at" in key else key
    return _ELSEWHERE.get(key, _ELSEWHERE.get(unnumbered))


def _of_other_class(name: str) -> str:
    """The name of a rate, point or partial area by which the other class as positives has the same number.

    >>> _of_other_class("fpr95tpr"), _of_other_class("pauroc@fpr10"), _of_other_class("auroc")
    ('fnr95tnr', 'pauroc@fnr10', 'auroc')
    """
    return re.sub("|".join(RATES), lambda rate: rate[0].translate(_OTHER_CLASS), name)


def decides(metric: Any) -> bool:
    """Whether a metric decides on each sample where there is no threshold: an operating point, or detect_acc."""
    return isinstance(metric, str) and (metric == "detect_acc" or parse_point(metric) is not None)


def _is_function(metric: Any, name: str) -> bool:
    """Whether a metric is a function of sklearn.metrics, or a partial of one, that has no name here: see `called`."""
    function = getattr(metric, "func", metric)
    named = name in (*SKLEARN_SCORES, *SKLEARN_LABELS, *SKLEARN_PARTIAL)
    return callable(function) and str(function.__module__).startswith("sklearn.metrics") and not named


def _sklearn_measure(metric: Any, name: str) -> Measure:
    """A metric of scikit-learn, of the scores or of the decisions at a threshold, which is then required."""
    with extra("sklearn"):
        import sklearn.metrics

    function = getattr(sklearn.metrics, name, None) if isinstance(metric, str) else metric
    if function is None:
        raise ValueError(f"metrics: scikit-learn {sklearn.__version__} has no {name!r}; it came in a later version")
    of = _of_scores if name in SKLEARN_SCORES else _of_decisions
    return Measure(
        lambda sides: of(function, name, sides),
        higher=not name.endswith("_loss"),  # so scikit-learn names what is to be minimised
        share=(SKLEARN_SCORES | SKLEARN_LABELS).get(name, True),
        of_decisions=name not in SKLEARN_SCORES,
    )


def called(function: Any, name: str, sides: Sides) -> Any:
    """Call a function of sklearn.metrics with the labels, 1 for OOD, and the scores or decisions; return its result.

    Names that begin with roc or end in _curve get the scores, all others the decisions score > threshold.
    """
    return (_of_scores if takes_scores(name) else _of_decisions)(function, name, sides)


def takes_scores(name: str) -> bool:
    """Whether a function of sklearn.metrics is called with scores rather than decisions, by its name."""
    return name.startswith("roc") or name.endswith("_curve")


def _of_scores(function: Any, name: str, sides: Sides) -> Any:
    labels, scores = sides.ordered
    if not np.isfinite(scores).all():
        if name not in _RANKS:
            raise ValueError(f"predictions: expected finite scores for scikit-learn's {name!r}, got infinite ones")
        scores = np.unique(scores, return_inverse=True)[1]
    return _value(function, name, labels, scores)


def _of_decisions(function: Any, name: str, sides: Sides) -> Any:
    threshold = sides.threshold_of(name)
    labels, scores = sides.ordered
    return _value(function, name, labels, (scores > threshold).astype(np.int64))


def _value(function: Any, name: str, labels: np.ndarray, scores: np.ndarray) -> Any:
    """The value of a function, whose errors get its name."""
    try:
        return function(labels, scores)
    except ValueError as error:
        raise ValueError(f"metrics: scikit-learn's {name!r}: {error}") from error


def sampled_curve(positives: np.ndarray, negatives: np.ndarray, step: int) -> tuple[_Arrays, _Arrays]:
    """Counts and rates at every `step`-th score, from the two sides in ascending order.

    Thresholds are s_(1), s_(1+step), … of the sorted scores s_(0) ≤ s_(1) ≤ …; a sample is called OOD when its
    score ≥ threshold, as in oodeel: everything else in this package compares score > threshold.
    Returns (FP, TP, FN, TN), and (fpr, tpr, fnr, tnr, accuracy); the rates also have the two ends of the curve.
    Source: oodeel, eval/metrics.py; this takes O(N log N), not O(N²).
    """
    thresholds = np.sort(np.concatenate([positives, negatives]))[1::step]
    num_positives, num_negatives = len(positives), len(negatives)
    tp = num_positives - np.searchsorted(positives, thresholds, side="left")
    fp = num_negatives - np.searchsorted(negatives, thresholds, side="left")
    fn, tn = num_positives - tp, num_negatives - fp
    fpr, tpr = (np.concatenate([[1.0], x, [0.0]]) for x in (fp / num_negatives, tp / num_positives))
    tnr, fnr = (np.concatenate([[0.0], x, [1.0]]) for x in (tn / num_negatives, fn / num_positives))
    accuracy = (tn + tp) / (num_positives + num_negatives)
    return (fp, tp, fn, tn), (fpr, tpr, fnr, tnr, accuracy)


def _sampled_measure(name: str) -> Measure:
    """Oodeel's reading of its sampled curve: trapezoids, and the first point past a bound."""
    if name == "auroc":
        return Measure(lambda sides: -trapezoid_area(1.0 - sides.sampled[0], sides.sampled[1]), True)
    point = parse_point(name)
    if point is None:  # detect_acc
        return Measure(lambda sides: float(np.max(sides.sampled[4])), True)
    rate, bounded, bound = point

    def measure(sides: Sides) -> float:
        if bound == 1:  # no sampled rate is beyond it
            raise ValueError(
                f"metrics: expected a bound below 100 with a step, as oodeel's names have it, got {name!r}"
            )
        curves = dict(zip(RATES, sides.sampled))
        limits = curves[bounded]
        past = limits < float(bound) if bounded in ("fpr", "tpr") else limits > float(bound)
        return float(curves[rate][np.argmax(past)])

    return Measure(measure, rate in ("tpr", "tnr"))
