"""Void pixels of anomaly_suite: as if they were not there, except that they part regions."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import AnomalySuite
from tests import references
from tests.examples import many, seeds

NAMES = ("normal", "anomalous", "region_sizes", "num_normal", "num_regions", "image_scores", "image_labels")
Columns = dict[str, Any]


def drawn(seed: int, value: int = 255) -> tuple[Columns, np.random.Generator]:
    rng = np.random.default_rng(seed)
    maps = rng.integers(0, 9, (8, 5, 6)).astype(rng.choice(["float16", "float32", "float64"])) / 8
    masks = rng.choice([0, 0, 1, value], maps.shape)
    masks[4:][masks[4:] == 1] = 0
    masks[:, 0, 0], masks[:4, 4, 5] = 0, 1
    return {"predictions": maps, "references": masks}, rng


def slow(columns: Columns, value: int, reduction: str | int) -> Columns:
    """The state, pixel by pixel."""
    found: Columns = {name: [] for name in NAMES}
    for scores, mask in zip(columns["predictions"].astype(float), columns["references"]):
        regions = references.components((mask == 1).tolist())
        left = np.sort(scores[mask != value])
        found["normal"] += sorted(scores[mask == 0].tolist())
        found["anomalous"].append(sorted(sorted(scores[at] for at in region) for region in regions))
        found["num_normal"].append(int((mask == 0).sum()))
        found["num_regions"].append(len(regions))
        k = {"max": 1, "mean": len(left)}.get(str(reduction), reduction)
        found["image_scores"].append(left[-int(k) :].mean())
        found["image_labels"].append(bool((mask == 1).any()))
    return found


@many
@given(seed=seeds)
def test_the_state_against_a_count_of_each_pixel(seed: int) -> None:
    value = int(np.random.default_rng(seed).choice([255, 2, -1]))
    columns, _ = drawn(seed, value)
    reduction: Any = ["max", "mean", 1][seed % 3]
    metric = AnomalySuite(image_reduction=reduction, ignore_value=value)
    state = metric.reduce(**columns)
    expected = slow(columns, value, reduction)
    for name in ("num_normal", "num_regions", "image_labels"):
        assert state[name].tolist() == expected[name]
    assert state["image_scores"] == pytest.approx(expected["image_scores"], abs=1e-15)
    normal = np.split(state["normal"], np.cumsum(state["num_normal"]))
    assert [score for part in normal for score in np.sort(part).tolist()] == expected["normal"]
    regions = [np.sort(part).tolist() for part in np.split(state["anomalous"], np.cumsum(state["region_sizes"]))[:-1]]
    of_images = np.split(np.arange(len(regions)), np.cumsum(state["num_regions"]))[:-1]
    assert [sorted(regions[i] for i in own) for own in of_images] == expected["anomalous"]
    assert int(state["ignore_value"]) == value
    as_lists = {name: list(column) for name, column in columns.items()}
    again = metric.reduce(**as_lists)
    assert all(np.array_equal(state[name], again[name]) for name in NAMES)


@many
@given(seed=seeds)
def test_no_void_pixel_changes_nothing_and_its_score_neither(seed: int) -> None:
    columns, rng = drawn(seed)
    binary = {**columns, "references": columns["references"] % 255}
    without = AnomalySuite().compute(**binary)
    assert AnomalySuite(ignore_value=255).compute(**binary) == without
    with_void = AnomalySuite(ignore_value=255).compute(**columns)
    void = columns["references"] == 255
    other = columns["predictions"].copy()
    other[void] = rng.normal(size=int(void.sum())) * 100
    assert AnomalySuite(ignore_value=255).compute(**{**columns, "predictions": other}) == with_void
    metric = AnomalySuite(ignore_value=255)
    for part in np.array_split(rng.permutation(8), 3):
        metric.add_batch(**{name: column[part] for name, column in columns.items()})
    assert pickle.loads(pickle.dumps(metric)).compute() == with_void


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "float32"])
def test_types_of_masks(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    value = 100
    masks = np.asarray([[[1, 100, 1], [0, 100, 1]], [[0, 0, 0], [0, 0, 0]]], dtype)
    maps = np.arange(12.0).reshape(2, 2, 3)
    expected = AnomalySuite(ignore_value=value).reduce(maps, masks.astype(int))
    assert expected["region_sizes"].tolist() == [1, 2]
    for given_maps, given_masks in ((maps, masks), (torch.asarray(maps), torch.asarray(masks)), (maps, masks.tolist())):
        state = AnomalySuite(ignore_value=value).reduce(given_maps, given_masks)
        assert all(np.array_equal(np.asarray(state[name]), expected[name]) for name in NAMES)
    small = np.asarray([[[0, 1]]], np.uint8)
    for mask in (small, torch.asarray(small), small.astype(bool), torch.asarray(small.astype(bool))):
        assert AnomalySuite(ignore_value=-255).reduce([[[0.1, 0.2]]], mask)["anomalous"].tolist() == [0.2]
    with pytest.raises(ValueError, match="expected a mask of 0 and 1 or booleans, got 255"):
        AnomalySuite(ignore_value=-1).reduce([[[0.1, 0.2]]], np.asarray([[[0, 255]]], np.uint8))


def test_a_map_that_is_all_void() -> None:
    maps, masks = np.asarray([[[0.9, 0.2]], [[0.7, 0.8]]]), np.asarray([[[1, 0]], [[255, 255]]])
    given = dict(image_scores=[0.9, 0.4], image_labels=[1, 0])
    metric = AnomalySuite(ignore_value=255)
    state = metric.reduce(maps, masks, **given)
    assert (state["num_normal"].tolist(), state["num_regions"].tolist()) == ([1, 0], [1, 0])
    rates = metric.prepare(state).rates()
    assert rates["image_auroc"].value == rates["pixel_auroc"].value == 1.0
    for left_out in given:
        own = {name: column for name, column in given.items() if name != left_out}
        with pytest.raises(
            ValueError, match=r"references\[1\]: expected a pixel that is not void, .* give image_scores"
        ):
            metric.reduce(maps, masks, **own)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "ignore_value: expected an int other than 0 and 1, which are normal and anomalous, got 0"),
        (1, ValueError, "other than 0 and 1"),
        (2**40, ValueError, "ignore_value: expected an int of at least"),
        ("void", TypeError, "ignore_value: expected an int, got 'void'"),
        (255.0, TypeError, "ignore_value: expected an int, got 255.0"),
    ],
)
def test_values_that_are_none(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        AnomalySuite(ignore_value=value).compute(predictions=[[[0.1, 0.2]]], references=[[[0, 1]]])


def test_states_of_another_value_are_refused() -> None:
    columns, _ = drawn(0)
    metrics = {value: AnomalySuite(ignore_value=value) for value in (255, 254, None)}
    metrics[255].add_batch(**columns)
    metrics[None].add_batch(**{**columns, "references": columns["references"] == 1})
    for value in (254, None):
        with pytest.raises(ValueError, match=f"state: expected ignore_value={value}, as here, got 255"):
            metrics[value].merge(metrics[255].state())
    with pytest.raises(ValueError, match="state: expected ignore_value=255, as here, got None"):
        metrics[255].merge(metrics[None].state())
    with pytest.raises(ValueError, match="ignore_value: it was applied as batches were added; give it at load"):
        metrics[255].compute(ignore_value=None)
    same = AnomalySuite(ignore_value=255)
    same.merge(metrics[255].state())
    assert same.compute() == metrics[255].compute()
