"""ood_bench: every metric of an out-of-distribution detector, by name, from one sort of its scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..arrays.arrays import Array, array_namespace, to_numpy
from ..arrays.checks import as_bool, as_choice, as_int, as_real
from ..metric.metric import Metric
from ..metric.results import Rate, Results, check_thresholds_exist
from ..ranking.counts import Side, check_both_classes, exceeded_threshold
from ..ranking.curves import BestValue
from ..ranking.prepared import PreparedSides
from ..ranking.quantities import bounded, check_bits, quantities, with_errors
from ..ranking.roc import check_samples, sample_table
from .measures import DEFAULT_METRICS, POSITIVES, Measures, Sides, called, has_threshold, metric_list, parsed
from .sides import OODState, StateOptions, as_ood_state, is_ood, ood_sides, ood_state, state_options

POINT = "fpr95tpr"  # where decisions are taken without a threshold and without an operating point
Name = str | Callable[..., Any]  # of a metric


@dataclass(kw_only=True, eq=False, repr=False)
class OODBench(Metric):
    """Metrics of an out-of-distribution detector by name, from one sort of the scores.

    auroc         area under the ROC curve, ties counting half
    aupr_out      average precision with OOD as the positive class
    aupr_in       average precision with in-distribution as the positive class, of the negated scores
    aupr_out_trapezoid, aupr_in_trapezoid
                  area under these precision-recall curves by trapezoids, as in OpenOOD and pytorch-ood
    detect_acc    highest accuracy over all thresholds
    fpr95tpr      the best FPR at TPR ≥ 0.95; likewise any of fpr, tpr, fnr, tnr on both sides of a number in (0, 100],
                  decimals included, such as tpr0.1fpr
    pauroc@fpr10  the area under the ROC curve up to FPR 0.1, divided by 0.1; pauroc@tpr80, the area above TPR 0.8,
                  divided by 0.2; likewise of any rate and number; with _mcclish, ½(1 + (A − L²/2)/(L − L²/2)) of the
                  area A up to the limit L, which is ½ by chance
    eer           the equal error rate, where FPR = FNR on the ROC curve
    aurc, augrc   of wrong answers as OOD samples, the areas under their risk over coverage, as of `risk_coverage`
    auarc, e_aurc 1 − aurc, and how much aurc exceeds that of the perfect order
    prr           (r − aurc)/(r − aurc*), with the share of wrong answers r and the aurc* of the perfect order, for
                  which it is 1; by chance it is 0
    tpr, …        that rate if a sample is called OOD iff its score > threshold
    f1_score, …   a scalar binary metric of sklearn.metrics, by name or as the function: a score-based one gets the
                  scores, a label-based one gets scores > threshold
    a function    any other function of sklearn.metrics, or a partial of one, such as confusion_matrix: it is called
                  with the labels, 1 for OOD, and scores > threshold, or the scores if its name begins with roc or ends
                  in _curve; its return value is the result

    Columns: see `reduce`. Options, in addition to the common ones (see `Metric`):

    metrics: a name or a list of names and functions
    in_value, out_value: labels of in-distribution and of OOD samples, different integers; "rest" for one of them is
        every other label. Fixed at load, since they are the labels of scores that come as a tuple
    ignore_value: the label of samples that are left out. Fixed at load
    significant_bits: how many bits of each score are kept, in [4, 52] (see `cut`), for memory that does not grow with
        the samples; None keeps all. Results get `<name>_error` with |value − value of the original scores| ≤ error, and
        those without such a bound are left out: thresholds, rates at a threshold, sampled curves, and metrics of
        scikit-learn. Fixed at load
    positive: "out" or "in": whether OOD or in-distribution samples are the positives of rates, points and partial areas
    threshold: for rates and label-based metrics, which compare score > threshold
    thresholds: whether to add `<name>_threshold` for detect_acc and operating points: the t such that score > t gives
        that value on these data, −inf or inf if every sample or none is OOD
    step: take auroc, detect_acc and operating points, of bounds below 100, from every `step`-th score, as oodeel does
        (approximate)
    per_sample: whether to add the table of samples, see `sample_table`: one is called unknown iff score > threshold, by
        default that of the first operating point or detect_acc among the metrics, or else of fpr95tpr, which is added

    Raises ValueError for an unknown name, any other label, a missing threshold, thresholds of sampled points or of
    points that only scores of −inf reach, no remaining name with a bound, a class without samples; and for per_sample
    if samples were counted or their scores cut, or with a step but no threshold.
    Source: oodeel's bench_metrics.

    >>> OODBench().compute(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
    {'auroc': 0.75, 'fpr95tpr': 0.5}
    >>> OODBench(metrics="fpr95tpr", thresholds=True).compute(predictions=([0.6, 0.1], [0.9, 0.4]))
    {'fpr95tpr': 0.5, 'fpr95tpr_threshold': 0.1}
    """

    name = "ood_bench"
    fixed_options = frozenset({"in_value", "out_value", "ignore_value", "significant_bits"})
    countable_tables = {"counts": ("scores", "labels")}
    truth = ("labels",)
    aliases = {"scores": "predictions", "labels": "references"}
    selecting = Metric.selecting | {"metrics", "thresholds"}

    metrics: Name | Sequence[Name] = DEFAULT_METRICS
    in_value: int | Literal["rest"] = 0
    out_value: int | Literal["rest"] = 1
    ignore_value: int | None = None
    significant_bits: int | None = None
    positive: str = POSITIVES[0]
    threshold: float | None = None
    thresholds: bool = False
    step: int | None = None
    per_sample: bool = False

    def __post_init__(self) -> None:
        """Check each option; metrics that need a threshold may get it at compute."""
        super().__post_init__()
        self.metric_list = metric_list(self.metrics)
        self.step = None if self.step is None else as_int(self.step, "step", 1)
        self.positive = as_choice(self.positive, "positive", POSITIVES)
        parsed(self.metric_list, self.step is not None, self.positive)
        self.significant_bits = check_bits(self.significant_bits)
        self.threshold = None if self.threshold is None else as_real(self.threshold, "threshold")
        self.thresholds = as_bool(self.thresholds, "thresholds")
        self.per_sample = as_bool(self.per_sample, "per_sample")

    @cached_property
    def state_options(self) -> StateOptions:
        """The labels, which are checked together, and the number of bits."""
        return state_options(self.in_value, self.out_value, self.ignore_value, self.significant_bits)

    @property
    def parsed(self) -> Measures:
        """The metrics, which are parsed once: they hold functions, which cannot be pickled."""
        return parsed(self.metric_list, self.step is not None, self.positive)

    @property
    def idle_options(self) -> list[str]:
        """The idle options of every metric, and the threshold, if no metric uses it."""
        idle = self.threshold is not None and not (self.per_sample or self.parsed.need_threshold())
        return [*super().idle_options, *(["threshold"] if idle else [])]

    def only(self, keys: Collection[str]) -> Metric:
        """The metric with these results alone."""
        metrics = sorted(metric for metric in self.metric_list if metric in keys)
        return self.with_options({"metrics": metrics}) if metrics else self

    def reduce(self, predictions: Any, references: Any = None) -> OODState:
        """Check a batch of scores with labels, or a pair of scores without them.

        Parameters: predictions (N,), higher is more OOD, or the tuple (in-distribution scores (N_in,), OOD scores
        (N_out,)); references (N,) labels.
        Returns an `OODState`, which still holds the ignored samples.
        Raises TypeError without references, unless predictions are such a tuple; ValueError for NaN, lengths and shapes
        that do not fit, and any other label.
        """
        return ood_state(predictions, references, self.state_options)

    def as_state(self, state: Mapping[str, Any]) -> OODState:
        """Check a state from elsewhere."""
        return as_ood_state(state, self.state_options)

    def prepare(self, state: OODState) -> PreparedSides:
        """Sort the OOD and the in-distribution samples."""
        if self.thresholds and self.step is not None:
            raise ValueError("thresholds: expected False with a step, since sampled points are not reached; got True")
        if self.per_sample and self.step is not None and self.threshold is None:
            raise ValueError(
                "per_sample: expected a threshold with a step, since sampled points are not reached; got none"
            )
        arrays: Any = state
        return PreparedSides(self, arrays, ood_sides(state, self.state_options), stratum_of=(0, 1))

    def rates(self, out: Side, inside: Side) -> Results:
        """Results of OOD and in-distribution samples; a threshold that does not exist is NaN."""
        sides, bits = Sides(out, inside, self.threshold, self.step), out.bits
        measures, of_out, of_inside, _ = wanted = self.parsed
        wanted.check_threshold(sides)
        check_both_classes(out.total, inside.total)
        if bits is not None:
            of_out, of_inside = bounded(of_out, bits), bounded(of_inside, bits)
        if of_out:
            sides.values = quantities(out, inside, of_out)
        if of_inside:
            sides.values |= quantities(inside.flipped(), out.flipped(), of_inside)
        if bits is not None:
            ends = {name: tuple(map(_plain, sides.values[name])) for name in measures if name in sides.values}
            if not ends:
                raise ValueError(
                    "metrics: expected at least one that has an error bound, since scores were cut to "
                    f"significant_bits={bits}; got {', '.join(measures)}"
                )
            rates = {name: Rate(each[0], measures[name].higher, measures[name].share) for name, each in ends.items()}
            return with_errors(rates, ends)
        rates = {}
        for name, measure in measures.items():
            value = measure.of(sides)
            threshold = None
            if self.thresholds and isinstance(value, BestValue):
                threshold = exceeded_threshold(value.score, (out, inside))
            rates[name] = Rate(_plain(value), measure.higher, measure.share, threshold=threshold)
        return rates

    def side_of(self, state: OODState) -> Array:
        """0 for each OOD entry of a state, 1 for an in-distribution one, −1 for one that is left out."""
        is_out, kept = is_ood(state["labels"], self.state_options)
        xp = array_namespace(is_out)
        sides = xp.astype(~is_out, xp.int64)
        return sides if kept is None else xp.where(kept, sides, -1)

    def tables(self, prepared: PreparedSides, results: Results) -> dict[str, Any]:
        """The results of functions, but of cut scores; with `per_sample`, the table of samples."""
        check_thresholds_exist(results)
        out, inside = prepared.sides
        tables: dict[str, Any] = {}
        functions = self.parsed.functions
        if functions and out.bits is None:
            sides = Sides(out, inside, self.threshold, self.step)
            tables = {name: called(function, name, sides) for name, function in functions.items()}
        return {**tables, **self._samples_table(prepared)} if self.per_sample else tables

    def _samples_table(self, prepared: PreparedSides) -> dict[str, Any]:
        """The outcome of each sample that is not left out, after the threshold of a point that decides."""
        state: Any = prepared.state
        check_samples(state)
        threshold, named = self.threshold, {}
        if threshold is None:
            name = next((metric for metric in self.metric_list if has_threshold(metric)), POINT)
            results = OODBench(metrics=name, thresholds=True, positive=self.positive).rates(*prepared.sides)
            check_thresholds_exist(results)
            threshold = results[name].threshold
            named = {f"{name}_threshold": threshold}
        is_out, kept = is_ood(state["labels"], self.state_options)
        scores = to_numpy(state["scores"]).astype(np.float64)  # a float32 score must not round the threshold to its own
        unknown = to_numpy(is_out)
        places = np.arange(len(unknown)) if kept is None else np.flatnonzero(to_numpy(kept))
        scores, unknown = scores[places], unknown[places]
        return {**named, "per_sample": sample_table(scores, unknown, scores > threshold, None, places)}


def _plain(value: Any) -> float:
    return float(value.value if isinstance(value, BestValue) else value)
