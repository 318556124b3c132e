"""The state of open-set recognition: the predicted class, the true class and the open-set score of each sample.

All open-set metrics are computed from these three, so that only three numbers per sample are kept of a batch of (N, C)
scores. Samples come in two forms: a column for each quantity, or XCurve's arrays of known and of unknown samples.
Where only a list of thresholds is of interest, scores are rounded up to them.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ..arrays.arrays import (
    MAX_EXACT,
    Array,
    array_namespace,
    as_array,
    concatenate,
    on_device,
    on_one_device,
    row_blocks,
    to_numpy,
)
from ..arrays.checks import (
    as_flags,
    as_labels,
    as_matrix,
    as_scores,
    check_arrays,
    check_class_ids,
    check_lengths,
    check_no_nan,
    check_not_negative,
    check_orientation,
    check_rows,
    count_column,
    integer_column,
    integer_scalar,
    score_column,
)
from ..ranking.quantities import checked_bits, cut, rounded_up

if TYPE_CHECKING:
    from typing_extensions import NotRequired

OPEN_SET_TABLES = {"counts": ("predicted", "classes", "scores")}
OPEN_SET_ALIASES = {"close_pred": "predictions", "close_labels": "references", "open_pred": "open_scores"}
SIDES_OF_XCURVE = frozenset(
    {"open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels"}  # N_k or N_u entries
)


def check_thresholds(t_list: Any) -> np.ndarray:
    """Check a list of thresholds without NaN and return it as float64."""
    if isinstance(t_list, numbers.Real) or getattr(t_list, "ndim", 1) == 0:
        t_list = [t_list]
    thresholds = np.asarray(to_numpy(as_scores(t_list, "t_list")), dtype=np.float64)
    if not len(thresholds):
        raise ValueError("t_list: expected at least one threshold, got none")
    return thresholds


def as_text(thresholds: np.ndarray) -> np.ndarray:
    """The distinct thresholds in ascending order, as a zero-dimensional array.

    >>> as_text(np.asarray([0.5, 0.1, 0.5]))
    array('0.1 0.5', dtype='<U7')
    """
    return np.asarray(" ".join(map(repr, (np.unique(thresholds) + 0.0).tolist())))


def check_applied(state: Mapping[str, Any], thresholds: np.ndarray | None) -> None:
    """Raise ValueError for a t_list other than the one that the scores of a state were rounded up to."""
    if "thresholds" in state and (thresholds is None or state["thresholds"] != as_text(thresholds)):
        raise ValueError("t_list: it was applied as batches were added; give it at load, not at compute")


def _checked_thresholds(state: Mapping[str, Any], thresholds: np.ndarray | None) -> dict[str, np.ndarray]:
    """The thresholds of a state from elsewhere, as an entry. Raises ValueError if they differ from `thresholds`."""
    if "thresholds" not in state:
        return {}
    entry: Any = state["thresholds"]
    text = str(entry) if isinstance(entry, str) or getattr(entry, "ndim", None) == 0 else ""
    try:
        known = as_text(check_thresholds([float(number) for number in text.split()]))
    except ValueError:
        raise ValueError(f"state: expected thresholds as a text of numbers, got {text[:80]!r}") from None
    if known != text or (thresholds is not None and known != as_text(thresholds)):
        raise ValueError(f"state: expected the thresholds of t_list, got {text[:80]!r}")
    return {"thresholds": known}


class OpenSetState(TypedDict):
    """The state of a batch of samples.

    thresholds: the thresholds that scores were rounded up to, as a text; absent if they were not rounded
    """

    predicted: Array  # (N,) predicted classes
    classes: Array  # (N,) true classes, −1 for unknown
    scores: Array  # (N,) open-set scores, higher is more unknown
    predictions_width: np.ndarray  # the number of classes with scores; 0 if the predictions were class ids
    counts: NotRequired[Array]  # (N,) how many samples each entry stands for; absent, one each
    thresholds: NotRequired[np.ndarray]
    significant_bits: NotRequired[np.ndarray]  # how many bits of a score were kept; absent if all were


def as_open_set_state(
    state: Mapping[str, Any],
    *,
    num_classes: int | None = None,
    thresholds: np.ndarray | None = None,
    significant_bits: int | None = None,
) -> OpenSetState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that no metric here can have returned."""
    check_arrays(state, [*OpenSetState.__annotations__], ["counts", "thresholds", "significant_bits"])
    width = integer_scalar(state, "predictions_width", 0, MAX_EXACT)
    highest = (_given_classes(int(width), num_classes) or 2**63) - 1
    checked: Any = {
        "predicted": integer_column(state, "predicted", 0, highest),
        "classes": integer_column(state, "classes", -1, highest),
        "scores": score_column(state, "scores"),
        "predictions_width": width,
        **_checked_thresholds(state, thresholds),
        **checked_bits(state, significant_bits),
    }
    if "counts" in state:
        checked["counts"] = count_column(state)
    check_rows({name: column for name, column in checked.items() if column.ndim})
    return checked


def open_set_state(
    predictions: Any,
    references: Any,
    open_scores: Any,
    open_labels: Any = None,
    *,
    num_classes: int | None = None,
    thresholds: np.ndarray | None = None,
) -> OpenSetState:
    """The state of a batch: see `OpenF.reduce`; scores are rounded up to the thresholds, if any."""
    predictions, references = as_matrix(predictions, "predictions"), as_array(references, "references")
    check_orientation(predictions, references)
    labels, scores = as_labels(references, "references"), as_scores(open_scores, "open_scores", narrow=True)
    unknown = None if open_labels is None else as_flags(open_labels, "open_labels")
    check_lengths(predictions=predictions, references=labels, open_scores=scores, open_labels=unknown)
    predictions, labels, scores = on_one_device(predictions, labels, scores)
    if unknown is not None:
        xp, unknown = array_namespace(labels), on_device(unknown, labels)
        if bool(xp.any(~unknown & (labels < 0))):
            raise ValueError(
                f"references: expected a class id of at least 0 where open_labels says known, got {int(xp.min(labels))}"
            )
    classes = _as_classes(labels, unknown)
    predicted, width = predicted_classes(predictions)
    limit = _given_classes(width, num_classes)
    if limit is not None:
        check_class_ids(classes, "references", limit)
        check_class_ids(predicted, "predictions", limit)
    width_of = np.asarray(width)
    state: OpenSetState = {"predicted": predicted, "classes": classes, "scores": scores, "predictions_width": width_of}
    if thresholds is None:
        return state
    return {**state, "scores": rounded_up(scores, np.unique(thresholds)), "thresholds": as_text(thresholds)}


def _as_classes(labels: Array, unknown: Array | None) -> Array:
    """True classes, −1 for unknown samples, which by default have negative labels.

    Of NumPy arrays as int32 where it holds them, in half the memory.
    """
    xp = array_namespace(labels)
    unknown = labels < 0 if unknown is None else unknown
    if not isinstance(labels, np.ndarray) or int(labels.max(initial=0)) > np.iinfo(np.int32).max:
        return xp.where(unknown, -1, labels)
    # all bits of −1 are set; a choice by a mask takes several times as long
    return labels.astype(np.int32) | -unknown.astype(np.int32)


def predicted_classes(predictions: Array) -> tuple[Array, int]:
    """Return the predicted class of every sample, and the number of classes if it is known.

    Returns the first of the highest of (N, C) scores, and C; or the (N,) class ids themselves, and 0.
    Raises ValueError for NaN, negative ids and other shapes.
    """
    if predictions.ndim == 2 and predictions.shape[1] > 1:
        highest = []
        for rows, block in row_blocks(predictions, "predictions"):
            check_no_nan(block, "predictions", rows.start)
            highest.append(array_namespace(block).argmax(block, axis=1))
        return concatenate(highest), predictions.shape[1]
    if predictions.ndim != 1:
        raise ValueError(
            f"predictions: expected (N, C) scores with C > 1 or (N,) class ids, got shape {tuple(predictions.shape)}"
        )
    ids = as_labels(predictions, "predictions")
    check_not_negative(ids, "predictions")
    return ids, 0


def _given_classes(width: int, num_classes: int | None) -> int | None:
    """The number of classes, if columns or the option determine it; they must agree."""
    if num_classes is None:
        return width or None
    if width and num_classes != width:
        raise ValueError(f"num_classes: expected {width}, the number of columns of predictions, got {num_classes}")
    return num_classes


def count_classes(state: OpenSetState, num_classes: int | None = None) -> int:
    """Number of known classes C of a state: the score columns, else `num_classes`, else one more than the largest id.

    Returns an int of at least 1. Raises ValueError if a class id reaches C, and for another number of columns.
    """
    total = _given_classes(int(state["predictions_width"]), num_classes)
    if total is None:
        xp = array_namespace(state["classes"])
        return 1 + max(int(xp.max(ids)) for ids in (state["predicted"], state["classes"]))
    check_class_ids(state["classes"], "references", total)
    check_class_ids(state["predicted"], "predictions", total)
    return total


def known_unknown_state(
    open_set_pred_known: Any, open_set_pred_unknown: Any, close_set_pred_class: Any, close_set_labels: Any
) -> OpenSetState:
    """The state of XCurve's four arrays, the known samples first.

    Parameters: open_set_pred_known (N_k,) and open_set_pred_unknown (N_u,), open-set scores of the known and of the
    unknown samples, higher is more unknown; close_set_pred_class and close_set_labels (N_k,), the classes predicted
    for the known samples, and their true ones.
    Returns a state with the class 0 for all known samples, and predicted 1 for the wrong ones.
    Raises ValueError for NaN, lengths that differ and negative ids.
    """
    known = as_scores(open_set_pred_known, "open_set_pred_known", narrow=True)
    unknown = as_scores(open_set_pred_unknown, "open_set_pred_unknown", narrow=True)
    predicted = as_labels(close_set_pred_class, "close_set_pred_class")
    labels = as_labels(close_set_labels, "close_set_labels")
    check_lengths(open_set_pred_known=known, close_set_pred_class=predicted, close_set_labels=labels)
    scores = concatenate([known, unknown])
    known, unknown, predicted, labels = on_one_device(known, unknown, predicted, labels)
    check_not_negative(predicted, "close_set_pred_class")
    check_not_negative(labels, "close_set_labels")
    xp = array_namespace(unknown, predicted, labels)
    wrong = xp.astype(predicted != labels, xp.int8)
    return {
        "predicted": xp.concat([wrong, xp.zeros_like(unknown, dtype=xp.int8)]),
        "classes": xp.concat([xp.zeros_like(wrong), xp.full_like(unknown, -1, dtype=xp.int8)]),
        "scores": scores,
        "predictions_width": np.asarray(0),
    }


def of_openauc(state: OpenSetState, bits: int | None) -> OpenSetState:
    """The part of a state that OpenAUC uses: whether samples are known, and correctly classified; scores are cut.

    The class of a known sample is 0, and its predicted class is 0 if the prediction is right and 1 if it is wrong.
    """
    xp = array_namespace(state["classes"])
    wrong = (state["predicted"] != state["classes"]) & (state["classes"] >= 0)
    kinds: Any = {"predicted": xp.astype(wrong, xp.int8), "classes": -xp.astype(state["classes"] < 0, xp.int8)}
    reduced: Any = {**state, **kinds}
    if bits is None:
        return reduced
    reduced |= {"scores": cut(state["scores"], bits), "significant_bits": np.asarray(bits)}
    return reduced
