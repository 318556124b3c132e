"""What is resampled for an interval, and the results of a resample.

A resample of samples is the same rows with other counts: so a metric has to say which rows those are, in an order that
does not depend on how they came, and what its results are where each occurs another number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Units(NamedTuple):
    """Samples or images that are resampled, in strata that keep their sizes.

    strata: for each stratum, (R,) int64, how many equal units each of its rows stands for, in a canonical order
    results: a function from as many arrays (R,), how many each row is to stand for instead (or none), to the results;
        of the strata themselves they are those of the state
    """

    strata: tuple[np.ndarray, ...]
    results: Callable[[Sequence[np.ndarray]], dict[str, Any]]
