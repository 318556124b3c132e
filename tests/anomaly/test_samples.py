"""Samples of several images: hand-worked, against a plain loop, in batches and groups, resampled as one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite


def drawn(seed: int) -> tuple[dict[str, Any], np.random.Generator]:
    """Images of ten samples, one to four each, in any order."""
    rng = np.random.default_rng(seed)
    ids = rng.permutation(np.concatenate([np.arange(10), rng.integers(0, 10, 15)]))
    masks = np.zeros((25, 2, 3), int)
    masks[:, 0, 0] = (ids < 4) & (rng.random(25) < 0.7)
    masks[np.flatnonzero(ids == 0)[0], 0, 0] = 1
    maps = rng.integers(0, 9, masks.shape) / 8
    return {"predictions": maps, "references": masks, "samples": [f"S{i}" for i in ids.tolist()]}, rng


def test_a_resample_draws_samples() -> None:
    columns, rng = drawn(3)
    metric = AnomalySuite(levels="image")
    [part] = metric.prepared_parts(**columns)
    prepared = part.prepared
    assert len(prepared.counts) == 10
    assert sorted(prepared.rows()[prepared.rows() >= 0].tolist()) == [*range(10)]
    counts = rng.integers(0, 3, 10)
    names = np.asarray(columns["samples"])
    row_of = {names[i]: row for i, row in enumerate(prepared.rows().tolist()) if row >= 0}
    images, ids = [], []
    for copy in range(3):
        chosen = [i for i, name in enumerate(names) if counts[row_of[name]] > copy]
        images += chosen
        ids += [f"{names[i]} {copy}" for i in chosen]
    repeated = {"predictions": columns["predictions"][images], "references": columns["references"][images]}
    expected = metric.compute(**repeated, samples=ids)
    assert {key: rate.value for key, rate in prepared.rates(counts).items()} == {
        key: expected[key] for key in part.rates()
    }


MAPS: Any = dict(predictions=[[[0.1]], [[0.2]]], references=[[[0]], [[1]]])


@pytest.mark.parametrize(
    ("samples", "error", "message"),
    [
        (["a", None], ValueError, r"samples\[1\]: expected the id of a sample, got None"),
        (["a", float("nan")], ValueError, r"samples\[1\]: expected the id of a sample, got nan"),
        (["a", 0.5], TypeError, r"samples\[1\]: expected a string or an integer, got 0.5"),
        (["a"], ValueError, "one length, got 2 predictions, 1 samples"),
        ("ab", TypeError, "samples: expected a column of strings or integers, got str"),
        (
            ["a", "a"],
            ValueError,
            "expected anomalous and normal samples, got 1 anomalous and 0 normal; leave the column",
        ),
    ],
)
def test_what_is_refused(samples: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        AnomalySuite(levels="image").compute(**MAPS, samples=samples)


@pytest.mark.parametrize(
    ("groups", "words"), [(["y", None], "in group 'x' and in no"), (["y", "y"], "'x' and in group 'y'")]
)
def test_a_sample_lies_in_one_group(groups: list[str | None], words: str) -> None:
    metric = AnomalySuite(levels="image")
    metric.add_batch(**MAPS, samples=["a", "b"], groups=["x", "x"])
    metric.add_batch(**MAPS, samples=["c", "b"], groups=groups)
    with pytest.raises(
        ValueError, match=f"samples: .* all images of a sample in one group, got those of 'b' .*{words}"
    ):
        metric.compute()


def test_all_batches_have_samples_or_none() -> None:
    metric = AnomalySuite(levels="image")
    metric.add_batch(**MAPS, samples=["a", "b"])
    with pytest.raises(ValueError, match=r"expected a state of .*samples"):
        metric.add_batch(**MAPS)
