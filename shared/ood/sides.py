"""Out-of-distribution detection: the scores of a batch with their labels, and the two sides that they come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from ..core.arrays import Array, array_namespace, as_array, concatenate, is_floating, is_numpy_array, on_one_device
from ..core.columns import as_integers, as_scores, check_lengths, check_orientation
from ..core.counts import Side, as_side, ascending, split
from ..core.options import as_int
from ..core.states import check_arrays, check_rows, count_column, integer_column, score_column

if TYPE_CHECKING:
    from typing_extensions import NotRequired

_INT64 = (-(2**63), 2**63 - 1)


class OODState(TypedDict):
    """Scores with their labels.

    scores: (N,) higher is more OOD
    labels: (N,) in_value or out_value
    counts: (N,) how many samples each entry stands for; absent, one each
    """

    scores: Array
    labels: Array
    counts: NotRequired[Array]


def as_ood_state(state: Mapping[str, Any], *, in_value: int = 0, out_value: int = 1) -> OODState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `reduce_ood` cannot have made."""
    check_arrays(state, [*OODState.__annotations__], ["counts"])
    labels = _narrow(integer_column(state, "labels", *_INT64))
    checked: OODState = {"scores": score_column(state, "scores"), "labels": labels}
    if "counts" in state:
        checked["counts"] = count_column(state)
    check_rows(checked)
    _is_out(labels, *check_label_values(in_value, out_value))  # raises for any other label
    return checked


def reduce_ood(predictions: Any, references: Any = None, *, in_value: int = 0, out_value: int = 1) -> OODState:
    """Check a batch of scores with labels, or a pair of scores without them.

    Parameters: predictions (N,), higher is more OOD, or the tuple (in-distribution scores (N_in,), OOD scores
    (N_out,)); references (N,) labels; in_value and out_value, the labels of the two sides, different integers.
    Returns an `OODState`.
    Raises TypeError without references, unless predictions are such a tuple; ValueError for NaN, lengths and shapes
    that do not fit, and labels that are neither value.
    """
    in_value, out_value = check_label_values(in_value, out_value)
    if references is None:
        if not isinstance(predictions, tuple) or len(predictions) != 2:
            raise TypeError(
                "references: expected a label for each score, or predictions as a tuple "
                "(in-distribution scores, OOD scores); got neither"
            )
        sides = [as_scores(side, f"predictions[{i}]", narrow=True) for i, side in enumerate(predictions)]
        scores, sides = concatenate(sides), on_one_device(*sides)
        xp = array_namespace(*sides)
        labels = [
            xp.full(len(side), value, dtype=xp.int64, device=side.device)
            for side, value in zip(sides, (in_value, out_value))
        ]
        return {"scores": scores, "labels": _narrow(xp.concat(labels))}
    predictions, references = as_array(predictions, "predictions"), as_array(references, "references")
    check_orientation(predictions, references)
    if is_floating(references) and not is_floating(predictions) and bool((references != references.round()).any()):
        raise ValueError("predictions and references are swapped: references hold fractions and predictions integers")
    scores, labels = as_scores(predictions, "predictions", narrow=True), as_integers(references, "references")
    check_lengths(predictions=scores, references=labels)
    scores, labels = on_one_device(scores, _narrow(labels))
    _is_out(labels, in_value, out_value)  # raises for any other label
    return {"scores": scores, "labels": labels}


def _narrow(labels: Array) -> Array:
    """Labels as int8 where they fit, else as int64."""
    xp = array_namespace(labels)
    fits = not labels.shape[0] or (int(xp.min(labels)) >= -128 and int(xp.max(labels)) <= 127)
    return xp.astype(labels, xp.int8 if fits else xp.int64, copy=False)


def check_label_values(in_value: Any, out_value: Any) -> tuple[int, int]:
    """Check the labels of in-distribution and OOD samples: two different integers."""
    in_value, out_value = as_int(in_value, "in_value", *_INT64), as_int(out_value, "out_value", *_INT64)
    if in_value == out_value:
        raise ValueError(f"in_value, out_value: expected two different labels, got {in_value} for both")
    return in_value, out_value


def split_ood(scores: Array, labels: Array, *, in_value: int = 0, out_value: int = 1) -> tuple[Array, Array]:
    """Scores of the OOD samples and those of the in-distribution samples, each in ascending order.

    Parameters: scores (N,) and labels (N,), as `reduce_ood` returns them.
    Returns two arrays, (N_out,) and (N_in,). Raises ValueError for a label that is neither value.
    """
    out, inside = split(scores, _is_out(labels, *check_label_values(in_value, out_value)))
    return ascending(out, owned=True), ascending(inside, owned=True)


def ood_sides(state: OODState, *, in_value: int = 0, out_value: int = 1) -> tuple[Side, Side]:
    """As `split_ood`, of a state whose entries may stand for several samples."""
    is_out = _is_out(state["labels"], *check_label_values(in_value, out_value))
    (out, inside), counts = split(state["scores"], is_out), state.get("counts")
    out_counts, inside_counts = (None, None) if counts is None else split(counts, is_out)
    return as_side(out, out_counts, owned=True), as_side(inside, inside_counts, owned=True)


def _is_out(labels: Array, in_value: int, out_value: int) -> Array:
    if not is_numpy_array(labels):  # torch compares in the labels' own type, where a larger value would wrap
        labels = array_namespace(labels).astype(labels, array_namespace(labels).int64)
    is_out = labels == out_value
    other = ~is_out & (labels != in_value)
    if bool(array_namespace(labels).any(other)):
        raise ValueError(
            f"references: expected {in_value} (in_value) or {out_value} (out_value), got {int(labels[other][0])}"
        )
    return is_out
