"""ood_bench: every metric of an out-of-distribution detector, by name, from one sort of its scores.

A state holds scores with their labels; its two sides are sorted once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ..arrays.arrays import (
    Array,
    array_namespace,
    as_array,
    concatenate,
    device_of,
    equal,
    extremes,
    is_floating,
    on_one_device,
    to_numpy,
)
from ..arrays.checks import (
    REST,
    as_bool,
    as_choice,
    as_int,
    as_integers,
    as_positive,
    as_real,
    as_scores,
    check_arrays,
    check_lengths,
    check_orientation,
    check_rows,
    count_column,
    integer_column,
    score_column,
)
from ..metric.groups import column_items
from ..metric.metric import Metric
from ..metric.prepared import PreparedTable
from ..metric.results import Rate, Results, check_thresholds_exist
from ..metric.signature import function_text
from ..ranking.counts import Side, check_both_classes, exceeded_threshold, sides_of_kinds
from ..ranking.curves import BestValue
from ..ranking.quantities import bounded, check_bits, checked_bits, cut, quantities, with_errors
from ..ranking.roc import check_samples, sample_table
from ..ranking.strata import PreparedSides
from .measures import (
    DEFAULT_METRICS,
    POSITIVES,
    Measures,
    Reading,
    Sides,
    called,
    decides,
    metric_list,
    parsed,
)
from .qualities import (
    ANSWERS,
    QUALITIES,
    QualityState,
    are_right,
    as_quality_state,
    check_graded,
    prepared_answers,
    quality_state,
)

if TYPE_CHECKING:
    from typing_extensions import NotRequired


_INT64 = (-(2**63), 2**63 - 1)
Label = int | str  # of a side: a label, or REST


class OODState(TypedDict):
    """Scores with their labels."""

    scores: Array  # (N,) higher is more OOD
    labels: Array  # (N,) in_value, out_value or ignore_value
    counts: NotRequired[Array]  # (N,) how many samples each entry stands for; absent, one each
    significant_bits: NotRequired[np.ndarray]  # how many of a score's were kept; absent where all were


class StateOptions(NamedTuple):
    """The options that shape a state, checked."""

    inside: Label  # with out: labels of in-distribution and of OOD samples; one of them may be "rest"
    out: Label
    ignored: int | None  # the label of ignored samples
    bits: int | None  # the number of significant bits kept of each score; None keeps all
    words: Mapping[str, int] | None = None  # of strings as labels, the integers that stand for them in a state


def state_options(in_value: Any, out_value: Any, ignore_value: Any, significant_bits: int | None) -> StateOptions:
    """Check the labels, which are different integers or strings; the number of bits is checked already."""
    labels = {"in_value": in_value, "out_value": out_value, "ignore_value": ignore_value}
    words = {name: value for name, value in labels.items() if isinstance(value, str) and value != REST}
    if words:
        for name, value in labels.items():
            if value not in (REST, None, *words.values()):
                kind = f"a string, as {next(iter(words))} is one, or {REST!r}, every label except the other"
                raise TypeError(f"{name}: expected {kind}, got {value!r}")
        if len({*words.values()}) < len(words):
            raise ValueError(f"{', '.join(words)}: expected different labels, got {', '.join(words.values())}")
        codes = {"in_value": 0, "out_value": 1, "ignore_value": 2}
        inside, out = (codes[name] if name in words else REST for name in ("in_value", "out_value"))
        ignored = codes["ignore_value"] if "ignore_value" in words else None
        by_word = {value: codes[name] for name, value in words.items()}
        if inside != out:
            return StateOptions(inside, out, ignored, significant_bits, by_word)
    inside, out = _as_label(in_value, "in_value"), _as_label(out_value, "out_value")
    if inside == out:
        raise ValueError(f"in_value, out_value: expected two different labels, got {inside} for both")
    if ignore_value is not None:
        ignore_value = as_int(ignore_value, "ignore_value", *_INT64)
        if ignore_value in (inside, out):
            raise ValueError(f"ignore_value: expected neither in_value nor out_value, got {ignore_value}")
    return StateOptions(inside, out, ignore_value, significant_bits)


def _as_label(value: Any, name: str) -> Label:
    if isinstance(value, str):
        if value != REST:
            raise ValueError(f"{name}: expected an int or {REST!r}, got {value!r}")
        return REST
    return as_int(value, name, *_INT64)


def as_ood_state(state: Mapping[str, Any], options: StateOptions) -> OODState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `ood_state` cannot return."""
    check_arrays(state, [*OODState.__annotations__], ["counts", "significant_bits"])
    labels = _narrow(integer_column(state, "labels", *_INT64))
    checked: Any = {"scores": score_column(state, "scores"), "labels": labels}
    if "counts" in state:
        checked["counts"] = count_column(state)
    check_rows(checked)
    _check_labels(labels, options)
    return {**checked, **checked_bits(state, options.bits)}  # type: ignore[typeddict-item]


def ood_state(predictions: Any, references: Any, options: StateOptions) -> OODState:
    """The state of a batch: see `OODBench.reduce`."""
    if references is None:
        scores, labels = _of_pair(predictions, options)
    else:
        references = references if options.words is None else _codes_of_words(references, options)
        predictions, references = as_array(predictions, "predictions"), as_array(references, "references")
        check_orientation(predictions, references)
        if is_floating(references) and not is_floating(predictions) and bool((references != references.round()).any()):
            raise ValueError(
                "predictions and references are swapped: references hold fractions and predictions integers"
            )
        scores, labels = as_scores(predictions, "predictions", narrow=True), as_integers(references, "references")
        check_lengths(predictions=scores, references=labels)
        scores, labels = on_one_device(scores, _narrow(labels))
        _check_labels(labels, options)
    if options.bits is None:
        return {"scores": scores, "labels": labels}
    return {"scores": cut(scores, options.bits), "labels": labels, "significant_bits": np.asarray(options.bits)}


def _of_pair(predictions: Any, options: StateOptions) -> tuple[Array, Array]:
    """Scores and labels of a tuple of in-distribution and OOD scores."""
    if not isinstance(predictions, tuple) or len(predictions) != 2:
        raise TypeError(
            "references: expected a label for each score, or predictions as a tuple "
            "(in-distribution scores, OOD scores); got neither"
        )
    sides = [as_scores(side, f"predictions[{i}]", narrow=True) for i, side in enumerate(predictions)]
    scores, sides = concatenate(sides), on_one_device(*sides)
    xp = array_namespace(*sides)
    labels = [
        xp.full(len(side), value, dtype=xp.int64, device=device_of(side))
        for side, value in zip(sides, _labels_of_sides(options))
    ]
    return scores, _narrow(xp.concat(labels))


def _labels_of_sides(options: StateOptions) -> list[int]:
    """A label of in-distribution and one of OOD samples; of the side that has the rest, one that is no other's."""
    other = next(label for label in range(3) if label not in options)
    return [int(other if value == REST else value) for value in (options.inside, options.out)]


def _of_right(right: Array, state: QualityState, options: StateOptions) -> OODState:
    """The state of answers that are right, as in-distribution samples, or wrong."""
    inside, out = _labels_of_sides(options)
    of_right: Any = {name: array for name, array in state.items() if name != QUALITIES}
    of_right["labels"] = _narrow(array_namespace(right).where(right, inside, out))
    labelled: OODState = of_right
    return labelled


def _codes_of_words(references: Any, options: StateOptions) -> np.ndarray:
    """The integers that stand for strings as labels. Raises ValueError for a string that is none of the options'."""
    items, codes = column_items(references, "references"), options.words or {}
    rest = 3 if REST in (options.inside, options.out) else None
    for item in dict.fromkeys(items):
        if not isinstance(item, str) or (item not in codes and rest is None):
            raise ValueError(f"references: expected {' or '.join(map(repr, codes))}, got {item!r:.80}")
    return np.fromiter((codes.get(item, rest) for item in items), np.int64, len(items))


def _narrow(labels: Array) -> Array:
    """Labels as int8 or int16 where they fit, else as int64."""
    xp = array_namespace(labels)
    if labels.dtype == xp.int8:
        return labels
    low, high = extremes(labels) if labels.shape[0] else (0, 0)
    for dtype, reach in ((xp.int8, 1 << 7), (xp.int16, 1 << 15)):
        if -reach <= low <= high < reach:
            return xp.astype(labels, dtype, copy=False)
    return xp.astype(labels, xp.int64, copy=False)


def ood_sides(state: OODState, options: StateOptions) -> tuple[Side, Side]:
    """OOD and in-distribution scores of a state, whose entries may stand for several samples."""
    is_in, is_used = is_inside(state["labels"], options)
    scores, counts = state["scores"], state.get("counts")
    if is_used is not None:
        is_in, scores, counts = is_in[is_used], scores[is_used], None if counts is None else counts[is_used]
    bits = None if "significant_bits" not in state else int(state["significant_bits"])
    out, inside = sides_of_kinds(scores, is_in, 2, counts, bits=bits)
    return out, inside


def is_inside(labels: Array, options: StateOptions) -> tuple[Array, Array | None]:
    """Which of checked samples are in-distribution, and which are not to be left out; None for all of them."""
    is_used = None if options.ignored is None else ~equal(labels, options.ignored)
    is_in = ~equal(labels, options.out) if options.inside == REST else equal(labels, options.inside)
    return is_in, is_used


def _check_labels(labels: Array, options: StateOptions) -> None:
    """Raise ValueError for a label that is none of the options'."""
    if REST in (options.inside, options.out):
        return
    values = {options.inside, options.out, options.ignored}
    low, high = extremes(labels) if labels.shape[0] else (0, 1)
    if {low, high} <= values and high <= low + 1:
        return  # nothing is between them
    allowed = equal(labels, options.inside) | equal(labels, options.out)
    if options.ignored is not None:
        allowed |= equal(labels, options.ignored)
    if not bool(allowed.all()):
        names = {"in_value": options.inside, "out_value": options.out, "ignore_value": options.ignored}
        expected = " or ".join(f"{value} ({name})" for name, value in names.items() if value is not None)
        raise ValueError(f"references: expected {expected}, got {int(labels[~allowed][0])}")


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
    eer, eer_hull the equal error rate, where FPR = FNR on the ROC curve, and on its convex hull
    mindcf@p1     the least cost c_miss·π·FNR + c_fa·(1 − π)·FPR over all thresholds, with a prior π of 1 % of the
                  positives, divided by the lesser of c_miss·π and c_fa·(1 − π); likewise any π in (0, 100) %
    dcf@p1        the same quotient at the threshold
    detection_error, best_balanced_accuracy
                  the least ½(FNR + FPR) over all thresholds, and 1 − that
    aupr_out@share50
                  aupr_out if half of the samples were OOD, with precision π·TPR/(π·TPR + (1 − π)·FPR); likewise any
                  share in [0.00001, 100) %
    precision@n   the share of OOD samples among the n that score highest, where n samples are OOD; ties at the border
                  in random order
    precision@top5, recall@top5
                  that share among the ⌈0.05·N⌉ that score highest, and the share of the OOD samples that is there
    aurc, augrc   of wrong answers as OOD samples, the areas under their risk over coverage, as of `risk_coverage`
    auarc, e_aurc 1 − aurc, and how much aurc exceeds that of the perfect order
    prr           (r − aurc)/(r − aurc*), with the share of wrong answers r and the aurc* of the perfect order, for
                  which it is 1; by chance it is 0
    coverage@risk5, risk@cov80
                  of wrong answers as OOD samples, as of `risk_coverage`
    reliability@c1
                  (right accepted − c·wrong accepted)/N of the best threshold or, where there is one, at the threshold;
                  answers with score ≤ threshold are accepted
    answered, accuracy_given_answered, f_answered
                  the share of answers accepted at the threshold, the share of these that is right (NaN of none), and
                  2·right/(N + accepted)
    tpr, …        that rate if a sample is called OOD iff its score > threshold
    f1_score, …   a scalar binary metric of sklearn.metrics, by name or as the function: a score-based one gets the
                  scores, a label-based one gets scores > threshold
    a function    any other function of sklearn.metrics, or a partial of one, such as confusion_matrix: it is called
                  with the labels, 1 for OOD, and scores > threshold, or the scores if its name begins with roc or ends
                  in _curve; its return value is the result

    Columns: see `reduce`. Options, in addition to the common ones (see `Metric`):

    metrics: a name or a list of names and functions
    in_value, out_value: labels of in-distribution and of OOD samples, different integers or strings; "rest" for one of
        them is every other label. Fixed at load, since they are the labels of scores that come as a tuple
    ignore_value: the label of samples that are left out. Fixed at load
    significant_bits: how many bits of each score are kept, in [4, 52] (see `cut`), for memory that does not grow with
        the samples; None keeps all. Results get `<name>_error` with |value − value of the original scores| ≤ error, and
        those without such a bound are left out: thresholds, rates at a threshold, sampled curves, and metrics of
        scikit-learn. Fixed at load
    positive: "out" or "in": whether OOD or in-distribution samples are the positives of rates, points, partial areas
        and costs
    threshold: for rates, costs, answers and label-based metrics, which compare score > threshold
    cost_miss, cost_false_alarm: c_miss, of a positive that is not detected, and c_fa, of a negative that is
    thresholds: whether to add `<name>_threshold` for detect_acc, operating points, least costs and reliability: the t
        such that score > t gives that value on these data, −inf or inf if every sample or none is OOD; for eer, the t
        at which |FPR − FNR| is least, and of two, the one that fewer samples exceed
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
    countable_tables = {"counts": ("scores", "labels", QUALITIES)}  # the latter in place of labels
    truth = ("labels", QUALITIES)
    classes_needed = (*Metric.classes_needed, ANSWERS)
    aliases = {"scores": "predictions", "labels": "references"}
    selecting = Metric.selecting | {"metrics", "thresholds"}

    metrics: Name | Sequence[Name] = DEFAULT_METRICS
    in_value: int | str = 0
    out_value: int | str = 1
    ignore_value: int | str | None = None
    significant_bits: int | None = None
    positive: str = POSITIVES[0]
    threshold: float | None = None
    cost_miss: float = 1.0
    cost_false_alarm: float = 1.0
    thresholds: bool = False
    step: int | None = None
    per_sample: bool = False

    def __post_init__(self) -> None:
        """Check each option; metrics that need a threshold may get it at compute."""
        super().__post_init__()
        self.metric_list = metric_list(self.metrics)
        self.step = None if self.step is None else as_int(self.step, "step", 1)
        self.positive = as_choice(self.positive, "positive", POSITIVES)
        self.significant_bits = check_bits(self.significant_bits)
        self.threshold = None if self.threshold is None else as_real(self.threshold, "threshold")
        self.cost_miss = as_positive(self.cost_miss, "cost_miss")
        self.cost_false_alarm = as_positive(self.cost_false_alarm, "cost_false_alarm")
        _ = self.parsed  # which checks the names
        self.thresholds = as_bool(self.thresholds, "thresholds")
        self.per_sample = as_bool(self.per_sample, "per_sample")

    @cached_property
    def state_options(self) -> StateOptions:
        """The labels, which are checked together, and the number of bits."""
        return state_options(self.in_value, self.out_value, self.ignore_value, self.significant_bits)

    @property
    def parsed(self) -> Measures:
        """The metrics, which are parsed once: they hold functions, which cannot be pickled."""
        reading = Reading(
            self.step is not None, self.positive, self.threshold is not None, self.cost_miss, self.cost_false_alarm
        )
        return parsed(self.metric_list, reading)

    @property
    def idle_options(self) -> list[str]:
        """The idle options of every metric, and the threshold, if no metric uses it."""
        idle = self.threshold is not None and not (self.per_sample or self.parsed.need_threshold())
        return [*super().idle_options, *(["threshold"] if idle else [])]

    def moving(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """As of `Metric`: two labels say how a file spells them, and functions may have more than their names."""
        moving = super().moving(options)
        if REST not in (options["in_value"], options["out_value"]):
            del moving["in_value"], moving["out_value"]
        functions = [each for each in metric_list(options["metrics"]) if callable(each)]
        named = [each for each in functions if function_text(each) != getattr(each, "__name__", None)]
        return {**moving, **({"metrics": named} if named else {})}

    def only(self, keys: Collection[str]) -> Metric:
        """The metric with these results alone."""
        metrics = sorted(metric for metric in self.metric_list if metric in keys)
        return self.with_options({"metrics": metrics}) if metrics else self

    def reduce(self, predictions: Any, references: Any = None, qualities: Any = None) -> OODState | QualityState:
        """Check a batch of scores with labels, a pair of scores without them, or scores with qualities of answers.

        Parameters: predictions (N,), higher is more OOD, or the tuple (in-distribution scores (N_in,), OOD scores
        (N_out,)); references (N,) labels; in their place, for aurc, auarc, e_aurc and prr, qualities (N,) of answers,
        in [0, 1], where 1 is right and 0 is wrong.
        Returns an `OODState`, which still holds the ignored samples, or a `QualityState`.
        Raises TypeError without references, unless predictions are such a tuple or there are qualities, and with both;
        ValueError for NaN, lengths and shapes that do not fit, any other label, and qualities outside [0, 1].
        """
        if qualities is not None:
            return quality_state(predictions, references, qualities, self.significant_bits)
        return ood_state(predictions, references, self.state_options)

    def as_state(self, state: Mapping[str, Any]) -> OODState | QualityState:
        """Check a state from elsewhere."""
        if QUALITIES in state:
            return as_quality_state(state, self.significant_bits)
        return as_ood_state(state, self.state_options)

    def prepare(self, state: Any) -> Any:
        """Sort the OOD and the in-distribution samples, for `PreparedSides`, or table answers with qualities."""
        if QUALITIES in state:
            check_graded([*self.parsed.measures, *self.parsed.functions], per_sample=self.per_sample)
            right = are_right(state)
            if right is None:
                return prepared_answers(state, [*self.parsed.measures])
            state = _of_right(right, state, self.state_options)
        if self.thresholds and self.step is not None:
            raise ValueError("thresholds: expected False with a step, since sampled points are not reached; got True")
        if self.per_sample and self.step is not None and self.threshold is None:
            raise ValueError(
                "per_sample: expected a threshold with a step, since sampled points are not reached; got none"
            )
        return PreparedSides(self, state, ood_sides(state, self.state_options), stratum_of=(0, 1))

    def rates(self, out: Side, inside: Side) -> Results:
        """Results of OOD and in-distribution samples; a threshold that does not exist is NaN."""
        sides, bits = Sides(out, inside, self.threshold, self.step), out.bits
        measures, of_out, of_inside, _ = self.parsed
        check_both_classes(out.total, inside.total)
        if bits is not None:
            of_out, of_inside = bounded(of_out, bits), bounded(of_inside, bits)
        if of_out or of_inside:
            sides.values = quantities(out, inside, of_out, of_inside)
        if bits is not None:
            with_ends = {name: sides.values[name] for name in measures if name in sides.values}
            ends = {name: tuple(float(getattr(end, "value", end)) for end in each) for name, each in with_ends.items()}
            if not ends:
                raise ValueError(
                    "metrics: expected at least one that has an error bound, since scores were cut to "
                    f"significant_bits={bits}; got {', '.join(measures)}"
                )
            rates = {name: Rate(each[0], measures[name].higher, measures[name].share) for name, each in ends.items()}
            return with_errors(rates, ends)
        rates = {}
        for name, measure in measures.items():
            value, threshold = measure.of(sides), None
            if self.thresholds and measure.has_threshold:
                threshold = exceeded_threshold(measure.score_of(value, sides), (out, inside))
            value = float(value.value if isinstance(value, BestValue) else value)
            rates[name] = Rate(value, measure.higher, measure.share, threshold=threshold)
        return rates

    def side_of(self, state: OODState) -> Array:
        """0 for each OOD entry of a state, 1 for an in-distribution one, −1 for one that is left out."""
        is_in, is_used = is_inside(state["labels"], self.state_options)
        xp = array_namespace(is_in)
        sides = xp.astype(is_in, xp.int64)
        return sides if is_used is None else xp.where(is_used, sides, -1)

    def tables(self, prepared: Any, results: Results) -> dict[str, Any]:
        """The results of functions, but of cut scores; with `per_sample`, the table of samples."""
        if isinstance(prepared, PreparedTable):  # of qualities
            return {}
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
        state = prepared.state
        check_samples(state)
        threshold, named = self.threshold, {}
        if threshold is None:
            name = next((metric for metric in self.metric_list if decides(metric)), POINT)
            results = OODBench(metrics=name, thresholds=True, positive=self.positive).rates(*prepared.sides)
            check_thresholds_exist(results)
            threshold = results[name].threshold
            named = {f"{name}_threshold": threshold}
        is_in, is_used = is_inside(state["labels"], self.state_options)
        scores = to_numpy(state["scores"]).astype(np.float64)  # a float32 score must not round the threshold to its own
        unknown = ~to_numpy(is_in)
        places = np.arange(len(unknown)) if is_used is None else np.flatnonzero(to_numpy(is_used))
        scores, unknown = scores[places], unknown[places]
        return {**named, "per_sample": sample_table(scores, unknown, scores > threshold, None, places)}
