"""macro_open_f and micro_open_f: known classes recognised and unknown samples rejected, by class or by sample.

Papers on open-set recognition, domain adaptation, intent detection and segmentation also print numbers of the decision
among K + 1 classes: a sample is called its predicted class if its score ≤ t, else unknown. All follow from four counts
of each class: right, accepted and true samples, and the unknown ones that are rejected.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, on_device, to_numpy
from ..arrays.checks import as_bool, as_int, as_real
from ..arrays.exact import rounded_sum
from ..metric.metric import Metric
from ..metric.prepared import Drawn, PreparedTable
from ..metric.results import Rate, Results
from ..ranking.counts import as_side, check_both_classes
from ..ranking.operating_points import samples_above
from ..ranking.roc import check_samples, sample_table
from ..ranking.strata import rows_of_sides
from .open_f import BestF, Hos, Samples, best_f, macro_f_after, micro_f_after
from .samples import (
    OPEN_SET_ALIASES,
    OPEN_SET_TABLES,
    OpenSetState,
    as_open_set_state,
    check_applied,
    check_thresholds,
    count_classes,
    open_set_state,
)


class Decisions:
    """Decisions on the samples of a state, at any threshold.

    Raises ValueError without unknown or known samples, and for class ids that reach num_classes.
    """

    def __init__(self, state: OpenSetState, num_classes: int) -> None:
        """Sort the samples."""
        samples = Samples.of(state)
        scores, known = macro_f_after(samples, num_classes)
        there = samples.classes < 0
        unknown = as_side(samples.scores[there], None if samples.counts is None else samples.counts[there])
        xp = array_namespace(scores)
        self.number = scores.shape[0] if known.sizes is None else int(xp.sum(known.sizes))
        check_both_classes(unknown.total, self.number - unknown.total)
        self.hos = Hos(scores, known, unknown)

    def at(self, thresholds: np.ndarray) -> list[dict[str, float]]:
        """The numbers at each threshold, by name.

        accuracy(K+1)    the share of samples that are called what they are
        f1(known), f1(unknown), f1(K+1)
                         the mean of 2TP/(2TP + FP + FN) over the known classes; that of unknown; the mean over all
        os*, unk, hos    the mean recall of the known classes that have samples; that of unknown; their harmonic mean
        os               the mean recall over the classes that have samples, with unknown as one of them
        open_miou        the mean over the known classes of TP/(TP + FP + FN)
        """
        scores: Array = self.hos.scores
        xp = array_namespace(scores)
        ascending, place = np.unique(thresholds, return_inverse=True)
        wanted = on_device(ascending, scores)
        rows = to_numpy(xp.searchsorted(xp.astype(scores, xp.float64), wanted, side="right"))
        counts = zip(self.hos.known.counts_of(rows), ascending.tolist())
        numbers = [self._numbers(*of_classes, samples_above(self.hos.unknown, t)) for of_classes, t in counts]
        return [numbers[i] for i in place.tolist()]

    def _numbers(self, hits: np.ndarray, accepted: np.ndarray, rejected: int) -> dict[str, float]:
        known, unknown = self.hos.known, self.hos.unknown.total
        hit = np.flatnonzero(hits)
        right, called, true = (to_numpy(column)[hit] for column in (hits, accepted, known.totals))
        called_unknown = self.number - int(accepted.sum())
        f1, recall = _pairs(2 * right, called + true), _pairs(right, true)
        f1_unknown, recall_unknown = (2 * rejected, called_unknown + unknown), (rejected, unknown)
        return {
            "accuracy(K+1)": (int(hits.sum()) + rejected) / self.number,
            "f1(known)": rounded_sum(f1, known.num_classes),
            "f1(unknown)": 2 * rejected / (called_unknown + unknown),
            "f1(K+1)": rounded_sum([*f1, f1_unknown], known.num_classes + 1),
            "os*": rounded_sum(recall, known.occurring),
            "unk": rejected / unknown,
            "hos": float(self.hos.of_counts(hits, rejected)),
            "os": rounded_sum([*recall, recall_unknown], known.occurring + 1),
            "open_miou": rounded_sum(_pairs(right, called + true - right), known.num_classes),
        }

    def best_hos(self, t_list: np.ndarray | None) -> float:
        """The threshold of the best HOS: the lowest of all thresholds with it, or the first of a list."""
        return best_f(self.hos.scores, self.hos, t_list)[1]


def _pairs(counts: np.ndarray, totals: np.ndarray) -> list[tuple[int, int]]:
    return [*zip(counts.tolist(), totals.tolist())]


def open_set_samples(state: OpenSetState, threshold: float) -> dict[str, list[Any]]:
    """The outcome of each sample at a threshold: see `sample_table`.

    Parameters: state of a metric of open-set recognition; threshold, a sample being called unknown iff
    score > threshold.
    Raises ValueError unless the rows of the state are single samples.
    """
    check_samples(state)
    # in float64: a float32 score must not round the threshold to its own precision
    scores = to_numpy(state["scores"]).astype(np.float64)
    return sample_table(scores, state["classes"] < 0, scores > threshold, state["predicted"] == state["classes"])


def open_f_samples(state: OpenSetState, threshold: float) -> dict[str, list[Any]]:
    """As `open_set_samples`, of samples that are accepted when their score ≤ threshold, with their classes.

    Returns besides "true_class", −1 for unknown, and "predicted_class", whatever the score.
    """
    classes = {"true_class": "classes", "predicted_class": "predicted"}
    columns: Any = {name: to_numpy(state[column]).tolist() for name, column in classes.items()}  # type: ignore[literal-required]
    return {**open_set_samples(state, threshold), **columns}


@dataclass(kw_only=True, eq=False, repr=False)
class OpenF(Metric):
    """The best open-set F-score and its threshold.

    Columns: see `reduce`. Options, in addition to the common ones (see `Metric`):

    t_list: thresholds to use instead of every distinct score; the F-score at each is added as `<name>_curve`
    num_classes: the number of known classes, if it differs from the number of score columns
    per_sample: whether to add the table of `open_f_samples`, at the threshold

    Raises ValueError for an empty t_list, NaN in it, another t_list than batches were added with, class ids that reach
    num_classes, and for per_sample if samples were counted or their scores rounded.
    """

    countable_tables = OPEN_SET_TABLES
    truth = ("classes",)
    aliases = OPEN_SET_ALIASES

    t_list: float | Sequence[float] | None = None
    num_classes: int | None = None
    per_sample: bool = False

    def __post_init__(self) -> None:
        """Check each option."""
        super().__post_init__()
        self.thresholds = None if self.t_list is None else check_thresholds(self.t_list)
        if self.num_classes is not None:
            self.num_classes = as_int(self.num_classes, "num_classes", 1)
        self.per_sample = as_bool(self.per_sample, "per_sample")

    def reduce(self, predictions: Any, references: Any, open_scores: Any, open_labels: Any = None) -> OpenSetState:
        """Reduce a batch to predicted classes, true classes and open-set scores.

        Parameters: predictions (N, C) scores, of which the first highest is the predicted class, or (N,) class ids;
        references (N,) class ids, negative for unknown samples; open_scores (N,), higher is more unknown; open_labels
        (N,) 1 for unknown, 0 for known, which overrides the sign of the references.

        Returns an `OpenSetState`; its scores are rounded up to the t_list, unless there is a table of each sample's.
        Raises ValueError for NaN, lengths and shapes that do not fit, classes out of range, swapped columns.
        """
        thresholds = None if self.per_sample else self.thresholds
        columns = (predictions, references, open_scores, open_labels)
        return open_set_state(*columns, num_classes=self.num_classes, thresholds=thresholds)

    def as_state(self, state: Mapping[str, Any]) -> OpenSetState:
        """Check a state from elsewhere."""
        return as_open_set_state(state, num_classes=self.num_classes, thresholds=self.thresholds)

    @abstractmethod
    def best(self, state: OpenSetState) -> BestF:
        """The best F-score, its threshold, and the F-score at each of t_list."""

    def prepare(self, state: OpenSetState) -> PreparedTable:
        """The samples, by class and score."""
        check_applied(state, self.thresholds)
        return PreparedTable(self, state, OPEN_SET_TABLES["counts"])

    def drawn(self, state: OpenSetState) -> Drawn:
        """Known and unknown samples as strata; a resample keeps their numbers, and many distinct scores are merged."""
        known, scores = to_numpy(state["classes"]) >= 0, to_numpy(state["scores"])
        counts = None if "counts" not in state else to_numpy(state["counts"])
        kinds = (~known, known)
        sides = (as_side(scores[kind], None if counts is None else counts[kind]) for kind in kinds)
        merged = np.empty(len(scores), np.float64)
        for kind, rows in zip(kinds, rows_of_sides(*sides)):
            merged[kind] = rows.scores[rows.places(scores[kind])]
        return Drawn({**state, "scores": merged}, strata=known.astype(np.int64))

    def rates(self, state: OpenSetState) -> Results:
        """The best F-score of a state, and the curve of t_list."""
        best, threshold, curve = self.best(state)
        results: Results = {self.name: Rate(best, True, threshold=threshold)}
        return results if self.thresholds is None else {**results, f"{self.name}_curve": curve}

    def tables(self, prepared: PreparedTable, results: Results) -> dict[str, Any]:
        """The table of samples, with `per_sample`."""
        if not self.per_sample:
            return {}
        return {"per_sample": open_f_samples(prepared.state, results[self.name].threshold)}


@dataclass(kw_only=True, eq=False, repr=False)
class MacroOpenF(OpenF):
    """The macro open-set F-score at the best threshold, with equal weight for each class: see `macro_open_f`.

    Columns: see `OpenF`. Options, in addition to its own:

    threshold: the threshold to use instead of the best one; not with a t_list
    decisions: whether to add the numbers of the decisions at the threshold (see `Decisions.at`), and hos_max, the best
        HOS over all thresholds; with a t_list, over those, and the numbers at each as `<name>_curve`

    Raises besides ValueError for decisions without unknown or known samples.

    >>> MacroOpenF().compute(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    {'macro_open_f': 1.0, 'macro_open_f_threshold': 0.2}
    """

    name = "macro_open_f"
    selecting = OpenF.selecting | {"decisions"}

    threshold: float | None = None
    decisions: bool = False

    def __post_init__(self) -> None:
        """Check each option."""
        super().__post_init__()
        self.threshold = None if self.threshold is None else as_real(self.threshold, "threshold")
        self.decisions = as_bool(self.decisions, "decisions")

    def prepare(self, state: OpenSetState) -> PreparedTable:
        """As of `OpenF`; the number of classes is kept for resamples that lack the largest class id."""
        if self.threshold is not None and self.thresholds is not None:
            raise ValueError("threshold: expected None with a t_list, got both")
        return super().prepare({**state, "predictions_width": np.asarray(count_classes(state, self.num_classes))})

    def best(self, state: OpenSetState) -> BestF:
        """The best macro F-score."""
        thresholds = self.thresholds if self.threshold is None else np.asarray([self.threshold])
        return best_f(*macro_f_after(Samples.of(state), int(state["predictions_width"])), thresholds)

    def rates(self, state: OpenSetState) -> Results:
        """As of `OpenF`, and the numbers of the decisions."""
        results = super().rates(state)
        if not self.decisions:
            return results
        decisions = Decisions(state, int(state["predictions_width"]))
        best, listed = decisions.best_hos(self.thresholds), () if self.thresholds is None else self.thresholds
        numbers, at_best, *curves = decisions.at(np.asarray([results[self.name].threshold, best, *listed]))
        results |= {name: Rate(value, True) for name, value in numbers.items()}
        results["hos_max"] = Rate(at_best["hos"], True, threshold=best)
        if self.thresholds is not None:
            results |= {f"{name}_curve": [row[name] for row in curves] for name in numbers}
        return results


@dataclass(kw_only=True, eq=False, repr=False)
class MicroOpenF(OpenF):
    """The micro open-set F-score at the best threshold, with equal weight for each sample: see `micro_open_f`.

    Columns and options: see `OpenF`.

    >>> MicroOpenF().compute(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    {'micro_open_f': 1.0, 'micro_open_f_threshold': 0.2}
    """

    name = "micro_open_f"

    def prepare(self, state: OpenSetState) -> PreparedTable:
        """As of `OpenF`, with class ids checked."""
        count_classes(state, self.num_classes)
        return super().prepare(state)

    def best(self, state: OpenSetState) -> BestF:
        """The best micro F-score."""
        return best_f(*micro_f_after(Samples.of(state)), self.thresholds)
