"""Top-k metrics from the rank of the true class: a batch is reduced to a few integers per sample.

Every top-k quantity follows from how many classes score above the true one, and how many tie with it, for every k at
once (see ranks.py); the true class itself is kept for means over the classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ..arrays.arrays import MAX_EXACT, Array, array_namespace, as_array, device_of, is_floating, on_one_device
from ..arrays.columns import (
    as_labels,
    as_matrix,
    check_class_ids,
    check_lengths,
    check_not_negative,
    check_orientation,
)
from ..arrays.options import as_bool
from ..arrays.states import check_arrays, check_rows, count_column, flag_column, integer_column, integer_scalar
from .ranks import listed_ranks, ranks_if_in_range, true_class_ranks

if TYPE_CHECKING:
    from typing_extensions import NotRequired

TOPK_ALIASES = {"y_pred": "predictions", "preds": "predictions", "y_true": "references", "labels": "references"}
# rows in the order of their classes, so that sums by class need no sorting
TOPK_TABLES = {"counts": ("classes", "above", "tied", "correct")}


class TopkState(TypedDict):
    """The true classes and their ranks.

    above: (N,) classes that score above the true one; for ids the guesses before it; −1 for an unknown sample
    tied: (N,) other classes that tie with it
    correct: (N,) whether the argmax is right; for ids, whether the class is in the row
    classes: (N,) the true class; −1 for an unknown sample
    predictions_width: C scores, or K ids
    predictions_are_scores: whether the rows are scores rather than ids
    counts: (N,) how many samples each entry stands for; absent, one each
    """

    above: Array
    tied: Array
    correct: Array
    classes: Array
    predictions_width: np.ndarray
    predictions_are_scores: np.ndarray
    counts: NotRequired[Array]


def as_topk_state(state: Mapping[str, Any], *, ignore_unknown: bool) -> TopkState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `reduce_topk` cannot return."""
    check_arrays(state, [*TopkState.__annotations__], ["counts"])
    width = integer_scalar(state, "predictions_width", 1, MAX_EXACT)
    scored = np.asarray(integer_scalar(state, "predictions_are_scores", 0, 1) == 1)
    lowest, highest = -1 if ignore_unknown else 0, min(int(width), np.iinfo(np.int32).max)
    greatest, class_type = (highest - 1, np.int32) if scored else (np.iinfo(np.int64).max, np.int64)
    checked: TopkState = {
        "above": integer_column(state, "above", lowest, highest, np.int32),
        "tied": integer_column(state, "tied", 0, highest - 1, np.int32),
        "correct": flag_column(state, "correct"),
        "classes": integer_column(state, "classes", lowest, greatest, class_type),
        "predictions_width": width,
        "predictions_are_scores": scored,
    }
    if "counts" in state:
        checked["counts"] = count_column(state)
    check_rows({name: column for name, column in checked.items() if not name.startswith("predictions")})
    above, tied, correct = checked["above"], checked["tied"], checked["correct"]
    if ((above < 0) != (checked["classes"] < 0)).any():
        raise ValueError("state: expected the same samples to be unknown in `above` and in `classes`, got others")
    if checked["predictions_are_scores"]:
        possible = np.where(correct, above <= 0, (above != 0) | (tied != 0))
    else:
        possible = (correct == (above < width)) & (tied == 0)
    if not (possible | (above < 0)).all():
        raise ValueError("state: expected `correct` to be what the ranks say, got another")
    if checked["predictions_are_scores"] and len(checked["above"]):
        places = int((checked["above"].astype(np.int64) + checked["tied"]).max())
        if places >= width:
            raise ValueError(f"state: expected ranks below {width}, the number of scores, got {places}")
    return checked


def topk_scores_state(predictions: Any, references: Any, *, ignore_unknown: bool) -> TopkState:
    """The state of a batch of scores: see `reduce_topk_scores`."""
    predictions = as_matrix(predictions, "predictions")
    if predictions.ndim == 2 and not is_floating(predictions):
        dtype = str(predictions.dtype).removeprefix("torch.")
        raise ValueError(f"predictions: expected (N, C) floating scores, got {dtype} class ids")
    return topk_state(predictions, references, ignore_unknown=ignore_unknown)


def topk_state(predictions: Any, references: Any, *, ignore_unknown: bool) -> TopkState:
    """The state of a batch: see `reduce_topk`."""
    predictions, references = as_matrix(predictions, "predictions"), as_array(references, "references")
    check_orientation(predictions, references)
    labels = as_labels(references, "references")
    if predictions.ndim != 2:
        hint = "; pass predictions[:, None] for one guess per sample" if predictions.ndim == 1 else ""
        raise ValueError(
            f"predictions: expected (N, C) scores or (N, K) class ids, got shape {tuple(predictions.shape)}{hint}"
        )
    if len(predictions) != len(labels):
        check_lengths(predictions=predictions, references=labels)
    if device_of(predictions) != device_of(labels):
        predictions, labels = on_one_device(predictions, labels)
    width, scored = predictions.shape[1], is_floating(predictions)
    if width == 0:
        raise ValueError("predictions: expected at least one column, got shape (N, 0)")
    # most of the time that a small batch takes goes into calls, not into samples
    ranks = ranks_if_in_range(predictions, labels) if scored else None
    has_unknown = ranks is None and labels.shape[0] > 0 and int(labels.min()) < 0
    if not as_bool(ignore_unknown, "ignore_unknown") and has_unknown:
        check_not_negative(labels, "references", "; ignore_unknown=True leaves unknown samples out")
    xp = array_namespace(labels)
    if ranks is not None:
        above, tied, correct = ranks
    elif scored:
        check_class_ids(labels, "references", width)
        above, tied, correct = true_class_ranks(predictions, xp.clip(labels, 0, None))
    else:
        above = listed_ranks(predictions, labels)
        tied, correct = xp.zeros_like(above), above < width
    classes = xp.clip(labels, -1, None) if has_unknown else labels
    if has_unknown:
        above[labels < 0] = -1
    return {
        "above": above,
        "tied": tied,
        "correct": correct,
        "classes": xp.asarray(classes, dtype=xp.int32 if scored else xp.int64, copy=True),  # a column fits 32 bits
        "predictions_width": _scalar(width),
        "predictions_are_scores": _scalar(scored),
    }


@lru_cache(typed=True)
def _scalar(value: int) -> np.ndarray:
    """The read-only array of a scalar, shared by all states, so that a look at its identity shows that they agree."""
    scalar = np.asarray(value)
    scalar.setflags(write=False)
    return scalar
