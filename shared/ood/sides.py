"""The state of an out-of-distribution benchmark: scores with their labels, and its two sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ..arrays.arrays import Array, array_namespace, as_array, concatenate, equal, is_floating, on_one_device
from ..arrays.checks import (
    as_int,
    as_integers,
    as_scores,
    check_arrays,
    check_lengths,
    check_orientation,
    check_rows,
    count_column,
    integer_column,
    score_column,
)
from ..ranking.counts import Side, sides_of_kinds
from ..ranking.quantities import checked_bits, cut

if TYPE_CHECKING:
    from typing_extensions import NotRequired


_INT64 = (-(2**63), 2**63 - 1)
REST = "rest"  # for the label of one side: all labels that are not the other's
Label = int | str  # of a side: a label, or REST


class OODState(TypedDict):
    """Scores with their labels."""

    scores: Array  # (N,) higher is more OOD
    labels: Array  # (N,) in_value, out_value or ignore_value
    counts: NotRequired[Array]  # (N,) how many samples each entry stands for; absent, one each
    significant_bits: NotRequired[np.ndarray]  # how many of a score's were kept; absent where all were


class StateOptions(NamedTuple):
    """The options that shape a state, checked.

    inside, out, ignored: labels of in-distribution, OOD and ignored samples; one of the first two may be "rest"
    """

    inside: Label
    out: Label
    ignored: int | None
    bits: int | None  # the number of significant bits kept of each score; None keeps all


def state_options(in_value: Any, out_value: Any, ignore_value: Any, significant_bits: int | None) -> StateOptions:
    """Check the labels, which are different integers; the number of bits is checked already."""
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
    other = next(label for label in range(3) if label not in options)  # for the side that has the rest
    labels = [
        xp.full(len(side), other if value == REST else value, dtype=xp.int64, device=side.device)
        for side, value in zip(sides, (options.inside, options.out))
    ]
    return scores, _narrow(xp.concat(labels))


def _narrow(labels: Array) -> Array:
    """Labels as int8 or int16 where they fit, else as int64."""
    xp = array_namespace(labels)
    if labels.dtype == xp.int8:
        return labels
    low, high = (int(xp.min(labels)), int(xp.max(labels))) if labels.shape[0] else (0, 0)
    for dtype, reach in ((xp.int8, 1 << 7), (xp.int16, 1 << 15)):
        if -reach <= low <= high < reach:
            return xp.astype(labels, dtype, copy=False)
    return xp.astype(labels, xp.int64, copy=False)


def ood_sides(state: OODState, options: StateOptions) -> tuple[Side, Side]:
    """OOD and in-distribution scores of a state, whose entries may stand for several samples."""
    is_out, kept = is_ood(state["labels"], options)
    scores, counts = state["scores"], state.get("counts")
    if kept is not None:
        is_out, scores, counts = is_out[kept], scores[kept], None if counts is None else counts[kept]
    bits = None if "significant_bits" not in state else int(state["significant_bits"])
    out, inside = sides_of_kinds(scores, ~is_out, 2, counts, bits=bits)
    return out, inside


def is_ood(labels: Array, options: StateOptions) -> tuple[Array, Array | None]:
    """Which of checked samples are OOD, and which are not to be left out; None for all of them."""
    kept = None if options.ignored is None else ~equal(labels, options.ignored)
    is_out = ~equal(labels, options.inside) if options.out == REST else equal(labels, options.out)
    return is_out, kept


def _check_labels(labels: Array, options: StateOptions) -> None:
    """Raise ValueError for a label that is none of the options'."""
    if REST in (options.inside, options.out):
        return
    allowed = equal(labels, options.inside) | equal(labels, options.out)
    if options.ignored is not None:
        allowed |= equal(labels, options.ignored)
    if not bool(allowed.all()):
        names = {"in_value": options.inside, "out_value": options.out, "ignore_value": options.ignored}
        expected = " or ".join(f"{value} ({name})" for name, value in names.items() if value is not None)
        raise ValueError(f"references: expected {expected}, got {int(labels[~allowed][0])}")
