"""Outcomes of samples in open-set recognition, at one threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..ranking.per_sample import check_samples, sample_table
from .samples import OpenSetState


def open_set_samples(state: OpenSetState, threshold: float) -> dict[str, list[Any]]:
    """The outcome of each sample at a threshold: see `sample_table`.

    Parameters: state of `reduce_open_set` or `reduce_openauc`; threshold, a sample being called unknown iff
    score > threshold.
    Raises ValueError unless the rows of the state are single samples.
    """
    check_samples(state)
    # in float64: a float32 score must not round the threshold to its own precision
    scores = to_numpy(state["scores"]).astype(np.float64)
    return sample_table(scores, state["classes"] < 0, scores > threshold, state["predicted"] == state["classes"])


def open_f_samples(state: OpenSetState, threshold: float) -> dict[str, list[Any]]:
    """As `open_set_samples`, of samples that are accepted when their score ≤ threshold, with their classes.

    Returns besides "true_class", −1 for unknown, and "predicted_class", whatever the score.
    """
    classes = {"true_class": "classes", "predicted_class": "predicted"}
    columns: Any = {name: to_numpy(state[column]).tolist() for name, column in classes.items()}  # type: ignore[literal-required]
    return {**open_set_samples(state, threshold), **columns}
