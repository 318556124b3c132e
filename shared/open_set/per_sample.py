"""What became of each sample of an open-set problem, where it is called unknown by its score."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..ranking.per_sample import check_samples, sample_table
from .samples import OpenSetState


def open_set_samples(state: OpenSetState, threshold: float, *, reached: bool) -> dict[str, list[Any]]:
    """What became of each sample at a threshold: see `sample_table`.

    Parameters: state of `reduce_open_set` or `reduce_openauc`; threshold of the scores; reached, whether a sample that
    scores the threshold itself is called unknown.
    Raises ValueError for a state whose rows are not samples.
    """
    check_samples(state)
    # in float64: a float32 score must not round the threshold to its own precision
    scores = to_numpy(state["scores"]).astype(np.float64)
    called = scores >= threshold if reached else scores > threshold
    return sample_table(scores, state["classes"] < 0, called, state["predicted"] == state["classes"])


def open_f_samples(state: OpenSetState, threshold: float) -> dict[str, list[Any]]:
    """As `open_set_samples`, of samples that are accepted when their score ≤ threshold, with their classes.

    Returns besides "true_class", −1 for unknown, and "predicted_class", whatever the score.
    """
    classes = {"true_class": "classes", "predicted_class": "predicted"}
    columns: Any = {name: to_numpy(state[column]).tolist() for name, column in classes.items()}  # type: ignore[literal-required]
    return {**open_set_samples(state, threshold, reached=False), **columns}
