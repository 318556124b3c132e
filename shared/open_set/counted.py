"""Open-set F-scores at given thresholds, from counts by class and threshold.

How many samples of each class are accepted at each threshold, and how many of them correctly, are integers that add
up over any number of parts of the data. They give the F-scores of open_f.py to the bit.
"""

from __future__ import annotations

import numpy as np

from .open_f import exact_macro_f, first_best
from .sweep import fixed_ratio, macro_f, macro_scale, micro_f


def macro_open_f_of_counts(
    hits: np.ndarray, accepted: np.ndarray, samples: np.ndarray, num_classes: int, thresholds: np.ndarray
) -> tuple[float, float, list[float]]:
    """Macro open-set F-score of `macro_open_f` at T thresholds, from counts of the K classes that occur.

    Parameters: hits (T, K), samples accepted and predicted correctly; accepted (T, K), samples accepted and predicted
    as the class; samples (K,), those of each known class; num_classes, the number C ≥ K of known classes; thresholds
    (T,).
    Returns (best F, first threshold that attains it, F per threshold).

    >>> macro_open_f_of_counts(np.asarray([[1, 0]]), np.asarray([[1, 1]]), np.asarray([1, 1]), 2, np.asarray([0.5]))
    (0.5, 0.5, [0.5])
    """
    scale = macro_scale(max(1, int(np.count_nonzero(samples))))
    precision = fixed_ratio(hits, accepted, scale).sum(axis=1)
    recall = fixed_ratio(hits, samples, scale).sum(axis=1)
    f = macro_f(precision, recall, num_classes, scale)
    best = first_best(f, lambda t: exact_macro_f(hits[t], accepted[t], samples))
    return float(f[best]), float(thresholds[best]), f.tolist()


def micro_open_f_of_counts(
    hits: np.ndarray, accepted: np.ndarray, samples: np.ndarray, thresholds: np.ndarray
) -> tuple[float, float, list[float]]:
    """Micro open-set F-score of `micro_open_f`, from the same counts.

    >>> micro_open_f_of_counts(np.asarray([[1, 0]]), np.asarray([[1, 1]]), np.asarray([2, 1]), np.asarray([0.5]))
    (0.4, 0.5, [0.4])
    """
    f = micro_f(hits.sum(axis=1), accepted.sum(axis=1), int(samples.sum()))
    best = first_best(f, None)
    return float(f[best]), float(thresholds[best]), f.tolist()
