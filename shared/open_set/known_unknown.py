"""Open-set recognition in two forms: a column for each quantity, or XCurve's arrays of known and of unknown samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays.arrays import array_namespace, concatenate, on_one_device
from ..arrays.columns import as_labels, as_scores, check_lengths, check_not_negative
from ..ranking.rounding import check_bits, cut
from .samples import OpenSetState, checked_open_set, open_set_state

SIDES_OF_XCURVE = frozenset(
    {"open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels"}  # N_k or N_u entries
)


def reduce_known_unknown(
    open_set_pred_known: Any, open_set_pred_unknown: Any, close_set_pred_class: Any, close_set_labels: Any
) -> OpenSetState:
    """Reduce XCurve's four arrays as `reduce_open_set` does its columns.

    Parameters: open_set_pred_known (N_k,) and open_set_pred_unknown (N_u,), open-set scores of the known and of the
    unknown samples, higher is more unknown; close_set_pred_class and close_set_labels (N_k,), the classes predicted
    for the known samples, and their true ones.
    Returns the state of `reduce_open_set`, the known samples first.
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
    xp = array_namespace(known, unknown, predicted, labels)
    return {
        "predicted": xp.concat([predicted, xp.zeros_like(unknown, dtype=xp.int64)]),
        "classes": xp.concat([labels, xp.full_like(unknown, -1, dtype=xp.int64)]),
        "scores": scores,
        "predictions_width": np.asarray(0),
    }


def openauc_state(
    predictions: Any = None,
    references: Any = None,
    open_scores: Any = None,
    open_labels: Any = None,
    open_set_pred_known: Any = None,
    open_set_pred_unknown: Any = None,
    close_set_pred_class: Any = None,
    close_set_labels: Any = None,
    *,
    significant_bits: int | None,
) -> OpenSetState:
    """The state of a batch: see `reduce_openauc`."""
    bits = check_bits(significant_bits)
    columns = {"predictions": predictions, "references": references, "open_scores": open_scores}
    arrays = (open_set_pred_known, open_set_pred_unknown, close_set_pred_class, close_set_labels)
    if all(array is None for array in arrays):
        missing = [name for name, column in columns.items() if column is None]
        if missing:
            raise TypeError(f"{missing[0]}: openauc needs the columns {', '.join(columns)}; got no {missing[0]}")
        samples = (predictions, references, open_scores, open_labels)
        return _of_openauc(open_set_state(*samples, num_classes=None, t_list=None, per_sample=False), bits)
    if any(column is not None for column in (*columns.values(), open_labels)):
        raise TypeError(
            "open_set_pred_known and its kin are given instead of predictions, references, open_scores and "
            "open_labels; got columns of both forms"
        )
    return _of_openauc(reduce_known_unknown(*arrays), bits)


def as_openauc_state(state: Mapping[str, Any], *, significant_bits: int | None) -> OpenSetState:
    """As `as_open_set_state`, for a state of `reduce_openauc`."""
    return _of_openauc(checked_open_set(state, None, None, significant_bits), None)


def _of_openauc(state: OpenSetState, bits: int | None) -> OpenSetState:
    """Keep the part of the samples that OpenAUC uses: whether they are known, and correctly classified."""
    xp = array_namespace(state["classes"])
    wrong = (state["predicted"] != state["classes"]) & (state["classes"] >= 0)
    kinds: Any = {"predicted": xp.astype(wrong, xp.int8), "classes": -xp.astype(state["classes"] < 0, xp.int8)}
    kept: Any = {**state, **kinds}
    if bits is None:
        return kept
    kept |= {"scores": cut(state["scores"], bits), "significant_bits": np.asarray(bits)}
    return kept
