"""Scores by rank, and sums, of more scores than memory holds: equal to those of sorted and of exact numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics.arrays.exact import Sums
from openworld_metrics.ranking.guarantees import highest_by_rank
from tests.examples import many, seeds


def chunks(rng: np.random.Generator, *, finite: bool = False) -> list[np.ndarray]:
    """Scores of both types and of very different sizes, with ties, zeros of both signs and infinities."""
    found = []
    for _ in range(rng.integers(1, 6)):
        dtype = rng.choice(["float32", "float64"]) if rng.random() < 0.5 else "float32"
        values = rng.normal(size=(rng.integers(1, 4), rng.integers(1, 9))) * 10.0 ** rng.integers(-40, 38)
        values = np.where(rng.random(values.shape) < 0.3, np.round(values), values).astype(dtype)
        values[rng.random(values.shape) < 0.1] = rng.choice([0.0, -0.0, 1.0, *([] if finite else [np.inf, -np.inf])])
        found.append(values)
    return found


@many
@given(seed=seeds)
def test_every_rank(seed: int) -> None:
    maps = chunks(np.random.default_rng(seed))
    ordered = sorted((float(score) for each in maps for score in each.reshape(-1)), reverse=True)
    assert [highest_by_rank(maps, lambda _, k=k: k) for k in range(len(ordered))] == ordered
    assert highest_by_rank(maps, lambda total: total - 1) == ordered[-1]


def test_no_scores() -> None:
    with pytest.raises(ValueError, match="scores: expected at least one, got none"):
        highest_by_rank([], lambda _: 0)


@many
@given(seed=seeds)
def test_sums_are_exact(seed: int) -> None:
    maps = chunks(np.random.default_rng(seed), finite=True)
    values = [Fraction(float(x)) for each in maps for x in each.reshape(-1)]
    sums = Sums()
    for each in maps:
        sums = sums.plus(each)
    assert sums == (len(values), sum(values), sum(x * x for x in values))


def test_sums_of_the_largest_and_the_smallest_floats() -> None:
    values = np.asarray([np.finfo(np.float64).max, 5e-324, -np.finfo(np.float64).max, 2.0**-1022])
    exact = [Fraction(x) for x in values.tolist()]
    assert Sums().plus(values) == (4, sum(exact), sum(x * x for x in exact))
