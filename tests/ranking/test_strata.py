"""The rows that resamples draw from: each sample counted at its own score, or at the quantile above it."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import pytest

from openworld_metrics.ranking.counts import Side
from openworld_metrics.ranking.strata import rows_of_sides


def slow_rows(strata: list[list[float]], most: int) -> list[tuple[list[float], list[int]]]:
    """Sample by sample."""
    distinct = [sorted(set(scores)) for scores in strata]
    if max(map(len, distinct)) > most:
        edges = set[float]()
        for scores, few in zip(strata, distinct):
            ascending, number = sorted(scores), len(scores)
            quantiles = [ascending[k * number // most - 1] for k in range(1, most + 1)] if len(few) > most else few
            edges |= {*quantiles}
        distinct = [sorted(edges)] * len(strata)
    rows = []
    for scores, few in zip(strata, distinct):
        counts = [0] * len(few)
        for score in scores:
            counts[bisect_left(few, score)] += 1
        rows.append((few, counts))
    return rows


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_those_of_a_count_sample_by_sample(seed: int) -> None:
    rng = np.random.default_rng(seed)
    strata, sides = [], []
    for length in rng.integers(0, 300, 3).tolist():
        dtype = np.float32 if rng.random() < 0.5 else np.float64
        scores = np.sort(rng.normal(size=length).round(int(rng.integers(0, 3))).astype(dtype))  # −0.0 and ties
        counts = rng.integers(1, 5, length)
        with_counts = rng.random() < 0.5
        sides.append(Side(scores, np.append(0, np.cumsum(counts)) if with_counts else None))
        strata.append(np.repeat(scores, counts if with_counts else 1).tolist())
    for most in (1, 7, 50, 1000):
        rows = rows_of_sides(*sides, most=most)
        assert [(each.scores.tolist(), each.counts.tolist()) for each in rows] == slow_rows(strata, most)
        assert not any(np.signbit(each.scores[each.scores == 0]).any() for each in rows)
        assert all(each.counts.dtype == np.int64 for each in rows)
