"""Scores computed from logits where no column holds scores: each score is a detector, to compare with the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import scores
from ..columns.samples import is_score
from ..reading.data import Data
from ..reading.names import num_dimensions, plain, runs

_OF_LOGITS = {"msp": scores.msp, "max logit": scores.max_logit, "energy": scores.energy, "entropy": scores.entropy}
_OF_PROBABILITIES = ("msp", "entropy")  # the other two need the logits themselves


def with_scores_of_logits(sources: Sequence[Data]) -> list[Data]:
    """The data, with open-set scores of their only matrix (N, C ≥ 2) of logits if no array could be a score.

    They are called "msp of logits" and so on, after the matrix. Rows of probabilities p give only the scores that do
    not need logits, computed from log p, since softmax(log p) = p.

    >>> (data,) = with_scores_of_logits([Data({"logits": np.asarray([[2.0, 0.0], [0.0, -1.0]]), "labels": [0, 1]})])
    >>> [*data.arrays][2:]
    ['msp of logits', 'max logit of logits', 'energy of logits', 'entropy of logits']
    """
    data = sources[0]
    matrix = _only_matrix(data)
    numbered = {name for names in runs(data).values() for name in names}
    flat = (array for name, array in data.arrays.items() if name not in numbered and num_dimensions(array) == 1)
    if matrix is None or any(is_score(np.asarray(array)) for array in flat):
        return [*sources]
    name, logits = matrix
    likely = bool(np.all(logits >= 0) and np.allclose(logits.sum(axis=1), 1, atol=1e-3))
    with np.errstate(divide="ignore"):
        logits = np.log(logits) if likely else logits
    kinds = _OF_PROBABILITIES if likely else [*_OF_LOGITS]
    try:
        columns = {f"{kind} of {name}": np.asarray(_OF_LOGITS[kind](logits)) for kind in kinds}
    except (ValueError, TypeError):  # NaN, or a matrix of something else
        return [*sources]
    return [data._replace(arrays={**data.arrays, **columns}), *sources[1:]]


_OF_CLASSES = ("logit", "prob", "class", "softmax", "output", "pred")  # in the names of columns, one for each class


def _only_matrix(data: Data) -> tuple[str, np.ndarray] | None:
    """The name and values of the only matrix of floats, or the only run of numbered columns of floats."""
    matrices = {name: array for name, array in data.arrays.items() if num_dimensions(array) == 2}
    for names in runs(data).values():
        if not any(word in plain(names[0]) for word in _OF_CLASSES):  # such as s1 and s2, two detectors
            continue
        matrices[names[0].rstrip("0123456789_ ")] = np.column_stack([data.arrays[name] for name in names])
    floats = {name: np.asarray(array) for name, array in matrices.items() if np.asarray(array).dtype.kind == "f"}
    if len(floats) != 1:
        return None
    ((name, matrix),) = floats.items()
    return (name, matrix) if matrix.shape[1] >= 2 else None
