"""Measures of a benchmark, computed from its two sides, which are sorted once."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ..arrays.arrays import Array, array_namespace, as_array, concatenate, equal, is_floating, on_one_device, to_numpy
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
from ..ranking.counts import Side, sides_of_kinds, sort_sides
from ..ranking.quantities import Quantity, check_bits, checked_bits, cut

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Sides:
    """The two sides of a benchmark, with arrays that several metrics share, computed once."""

    def __init__(self, positives: Side, negatives: Side) -> None:
        self.positives, self.negatives = positives, negatives

    @cached_property
    def ascending(self) -> tuple[Side, Side]:
        """Both sides in one type."""
        return sort_sides(self.positives, self.negatives)

    def flipped(self) -> tuple[Side, Side]:
        """In-distribution samples as positives and OOD samples as negatives, by negated scores."""
        positives, negatives = self.ascending
        return negatives.flipped(), positives.flipped()

    @cached_property
    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores in an order independent of the order of the samples."""
        # in float64, since scikit-learn computes in the precision of its input
        sides = [to_numpy(side.repeated()).astype(np.float64) for side in reversed(self.ascending)]
        labels = np.repeat(np.asarray([0, 1]), [len(side) for side in sides])
        return labels, np.concatenate(sides)


class Measure(NamedTuple):
    """How a metric of a benchmark is computed.

    source: a quantity of exceedance counts, or a function of the sides
    higher: whether higher is better
    of_inside: whether the positives of a quantity are the in-distribution samples, by negated scores
    share: whether its value is a share, in [0, 1]
    of_decisions: whether it is of the decisions score > threshold
    """

    source: Quantity | Callable[[Sides], float]
    higher: bool | None
    of_inside: bool = False
    share: bool = True
    of_decisions: bool = False


def required_threshold(threshold: float | None, name: str) -> float:
    """Return the threshold of a metric of decisions. Raises ValueError if there is none."""
    if threshold is None:
        raise ValueError(f"threshold: expected a number, since {name!r} judges scores > threshold; got None")
    return threshold


def measure_of(quantity: Quantity, *, of_inside: bool = False) -> Measure:
    """The measure of a quantity, with the quantity's direction."""
    return Measure(quantity, quantity.higher, of_inside)


# Out-of-distribution detection: the scores of a batch with their labels, and its two sides.


_INT64 = (-(2**63), 2**63 - 1)


class OODState(TypedDict):
    """Scores with their labels.

    scores: (N,) higher is more OOD
    labels: (N,) in_value, out_value or ignore_value
    counts: (N,) how many samples each entry stands for; absent, one each
    significant_bits: how many of a score's were kept; absent where all were
    """

    scores: Array
    labels: Array
    counts: NotRequired[Array]
    significant_bits: NotRequired[np.ndarray]


Label = int | str  # of a side: a label, or REST
REST = "rest"  # for the label of one side: all labels that are not the other's


def as_ood_state(
    state: Mapping[str, Any],
    *,
    in_value: Label,
    out_value: Label,
    ignore_value: int | None,
    significant_bits: int | None,
) -> OODState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `reduce_ood` cannot return."""
    check_arrays(state, [*OODState.__annotations__], ["counts", "significant_bits"])
    labels = _narrow(integer_column(state, "labels", *_INT64))
    checked: Any = {"scores": score_column(state, "scores"), "labels": labels}
    if "counts" in state:
        checked["counts"] = count_column(state)
    check_rows(checked)
    check_labels(labels, check_label_values(in_value, out_value, ignore_value))
    return {**checked, **checked_bits(state, significant_bits)}  # type: ignore[typeddict-item]


def ood_state(
    predictions: Any,
    references: Any = None,
    *,
    in_value: Label,
    out_value: Label,
    ignore_value: int | None,
    significant_bits: int | None,
) -> OODState:
    """The state of a batch: see `reduce_ood`."""
    values, bits = check_label_values(in_value, out_value, ignore_value), check_bits(significant_bits)
    if references is None:
        if not isinstance(predictions, tuple) or len(predictions) != 2:
            raise TypeError(
                "references: expected a label for each score, or predictions as a tuple "
                "(in-distribution scores, OOD scores); got neither"
            )
        sides = [as_scores(side, f"predictions[{i}]", narrow=True) for i, side in enumerate(predictions)]
        scores, sides = concatenate(sides), on_one_device(*sides)
        xp = array_namespace(*sides)
        other = next(label for label in range(3) if label not in values)  # for the side that has the rest
        labels = [
            xp.full(len(side), other if value == REST else value, dtype=xp.int64, device=side.device)
            for side, value in zip(sides, values)
        ]
        return _kept(scores, _narrow(xp.concat(labels)), bits)
    predictions, references = as_array(predictions, "predictions"), as_array(references, "references")
    check_orientation(predictions, references)
    if is_floating(references) and not is_floating(predictions) and bool((references != references.round()).any()):
        raise ValueError("predictions and references are swapped: references hold fractions and predictions integers")
    scores, labels = as_scores(predictions, "predictions", narrow=True), as_integers(references, "references")
    check_lengths(predictions=scores, references=labels)
    scores, labels = on_one_device(scores, _narrow(labels))
    check_labels(labels, values)
    return _kept(scores, labels, bits)


def _kept(scores: Array, labels: Array, bits: int | None) -> OODState:
    """The state of a batch, with scores cut to `bits` significant bits; None keeps all."""
    if bits is None:
        return {"scores": scores, "labels": labels}
    return {"scores": cut(scores, bits), "labels": labels, "significant_bits": np.asarray(bits)}


def _narrow(labels: Array) -> Array:
    """Labels as int8 or int16 where they fit, else as int64."""
    xp = array_namespace(labels)
    if labels.dtype == xp.int8:
        return labels
    low, high = (int(xp.min(labels)), int(xp.max(labels))) if labels.shape[0] else (0, 0)
    fitting = (dtype for dtype, reach in ((xp.int8, 1 << 7), (xp.int16, 1 << 15)) if -reach <= low <= high < reach)
    return xp.astype(labels, next(fitting, xp.int64), copy=False)


class LabelValues(NamedTuple):
    """Labels of in-distribution, OOD and ignored samples; one of the first two may be "rest"."""

    inside: Label
    out: Label
    ignored: int | None


def check_label_values(in_value: Any, out_value: Any, ignore_value: Any) -> LabelValues:
    """Check the labels of in-distribution, OOD and ignored samples: different integers."""
    inside, out = _as_label(in_value, "in_value"), _as_label(out_value, "out_value")
    if inside == out:
        raise ValueError(f"in_value, out_value: expected two different labels, got {inside} for both")
    if ignore_value is not None:
        ignore_value = as_int(ignore_value, "ignore_value", *_INT64)
        if ignore_value in (inside, out):
            raise ValueError(f"ignore_value: expected neither in_value nor out_value, got {ignore_value}")
    return LabelValues(inside, out, ignore_value)


def _as_label(value: Any, name: str) -> Label:
    if isinstance(value, str):
        if value != REST:
            raise ValueError(f"{name}: expected an int or {REST!r}, got {value!r}")
        return REST
    return as_int(value, name, *_INT64)


def ood_sides(state: OODState, values: LabelValues) -> tuple[Side, Side]:
    """OOD and in-distribution scores of a state in which an entry may stand for several samples."""
    is_out, kept = is_ood(state["labels"], values)
    scores, counts = state["scores"], state.get("counts")
    if kept is not None:
        is_out, scores, counts = is_out[kept], scores[kept], None if counts is None else counts[kept]
    bits = None if "significant_bits" not in state else int(state["significant_bits"])
    out, inside = sides_of_kinds(scores, ~is_out, 2, counts, bits=bits)
    return out, inside


def is_ood(labels: Array, values: LabelValues) -> tuple[Array, Array | None]:
    """Which of checked samples are OOD, and which are not to be left out; None for all of them."""
    kept = None if values.ignored is None else ~equal(labels, values.ignored)
    is_out = ~equal(labels, values.inside) if values.out == REST else equal(labels, values.out)
    return is_out, kept


def check_labels(labels: Array, values: LabelValues, name: str = "references") -> None:
    """Raise ValueError for a label of none of the values."""
    if REST in values:
        return
    first, *others = (equal(labels, value) for value in values if value is not None)
    allowed = functools.reduce(operator.or_, others, first)
    if not bool(array_namespace(labels).all(allowed)):
        names = zip(values, ("in_value", "out_value", "ignore_value"))
        expected = " or ".join(f"{value} ({name})" for value, name in names if value is not None)
        raise ValueError(f"{name}: expected {expected}, got {int(labels[~allowed][0])}")
