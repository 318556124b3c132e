"""Areas summed over a few pixels at a time are those of all at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import openworld_metrics
from tests.examples import many, seeds


@many
@given(seed=seeds)
def test_areas_are_the_same_for_blocks_of_any_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, rng.integers(1, 6))
    scores, normal = (rng.integers(0, 9, n) / 8 for n in (sizes.sum(), 20))
    limits = (0.05, 0.3, 1.0)
    whole = openworld_metrics.aupro(scores, sizes, normal, limits)
    for pixels in (1, 2, 5, int(sizes.sum())):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("openworld_metrics.anomaly.aupro._PIXELS", pixels)
            assert openworld_metrics.aupro(scores, sizes, normal, limits) == whole


def test_a_limit_between_normal_pixels_at_the_score_of_a_region() -> None:
    scores, normal = np.asarray([0.9, 0.55, 0.2]), np.asarray([0.1, 0.5, 0.6, 0.7])
    assert openworld_metrics.aupro(scores, np.asarray([3]), normal, [0.5]) == [1 / 3]
