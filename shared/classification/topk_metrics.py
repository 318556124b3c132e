"""accuracyk and autkc: how often the true class is among the k best guesses, and how high it ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays.arrays import to_numpy
from ..arrays.options import as_bool, as_choice, as_int_list
from ..metric.metric import Metric
from ..metric.prepared_table import Drawn, PreparedTable
from ..metric.results import Rate, Results
from .averages import AVERAGES, rates_by_class, topk_rates
from .topk import TOPK_ALIASES, TOPK_TABLES, TopkState, as_topk_state, topk_scores_state, topk_state
from .topk_rates import DEFAULT_TIES, TIES, known_ranks


@dataclass(kw_only=True, eq=False, repr=False)
class TopK(Metric):
    """Means over consecutive k of the top-k accuracy.

    Options, in addition to the common ones (see `Metric`):

    k_list: integers in [1, C]
    ties: "strict", "optimistic" or "expected", as of `topk_accuracy`
    average: "micro" or "macro", as of `topk_rates`
    per_class: whether to add the table of `rates_by_class`
    percent: whether rates are in [0, 100]
    ignore_unknown: whether samples with a negative reference are left out

    Raises ValueError for a k out of range, and without known samples.
    """

    as_state = staticmethod(as_topk_state)
    countable_tables = TOPK_TABLES
    truth = ("classes",)
    owned_arrays = frozenset(TopkState.__annotations__)
    aliases = TOPK_ALIASES

    k_list: int | Sequence[int] | None = None
    ties: str = DEFAULT_TIES
    average: str = "micro"
    per_class: bool = False
    percent: bool = False
    ignore_unknown: bool = False

    def __post_init__(self) -> None:
        """Check each option; the upper bound of k_list is checked where the number of classes is known."""
        super().__post_init__()
        if self.k_list is not None:
            as_int_list(self.k_list, "k_list", 1)
        self.ties = as_choice(self.ties, "ties", TIES)
        self.average = as_choice(self.average, "average", AVERAGES)
        self.per_class = as_bool(self.per_class, "per_class")
        self.percent = as_bool(self.percent, "percent")
        self.ignore_unknown = as_bool(self.ignore_unknown, "ignore_unknown")

    def spans(self, width: int) -> Mapping[str, range | None]:
        """The range of k that each key averages over, for rows of `width` scores or ids; None: plain accuracy."""
        raise NotImplementedError

    def prepare(self, state: TopkState) -> PreparedTable:
        """The samples, by the ranks of their classes."""
        arrays: Any = state
        return PreparedTable(self, arrays, TOPK_TABLES["counts"])

    def drawn(self, state: TopkState) -> Drawn:
        """The known samples, in one stratum; unknown ones do not enter the results.

        Classes are not strata: a class missing from a resample does not enter its mean. Without such a mean, rows that
        differ only in the class are merged.
        """
        arrays: Any = state
        kept = to_numpy(state["above"] >= 0)
        return Drawn(arrays if self.average == "macro" else {**arrays, "classes": arrays["classes"] * 0}, kept=kept)

    def rates(self, state: TopkState) -> Results:
        """The mean accuracy over the k of each key."""
        ranks = known_ranks(state, ignore_unknown=self.ignore_unknown)
        spans = self.spans(int(state["predictions_width"]))
        values = topk_rates(ranks, spans, ties=self.ties, average=self.average, percent=self.percent)
        return {key: Rate(value, True, share=not self.percent) for key, value in values.items()}

    def tables(self, prepared: PreparedTable, results: Results) -> dict[str, Any]:
        """The table of classes, with `per_class`."""
        if not self.per_class:
            return {}
        state: Any = prepared.state
        ranks = known_ranks(state, ignore_unknown=self.ignore_unknown)
        spans = self.spans(int(state["predictions_width"]))
        return {"per_class": rates_by_class(ranks, spans, ties=self.ties, percent=self.percent)}


@dataclass(kw_only=True, eq=False, repr=False)
class AccuracyK(TopK):
    """The share of samples with the true class among the k best guesses: "accuracy", or "accuracy@1" for a k_list.

    Columns: see `reduce_topk`. Options: see `TopK`.

    >>> AccuracyK(k_list=(1, 2)).compute(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
    {'accuracy@1': 0.5, 'accuracy@2': 1.0}
    """

    name = "accuracyk"
    reduce = staticmethod(topk_state)

    def spans(self, width: int) -> Mapping[str, range | None]:
        """Each k alone."""
        if self.k_list is None:
            return {"accuracy": None}
        return {f"accuracy@{k}": range(k, k + 1) for k in as_int_list(self.k_list, "k_list", 1, width)}


@dataclass(kw_only=True, eq=False, repr=False)
class AUTKC(TopK):
    """The area under the top-k curve: the mean accuracy over k = 1 … K, "autkc@1" and so on.

    Columns: see `reduce_topk_scores`. Options: see `TopK`.

    >>> AUTKC(k_list=(1, 2)).compute(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
    {'autkc@1': 0.5, 'autkc@2': 0.75}
    """

    name = "autkc"
    reduce = staticmethod(topk_scores_state)

    k_list: int | Sequence[int] | None = (1,)

    def spans(self, width: int) -> Mapping[str, range | None]:
        """All k up to each K."""
        return {f"autkc@{k}": range(1, k + 1) for k in as_int_list(self.k_list, "k_list", 1, width)}


def reduce_topk(predictions: Any, references: Any, *, ignore_unknown: bool = TopK.ignore_unknown) -> TopkState:
    """Reduce a batch of (N, C) scores or (N, K) class ids to the ranks of the true classes.

    Parameters: predictions, real scores, higher is more likely, or ids, the best guess first; references (N,) class
    ids. A negative reference stands for an unknown sample: with `ignore_unknown` its `above` is −1, otherwise it is an
    error.
    Returns a `TopkState`.
    Raises ValueError for NaN, lengths and shapes that do not fit, classes out of range, swapped columns.
    """
    return topk_state(predictions, references, ignore_unknown=ignore_unknown)


def reduce_topk_scores(predictions: Any, references: Any, *, ignore_unknown: bool = TopK.ignore_unknown) -> TopkState:
    """As `reduce_topk`, of (N, C) scores only: class ids are a ValueError. Returns a `TopkState`."""
    return topk_scores_state(predictions, references, ignore_unknown=ignore_unknown)
