"""Top-k metrics from the rank of the true class.

One pass over the scores counts, for every sample, how many other classes score above the true class and how many
tie with it. Every top-k quantity follows from these two integers, for every k at once; nothing is sorted.

The pass is a compiled loop for large matrices where numba is installed, else it runs over blocks of rows that fit the
cache; either takes a fraction of what sorting or partial sorting of each row takes (see `_compiled.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import (
    Array,
    State,
    array_namespace,
    as_array,
    bfloat16_bits,
    is_floating,
    is_numpy_array,
    on_one_device,
    row_blocks,
    widen,
)
from ._columns import (
    as_labels,
    as_matrix,
    check_class_ids,
    check_lengths,
    check_no_nan,
    check_not_negative,
    check_orientation,
)
from ._compiled import row_ranks, row_ranks_bfloat16, worth_compiling
from ._options import as_bool, as_choice

TIES = ("strict", "optimistic", "expected")


def true_class_ranks(scores: Array, labels: Array) -> tuple[Array, Array, Array]:
    """Count the classes that score above, and that tie with, the true class of every sample.

    above_i = |{c : s_ic > s_i,y_i}|,  tied_i = |{c ≠ y_i : s_ic = s_i,y_i}|

    Parameters: scores (N, C), real, higher is more likely; labels (N,) class ids in [0, C).
    Returns `above` and `tied`, (N,) integers, and `correct`, (N,) booleans: whether the true class is the first of
    the highest scores, which is what argmax predicts.
    Raises ValueError for NaN scores, and for labels out of range.

    >>> import numpy as np
    >>> above, tied, correct = true_class_ranks(np.asarray([[0.1, 0.7, 0.7], [0.5, 0.3, 0.2]]), np.asarray([2, 0]))
    >>> above.tolist(), tied.tolist(), correct.tolist()
    ([0, 0], [1, 0], [False, True])
    """
    check_class_ids(labels, "labels", scores.shape[1])
    check_not_negative(labels, "labels")
    return _ranks(scores, labels)


def _ranks(scores: Array, labels: Array) -> tuple[Array, Array, Array]:
    """As `true_class_ranks`, for labels known to be in range."""
    work = math.prod(scores.shape)
    bits = bfloat16_bits(scores)
    loop = None if bits is None else worth_compiling(row_ranks_bfloat16, work, labels)
    if bits is not None and loop is not None:
        above, tied = np.empty((2, len(labels)), np.int32)
        row = loop(bits, labels, above, tied)
        if row < 0:
            return above, tied, _argmax_is_right(scores, labels, above, tied)
    loop = worth_compiling(row_ranks, work, labels)
    # a compiled loop takes the matrix as it is; NumPy takes blocks that fit the cache
    whole = loop is not None and is_numpy_array(scores) and scores.dtype in (np.float32, np.float64)
    cut = [(slice(0, len(labels)), scores)] if whole else row_blocks(scores, "predictions")
    blocks = [_block_ranks(block, labels[rows], rows.start, loop) for rows, block in cut]
    if len(blocks) == 1:
        return blocks[0]
    above, tied, correct = (array_namespace(labels).concat(parts) for parts in zip(*blocks))
    return above, tied, correct


def _block_ranks(
    scores: Array, labels: Array, start: int, loop: Callable[..., int] | None
) -> tuple[Array, Array, Array]:
    xp = array_namespace(scores)
    if loop is not None:
        above, tied = np.empty((2, len(labels)), np.int32)
        if loop(scores, labels, above, tied) >= 0:
            check_no_nan(scores, "predictions", start)
    else:
        check_no_nan(scores, "predictions", start)
        true_scores = xp.take_along_axis(scores, labels[:, None], axis=1)
        above = xp.astype(xp.count_nonzero(scores > true_scores, axis=1), xp.int32)
        tied = xp.astype(xp.count_nonzero(scores == true_scores, axis=1) - 1, xp.int32)
    return above, tied, _argmax_is_right(scores, labels, above, tied)


def _argmax_is_right(scores: Array, labels: Array, above: Array, tied: Array) -> Array:
    """Whether the true class is the first of the highest scores; only rows with ties there need a look."""
    xp = array_namespace(labels)
    correct = above == 0
    contested = xp.nonzero(correct & (tied > 0))[0]
    if contested.shape[0]:
        highest = as_array(widen(scores[contested]), "predictions")
        correct[contested] = xp.argmax(highest, axis=1) == labels[contested]
    return correct


def listed_ranks(predictions: Array, labels: Array) -> Array:
    """Count the guesses that come before the true class in rows of class ids ranked best first; K if it is absent.

    Parameters: predictions (N, K) class ids; labels (N,) class ids. Returns (N,) integers in [0, K].

    >>> import numpy as np
    >>> listed_ranks(np.asarray([[0, 7, 1], [4, 2, 9]]), np.asarray([7, 5])).tolist()
    [1, 3]
    """
    xp = array_namespace(predictions)
    hits = predictions == labels[:, None]
    position = xp.argmax(xp.astype(hits, xp.int8), axis=1)
    return xp.astype(xp.where(xp.any(hits, axis=1), position, predictions.shape[1]), xp.int32)


def reduce_topk_scores(predictions: Any, references: Any, *, ignore_unknown: bool = False) -> State:
    """As `reduce_topk`, of (N, C) scores only: class ids are a ValueError."""
    predictions = as_matrix(predictions, "predictions")
    if predictions.ndim == 2 and not is_floating(predictions):
        raise ValueError(f"predictions: expected (N, C) floating scores, got {predictions.dtype} class ids")
    return reduce_topk(predictions, references, ignore_unknown=ignore_unknown)


def reduce_topk(predictions: Any, references: Any, *, ignore_unknown: bool = False) -> State:
    """Reduce a batch of (N, C) scores or (N, K) class ids to the ranks of the true classes.

    Parameters: predictions, real scores, higher is more likely, or ids, the best guess first; references (N,) class
    ids. A sample whose reference is negative is unknown: with `ignore_unknown` its `above` is −1, otherwise it is an
    error.
    Returns (N,) arrays `above`, `tied` and `correct` (the argmax is right; for ids: the class is in the row), and
    the scalars `predictions_width` (C or K) and `predictions_are_scores` (whether the rows are scores rather than ids).
    Raises ValueError for NaN, lengths and shapes that do not fit, classes out of range, swapped columns.
    """
    predictions, references = as_matrix(predictions, "predictions"), as_array(references, "references")
    check_orientation(predictions, references)
    labels = as_labels(references, "references")
    if predictions.ndim != 2:
        hint = "; pass predictions[:, None] for one guess per sample" if predictions.ndim == 1 else ""
        raise ValueError(
            f"predictions: expected (N, C) scores or (N, K) class ids, got shape {tuple(predictions.shape)}{hint}"
        )
    check_lengths(predictions=predictions, references=labels)
    predictions, labels = on_one_device(predictions, labels)
    width, scored = predictions.shape[1], is_floating(predictions)
    if width == 0:
        raise ValueError("predictions: expected at least one column, got shape (N, 0)")
    if not as_bool(ignore_unknown, "ignore_unknown"):
        check_not_negative(labels, "references", "; ignore_unknown=True leaves unknown samples out")
    xp = array_namespace(labels)
    if scored:
        check_class_ids(labels, "references", width)
        above, tied, correct = _ranks(predictions, xp.clip(labels, 0, None) if ignore_unknown else labels)
    else:
        above = listed_ranks(predictions, labels)
        tied, correct = xp.zeros_like(above), above < width
    if ignore_unknown:
        above[labels < 0] = -1
    return {
        "above": above,
        "tied": tied,
        "correct": correct,
        "predictions_width": np.asarray(width),
        "predictions_are_scores": np.asarray(scored),
    }


def known_ranks(state: State, *, ignore_unknown: bool = False) -> tuple[Array, Array, Array]:
    """Return `above`, `tied` and `correct` of the known samples of a state.

    Raises ValueError if there are none, or if there are unknown ones and `ignore_unknown` is false.
    """
    known = state["above"] >= 0
    xp = array_namespace(known)
    if not bool(xp.any(known)):
        raise ValueError("references: expected at least one known sample (a class id of at least 0), got none")
    if not as_bool(ignore_unknown, "ignore_unknown") and not bool(xp.all(known)):
        raise ValueError("references: unknown samples were added under ignore_unknown=True; it is now False")
    return state["above"][known], state["tied"][known], state["correct"][known]


def accuracy(correct: Array, *, percent: bool = False, counts: Array | None = None) -> float:
    """Share of correct samples, (N,) booleans, in [0, 1], or in [0, 100] with `percent`.

    counts (N,) says how many samples each entry stands for; by default one.

    >>> import numpy as np
    >>> accuracy(np.asarray([True, False, True, True]))
    0.75
    """
    return _full_scale(percent) * _sum(correct, counts) / _num_samples(correct, counts)


def topk_accuracy(
    above: Array, tied: Array, k: int, *, ties: str = "strict", percent: bool = False, counts: Array | None = None
) -> float:
    """Top-k accuracy: the share of samples whose true class is among the k highest scores.

    strict:      [s_y > s_(k+1)], the true class must beat the (k+1)-th score: above + tied < k
    optimistic:  [s_y ≥ s_(k)], ties are decided in its favour: above < k
    expected:    the chance of a hit when ties are broken at random

    Parameters: above, tied (N,) from `true_class_ranks`; k ≥ 1; counts (N,), how many samples each entry stands
    for, by default one. Returns a float in [0, 1], or in [0, 100] with `percent`.
    Raises ValueError for an unknown `ties`.
    Source: Lapin, Hein and Schiele, Top-k Multiclass SVM, NeurIPS 2015; the strict form is that of Wang et al.,
    Optimizing Partial Area Under the Top-k Curve, T-PAMI 2023.

    >>> import numpy as np
    >>> above, tied = np.asarray([0, 0, 2]), np.asarray([0, 2, 0])
    >>> topk_accuracy(above, tied, 2), topk_accuracy(above, tied, 2, ties="optimistic")
    (0.3333333333333333, 0.6666666666666666)
    """
    return _mean_hits(above, tied, range(k, k + 1), ties, percent, counts)


def autkc(
    above: Array, tied: Array, k: int, *, ties: str = "strict", percent: bool = False, counts: Array | None = None
) -> float:
    """AUTKC@K, the area under the top-k curve: the mean of the top-1 to top-K accuracies.

    AUTKC@K = 1/(N·K) Σ_i Σ_{k=1..K} [s_i,y > s_i,(k+1)],  s_(C+1) = −∞

    Parameters: above, tied (N,) from `true_class_ranks`; k is K ≥ 1; counts (N,), how many samples each entry
    stands for, by default one. Returns a float in [0, 1], or in [0, 100] with `percent`.
    Raises ValueError for an unknown `ties`.
    Source: Wang et al., Optimizing Partial Area Under the Top-k Curve, T-PAMI 2023.

    >>> import numpy as np
    >>> autkc(np.asarray([0, 2]), np.asarray([0, 0]), 3)
    0.6666666666666666
    """
    return _mean_hits(above, tied, range(1, k + 1), ties, percent, counts)


def _mean_hits(above: Array, tied: Array, ks: range, ties: str, percent: bool, counts: Array | None) -> float:
    """Mean over the samples and over consecutive `ks` of the chance that the true class is among the top k.

    Hits are counted in integers, apart for each number of ties where the chance is a fraction of them.
    """
    as_choice(ties, "ties", TIES)
    xp = array_namespace(above, tied)
    total, one = _num_samples(above, counts) * len(ks), _full_scale(percent)
    above, tied = xp.astype(above, xp.int64), xp.astype(tied, xp.int64)
    if ties != "expected":
        needed = above + tied if ties == "strict" else above  # a hit at every k > needed
        return one * _sum(xp.clip(ks[-1] - needed, 0, len(ks)), counts) / total
    # of the tied + 1 places that the true class may take, those among the top k
    places = sum(xp.clip(k - above, 0, None) - xp.clip(k - above - tied - 1, 0, None) for k in ks)
    places = places if counts is None else places * counts
    hits = [(_sum(places[tied == count]), count + 1) for count in map(int, xp.unique_values(tied))]
    return math.fsum(one * good / possible for good, possible in hits) / total


def _sum(values: Array, counts: Array | None = None) -> int:
    """Sum of integers or flags, each `counts` times."""
    xp = array_namespace(values)
    values = xp.astype(values, xp.int64)
    return int(xp.sum(values if counts is None else values * counts))


def _num_samples(entries: Array, counts: Array | None) -> int:
    return entries.shape[0] if counts is None else _sum(counts)


def _full_scale(percent: bool) -> int:
    return 100 if as_bool(percent, "percent") else 1
