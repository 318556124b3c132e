"""Answers of the top-k metrics: accuracyk and autkc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.checks import as_int_list
from ..classification.topk import AUTKC, AccuracyK, known_ranks, topk_rates
from ..metric.metric import Metric
from .answer import Curves, Figure, Worst
from .charts import MAX_WORST, Points, names_of_rows, pooled_note, series_of_models
from .subject import Computed, Example, Subject

MAX_K = 200  # ks drawn
MIN_K = 10  # ks drawn at least, if there are as many; otherwise twice the largest of k_list
_EXPECTED = 10_000  # steps of a k with expected ties, for which the chance of a hit is computed at each k below it


def title(key: str) -> str:
    """A key in words; "" for one that says it itself.

    >>> title("accuracy@5"), title("autkc@3"), title("accuracy")
    ('Top-5 accuracy', 'AUTKC up to k = 3', 'Accuracy')
    """
    name, at, k = key.partition("@")
    if name == "autkc":
        return f"AUTKC up to k = {k}"
    return f"Top-{k} accuracy" if at else key.capitalize()


def meaning(key: str, options: Mapping[str, Any]) -> str:
    """The meaning of a key in a few words: of a top-k accuracy, or of AUTKC, by their k."""
    name, _, k = key.partition("@")
    if name == "autkc":
        return f"mean of the top-k accuracies for k = 1 … {k}"
    where = f"among the {k} best guesses" if k not in ("", "1") else "the best guess"
    return (
        f"of the samples have their class {where}"
        if options["average"] == "micro"
        else f"mean over the classes of the share with their class {where}"
    )


def _ks(computed: Computed) -> list[int]:
    k_list, width = computed.options["k_list"], int(computed.state["predictions_width"])
    return [] if k_list is None else as_int_list(k_list, "k_list", 1, width)


def _points(computed: Computed) -> Points:
    """Accuracy at each k that is drawn."""
    state: Any = computed.state
    options, width, listed = computed.options, int(state["predictions_width"]), _ks(computed)
    most = min(width, MAX_K, max(MIN_K, 2 * max(listed))) if listed else min(width, MAX_K)
    ranks = known_ranks(state, ignore_unknown=options["ignore_unknown"])
    one, spans = (100 if options["percent"] else 1), {str(k): range(k, k + 1) for k in range(1, most + 1)}
    rates = topk_rates(ranks, spans, ties=options["ties"], average=options["average"], one=one)
    return [*range(1, most + 1)], [*rates.values()], [f"k = {k}" for k in rates]


def _figures(computed: Computed) -> Sequence[Figure]:
    percent, width = computed.options["percent"], int(computed.state["predictions_width"])
    series = series_of_models(computed, _points, title="Accuracy over k")
    number = max(len(one.x) for one in series)
    notes = [pooled_note(computed, "group"), f"the first {number} of {width:,} ks" if number < width else ""]
    return [
        Curves(
            "Accuracy over k",
            ("k", "accuracy@k in %" if percent else "accuracy@k"),
            series,
            shares=(False, not percent),
            note="; ".join(filter(None, notes)),
        )
    ]


def _worst(computed: Computed) -> Sequence[Worst]:
    """The samples whose class is ranked worst, and is not the best guess."""
    state = computed.state
    if "counts" in state:  # equal samples are one row
        return ()
    above, tied = np.asarray(state["above"]), np.asarray(state["tied"])
    missed = np.flatnonzero(above + tied > 0)  # above is -1 for an unknown class
    missed = missed[above[missed] >= 0]
    rows = missed[np.argsort(-above[missed], kind="stable")][:MAX_WORST]
    columns = names_of_rows(computed, rows, len(above))
    columns |= {"class": np.asarray(state["classes"])[rows].tolist()}
    columns |= {"higher scores": above[rows].tolist(), "equal scores": tied[rows].tolist()}
    return [Worst("True class ranked lowest", columns, rows=rows.tolist())] if len(rows) else ()


def _data(computed: Computed) -> str:
    state: Any = computed.state
    ranks = known_ranks(state, ignore_unknown=computed.options["ignore_unknown"])
    number = len(ranks.above) if ranks.counts is None else int(np.sum(ranks.counts))
    return f"{number:,} samples, {int(state['predictions_width']):,} classes"


def _costs(state: Mapping[str, Any], options: Mapping[str, Any]) -> Mapping[str, int]:
    """Expected ties of AUTKC take the chance of a hit at each k up to K, for each K."""
    k_list = options["k_list"]
    if options["ties"] != "expected":
        return {}
    total = sum(k for k in (k_list if isinstance(k_list, (list, tuple)) else [k_list]) if isinstance(k, int))
    return {"the sum of k_list, with expected ties": total * (_EXPECTED + 2 * len(state["above"]))}


def _subject(metric: type[Metric], question: str, key: str, **others: Any) -> Subject:
    return Subject(
        metric=metric,
        question=question,
        leading=(key,),
        example=Example("Ten handwritten digits, logits", ("digits.npz",), {"k_list": (1, 2, 3)}),
        data=_data,
        title=title,
        meaning=meaning,
        figures=_figures,
        worst=_worst,
        **others,
    )


_ALL = (
    _subject(AccuracyK, "Is the true class among the k best guesses?", r"accuracy.*"),
    _subject(AUTKC, "How high among the K best guesses is the true class?", r"autkc@.*", more_costs=_costs),
)
SUBJECTS = {subject.name: subject for subject in _ALL}
