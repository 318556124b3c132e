"""A table with a row for each sample: its score, reference, decision and outcome.

Rows of a state are the samples in the order in which they were added, unless equal ones have been counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays.arrays import Array, to_numpy

SIDES = ("known", "unknown")
# as openset_detection says it of boxes; without classes, a known sample that is accepted was called known
RIGHT, WRONG_CLASS, CALLED_KNOWN, CALLED_UNKNOWN, UNKNOWN_CALLED_KNOWN, UNKNOWN_CALLED_UNKNOWN = SAMPLE_OUTCOMES = (
    "known, right class",
    "known, wrong class",
    "known, called known",
    "known, called unknown",
    "unknown, called known",
    "unknown, called unknown",
)


def check_samples(state: Mapping[str, Any]) -> None:
    """Raise ValueError unless the rows of a state are single samples with their original scores."""
    if "significant_bits" in state:
        raise ValueError("per_sample: expected no significant_bits, which keep no sample's score; got both")
    for name, done in (("thresholds", "scores were rounded up to t_list"), ("counts", "equal samples were counted")):
        if name in state:
            raise ValueError(f"per_sample: {done} as batches were added; give it at load, not at compute")


def sample_table(
    scores: Array, is_unknown: Array, called: np.ndarray, is_right: Array | None = None, samples: Array | None = None
) -> dict[str, list[Any]]:
    """The table of samples, with the outcome of each.

    Parameters: scores (N,); is_unknown (N,) booleans; called (N,) booleans, whether a sample is called unknown;
    is_right (N,), whether the class of a known sample is right, None without classes; samples (N,), their places in
    the order in which they were added, from 0, by default all.
    Returns {"sample", "score", "reference", "decision", "outcome"}, lists of one length: reference and decision are one
    of `SIDES`, outcome is one of `SAMPLE_OUTCOMES`.

    >>> table = sample_table(np.asarray([0.1, 0.9]), np.asarray([False, False]), np.asarray([False, True]))
    >>> table["outcome"]
    ['known, called known', 'known, called unknown']
    """
    unknown = to_numpy(is_unknown)
    places = np.arange(len(unknown)) if samples is None else to_numpy(samples)
    kinds: Any = CALLED_KNOWN if is_right is None else np.where(to_numpy(is_right), RIGHT, WRONG_CLASS)
    of_known = np.where(called, CALLED_UNKNOWN, kinds)
    of_unknown = np.where(called, UNKNOWN_CALLED_UNKNOWN, UNKNOWN_CALLED_KNOWN)
    return {
        "sample": places.tolist(),
        "score": (to_numpy(scores).astype(np.float64) + 0.0).tolist(),  # 0.0 for −0.0
        "reference": np.where(unknown, *SIDES[::-1]).tolist(),
        "decision": np.where(called, *SIDES[::-1]).tolist(),
        "outcome": np.where(unknown, of_unknown, of_known).tolist(),
    }
