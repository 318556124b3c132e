"""Answers with a quality in [0, 1] in place of a label: their state, and the areas of risk over coverage of these.

Where all qualities are 0 or 1, answers are wrong or right, and have the results and the intervals of labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ..arrays.arrays import Array, array_namespace, on_one_device, to_numpy
from ..arrays.checks import as_qualities, as_scores, check_arrays, check_lengths, check_rows, count_column, score_column
from ..metric.prepared import Drawn, PreparedTable
from ..metric.results import Rate, Results
from ..ranking.graded import GRADED, graded_areas
from ..ranking.quantities import checked_bits, cut, with_errors

if TYPE_CHECKING:
    from typing_extensions import NotRequired

QUALITIES = "qualities"  # the column, and its array in a state
_STRATUM = 2  # after those of unknown and of known samples: all answers are drawn together
ANSWERS = "answers"  # what this stratum has samples of


class QualityState(TypedDict):
    """Scores with qualities."""

    scores: Array  # (N,) higher is more likely wrong
    qualities: Array  # (N,) in [0, 1]
    counts: NotRequired[Array]  # (N,) how many answers each entry stands for; absent, one each
    significant_bits: NotRequired[np.ndarray]  # how many of a score's were kept; absent where all were


def quality_state(predictions: Any, references: Any, qualities: Any, bits: int | None) -> QualityState:
    """The state of a batch: see `OODBench.reduce`."""
    if references is not None:
        raise TypeError("references: expected none with qualities, which stand in their place; got both")
    if isinstance(predictions, tuple):
        raise TypeError("predictions: expected scores (N,) with qualities, got a tuple")
    scores, graded = as_scores(predictions, "predictions", narrow=True), as_qualities(qualities, QUALITIES)
    check_lengths(predictions=scores, qualities=graded)
    scores, graded = on_one_device(scores, graded)
    if bits is None:
        return {"scores": scores, "qualities": graded}
    return {"scores": cut(scores, bits), "qualities": graded, "significant_bits": np.asarray(bits)}


def as_quality_state(state: Mapping[str, Any], bits: int | None) -> QualityState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `quality_state` cannot return."""
    check_arrays(state, [*QualityState.__annotations__], ["counts", "significant_bits"])
    checked: Any = {
        "scores": score_column(state, "scores"),
        "qualities": to_numpy(as_qualities(state["qualities"], "state['qualities']")),
    }
    if "counts" in state:
        checked["counts"] = count_column(state)
    check_rows(checked)
    return {**checked, **checked_bits(state, bits)}  # type: ignore[typeddict-item]


def are_right(state: QualityState) -> Array | None:
    """Whether each answer is right, (N,) booleans; None where some quality is neither 0 nor 1, or all are equal."""
    qualities = state["qualities"]
    xp, right = array_namespace(qualities), qualities == 1
    both = bool(xp.any(right)) and not bool(xp.all(right))
    return right if both and bool(xp.all(right | (qualities == 0))) else None


class _Areas(NamedTuple):
    """The areas of these names, of states."""

    metrics: Sequence[str]

    def drawn(self, state: QualityState) -> Drawn:
        """The state as resamples see it."""
        return Drawn(state, np.full(len(state["scores"]), _STRATUM))

    def rates(self, state: QualityState) -> Results:
        """The areas, with their errors if scores were cut."""
        scores, qualities = to_numpy(state["scores"]), to_numpy(state["qualities"])
        counts = to_numpy(state["counts"]) if "counts" in state else None
        bits = int(state["significant_bits"]) if "significant_bits" in state else None
        ends = graded_areas(scores, qualities, counts, bits=bits, metrics=self.metrics)
        rates = {name: Rate(each[0], GRADED[name], share=name != "prr") for name, each in ends.items()}
        return {**(rates if bits is None else with_errors(rates, ends))}


def prepared_answers(state: QualityState, metrics: Sequence[str]) -> PreparedTable:
    """Answers whose qualities are not just 0 and 1."""
    return PreparedTable(_Areas(metrics), state, ("scores", QUALITIES))


def check_graded(metrics: Sequence[Any], *, per_sample: bool) -> None:
    """Raise ValueError unless all names are of areas that qualities have."""
    other = next((name for name in metrics if name not in GRADED), None)
    if other is not None:
        raise ValueError(f"metrics: expected some of {', '.join(GRADED)} with qualities, got {other}")
    if per_sample:
        raise ValueError("per_sample: expected False with qualities, which say no side of a sample; got True")
