"""Answers of the top-k metrics: accuracyk and autkc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays.checks import as_int_list
from ..classification.topk import AUTKC, AccuracyK, known_ranks, topk_rates
from ..metric.metric import Metric
from .answer import Figure, Worst
from .charts import MAX_WORST, Points, curves, names_of_rows
from .credits import TENTH_OF_DIGITS
from .subject import Computed, Example, Form, Subject, in_words

MAX_K = 200  # ks drawn
MIN_K = 10  # ks drawn at least, if there are as many; otherwise twice the largest of k_list
_EXPECTED = 10_000  # steps of a k with expected ties, for which the chance of a hit is computed at each k below it


def words(key: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """The title and the meaning of a top-k accuracy, or of AUTKC, by their k.

    >>> words("accuracy@5", {"average": "micro"}), words("autkc@3", {"average": "micro"})[0]
    (('Top-5 accuracy', 'of the samples have their class among the 5 best guesses'), 'AUTKC up to k = 3')
    """
    is_micro = options["average"] == "micro"
    share = "of the samples have" if is_micro else "mean over the classes of the share with"
    table = {
        "accuracy": ("Accuracy", f"{share} their class the best guess"),
        "accuracy@1": ("Top-1 accuracy", f"{share} their class the best guess"),
        "accuracy@(.+)": ("Top-{0} accuracy", f"{share} their class among the {{0}} best guesses"),
        "autkc@1": ("AUTKC up to k = 1", f"{share} their class the best guess"),
        "autkc@(.+)": ("AUTKC up to k = {0}", "mean of the top-k accuracies for k = 1 … {0}"),
    }
    return in_words(table, key)


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
    axes, shares = ("k", "accuracy@k in %" if percent else "accuracy@k"), (False, not percent)
    over_k = curves("Accuracy over k", axes, computed, _points, shares=shares)
    number = max(len(one.x) for one in over_k.series)
    return [replace(over_k, note=f"the first {number} of {width:,} ks" if number < width else "")]


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


_SWITCH = "Among the k best, or how high"


def _subject(metric: type[Metric], question: str, key: str, words_of_switch: str, **others: Any) -> Subject:
    return Subject(
        metric=metric,
        question=question,
        leading=(key,),
        example=Example("Ten handwritten digits, logits", ("digits.npz",), TENTH_OF_DIGITS, {"k_list": (1, 2, 3)}),
        form=Form(
            "class scores and labels",
            ("k_list", "ties"),
            switch=(_SWITCH, words_of_switch),
            have={"class scores": ""},
        ),
        data=_data,
        words=words,
        figures=_figures,
        worst=_worst,
        **others,
    )


_ALL = (
    _subject(AccuracyK, "Is the true class among the k best guesses?", r"accuracy.*", "among the k best"),
    _subject(
        AUTKC,
        "How high among the K best guesses is the true class?",
        r"autkc@.*",
        "how high among them",
        more_costs=_costs,
    ),
)
SUBJECTS = {subject.name: subject for subject in _ALL}
