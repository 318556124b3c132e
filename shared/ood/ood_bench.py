"""Outcomes of samples of an out-of-distribution benchmark, at one threshold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..arrays.arrays import Array, array_namespace, on_one_device, to_numpy
from ..arrays.checks import as_bool, as_int, as_integers, as_real, as_scores, check_lengths
from ..metric.metric import Metric
from ..metric.results import Results
from ..ranking.counts import Side
from ..ranking.operating_points import check_thresholds_exist
from ..ranking.prepared import PreparedSides
from ..ranking.quantities import check_bits
from ..ranking.roc import check_samples, sample_table
from .bench import (
    DEFAULT_METRICS,
    bench_metrics,
    bench_rates,
    check_metrics,
    function_results,
    has_threshold,
    names_and_functions,
    need_threshold,
)
from .sides import (
    Label,
    LabelValues,
    OODState,
    as_ood_state,
    check_label_values,
    check_labels,
    is_ood,
    ood_sides,
    ood_state,
)

POINT = "fpr95tpr"  # where decisions are taken without a threshold and without an operating point


def ood_samples(
    state: OODState, values: LabelValues, sides: tuple[Side, Side], metrics: Iterable[Any], threshold: float | None
) -> dict[str, Any]:
    """The outcome of each sample, which is called unknown iff score > threshold: see `sample_table`.

    Parameters: state of `reduce_ood`; values of its labels; sides of the state; metrics, names and functions;
    threshold, by default of the first operating point or detect_acc among the metrics, or else of fpr95tpr.
    Returns {"per_sample": …}, without the samples that are left out, after "<name>_threshold" of such a point.
    Raises ValueError unless the rows of the state are single samples, and for a point that only scores of −inf reach.
    """
    check_samples(state)
    named: dict[str, float] = {}
    if threshold is None:
        name = next((str(metric) for metric in metrics if has_threshold(metric)), POINT)
        positives, negatives = sides
        rates = bench_metrics(positives=positives, negatives=negatives, metrics=name, thresholds=True)
        threshold = rates[f"{name}_threshold"]
        named = {f"{name}_threshold": threshold}
    is_out, kept = is_ood(state["labels"], values)
    scores = to_numpy(state["scores"]).astype(np.float64)  # a float32 score must not round the threshold to its own
    unknown = to_numpy(is_out)
    places = np.arange(len(unknown)) if kept is None else np.flatnonzero(to_numpy(kept))
    scores, unknown = scores[places], unknown[places]
    return {
        **named,
        "per_sample": sample_table(scores, unknown, scores > as_real(threshold, "threshold"), None, places),
    }


# ood_bench: every metric of an out-of-distribution detector, by name, from one sort of its scores.


Name = str | Callable[..., Any]  # of a metric


@dataclass(kw_only=True, eq=False, repr=False)
class OODBench(Metric):
    """Metrics of an out-of-distribution detector by name: see `bench_metrics`.

    Columns: see `reduce_ood`. Options, in addition to the common ones (see `Metric`):

    metrics: a name or a list of names and functions, as of `bench_metrics`
    in_value, out_value: labels of in-distribution and of OOD samples; "rest" for one of them is every other label.
        Fixed at load, since they are the labels of scores that come as a tuple
    ignore_value: the label of samples that are left out. Fixed at load
    significant_bits: how many bits of each score are kept, in [4, 52]; None keeps all. Fixed at load
    threshold: for rates and label-based metrics, which compare score > threshold
    thresholds: whether to add the threshold of detect_acc and of operating points
    step: take auroc, detect_acc and operating points from every `step`-th score, as oodeel does (approximate)
    per_sample: whether to add the table of `ood_samples`

    Raises ValueError for any other label; for per_sample if samples were counted or their scores cut, or with a step
    but no threshold; and the errors of `bench_metrics`.

    >>> OODBench().compute(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
    {'auroc': 0.75, 'fpr95tpr': 0.5}
    """

    name = "ood_bench"
    fixed_options = frozenset({"in_value", "out_value", "ignore_value", "significant_bits"})
    countable_tables = {"counts": ("scores", "labels")}
    truth = ("labels",)
    aliases = {"scores": "predictions", "labels": "references"}
    unknownness = frozenset({"predictions"})

    metrics: Name | Sequence[Name] = DEFAULT_METRICS
    in_value: int | Literal["rest"] = 0
    out_value: int | Literal["rest"] = 1
    ignore_value: int | None = None
    significant_bits: int | None = None
    threshold: float | None = None
    thresholds: bool = False
    step: int | None = None
    per_sample: bool = False

    def __post_init__(self) -> None:
        """Check each option; metrics that need a threshold may get it at compute."""
        super().__post_init__()
        check_metrics(self.metrics)
        self.significant_bits = check_bits(self.significant_bits)
        self.threshold = None if self.threshold is None else as_real(self.threshold, "threshold")
        self.thresholds = as_bool(self.thresholds, "thresholds")
        self.step = None if self.step is None else as_int(self.step, "step", 1)
        self.per_sample = as_bool(self.per_sample, "per_sample")

    @property
    def labels(self) -> LabelValues:
        """The labels of the two sides, and of samples that are left out."""
        return check_label_values(self.in_value, self.out_value, self.ignore_value)

    @property
    def idle_options(self) -> list[str]:
        """The idle options of every metric, and the threshold, if no metric uses it."""
        idle = self.threshold is not None and not (self.per_sample or need_threshold(self.metrics))
        return [*super().idle_options, *(["threshold"] if idle else [])]

    def only(self, keys: Collection[str]) -> OODBench:
        """The metric with these results alone."""
        metrics = sorted(metric for metric in names_and_functions(self.metrics) if metric in keys)
        return OODBench(**{**self.loaded_options, "metrics": metrics}) if metrics else self

    def reduce(self, predictions: Any, references: Any = None) -> OODState:
        """Reduce a batch to scores and narrow labels."""
        return ood_state(
            predictions,
            references,
            in_value=self.in_value,
            out_value=self.out_value,
            ignore_value=self.ignore_value,
            significant_bits=self.significant_bits,
        )

    def as_state(self, state: Mapping[str, Any]) -> OODState:
        """Check a state from elsewhere."""
        return as_ood_state(
            state,
            in_value=self.in_value,
            out_value=self.out_value,
            ignore_value=self.ignore_value,
            significant_bits=self.significant_bits,
        )

    def prepare(self, state: OODState) -> PreparedSides:
        """Sort the OOD and the in-distribution samples."""
        if self.per_sample and self.step is not None and self.threshold is None:
            raise ValueError(
                "per_sample: expected a threshold with a step, since sampled points are not reached; got none"
            )
        arrays: Any = state
        return PreparedSides(self, arrays, ood_sides(state, self.labels), stratum_of=(0, 1))

    def rates(self, out: Side, inside: Side) -> Results:
        """Results of OOD and in-distribution samples."""
        return bench_rates(
            out,
            inside,
            self.metrics,
            threshold=self.threshold,
            thresholds=self.thresholds,
            step=self.step,
            bits=out.bits,
        )

    def side_of(self, state: OODState) -> Array:
        """0 for each OOD entry of a state, 1 for an in-distribution one, −1 for one that is left out."""
        is_out, kept = is_ood(state["labels"], self.labels)
        xp = array_namespace(is_out)
        sides = xp.astype(~is_out, xp.int64)
        return sides if kept is None else xp.where(kept, sides, -1)

    def tables(self, prepared: PreparedSides, results: Results) -> dict[str, Any]:
        """The results of functions; with `per_sample`, the table of samples and the threshold of its decisions."""
        check_thresholds_exist(results)
        out, inside = prepared.sides
        tables = function_results(out, inside, self.metrics, threshold=self.threshold, bits=out.bits)
        if not self.per_sample:
            return tables
        state: Any = prepared.state
        names = names_and_functions(self.metrics)
        return {**tables, **ood_samples(state, self.labels, (out, inside), names, self.threshold)}


def reduce_ood(
    predictions: Any,
    references: Any = None,
    *,
    in_value: Label = OODBench.in_value,
    out_value: Label = OODBench.out_value,
    ignore_value: int | None = OODBench.ignore_value,
    significant_bits: int | None = OODBench.significant_bits,
) -> OODState:
    """Check a batch of scores with labels, or a pair of scores without them.

    Parameters: predictions (N,), higher is more OOD, or the tuple (in-distribution scores (N_in,), OOD scores
    (N_out,)); references (N,) labels; in_value and out_value, the labels of the two sides, different integers, or
    "rest" for one of them: every other label; ignore_value, the label of samples that are left out; significant_bits in
    [4, 52], how many bits of each score are kept (see `cut`), for memory that does not grow with the samples; None
    keeps the scores as they are.
    Returns an `OODState`, which still holds the ignored samples.
    Raises TypeError without references, unless predictions are such a tuple; ValueError for NaN, lengths and shapes
    that do not fit, and any other label.
    """
    return ood_state(
        predictions,
        references,
        in_value=in_value,
        out_value=out_value,
        ignore_value=ignore_value,
        significant_bits=significant_bits,
    )


def split_ood(
    scores: Any,
    labels: Any,
    *,
    in_value: Label = OODBench.in_value,
    out_value: Label = OODBench.out_value,
    ignore_value: int | None = OODBench.ignore_value,
) -> tuple[Array, Array]:
    """Split scores into OOD and in-distribution ones, each in ascending order.

    Parameters: scores (N,), higher is more OOD, and labels (N,); the labels of each kind, as of `OODBench`.
    Returns two arrays, (N_out,) and (N_in,). Raises ValueError for NaN, lengths that differ, and any other label.
    """
    values = check_label_values(in_value, out_value, ignore_value)
    columns = {"scores": as_scores(scores, "scores"), "labels": as_integers(labels, "labels")}
    check_lengths(**columns)
    scores, labels = on_one_device(*columns.values())
    check_labels(labels, values, "labels")
    out, inside = (side.repeated() for side in ood_sides({"scores": scores, "labels": labels}, values))
    return out, inside
