"""Regions that masks number: point clouds, instance masks, defects that are told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import AnomalySuite
from openworld_metrics.anomaly.regions import by_components, split_map
from tests.examples import many, seeds

LIMITS = (1.0, 0.3, 0.05)


def clouds(seed: int) -> tuple[list[np.ndarray], list[np.ndarray], np.random.Generator]:
    """Clouds of several sizes with regions in any order of their points; one without."""
    rng = np.random.default_rng(seed)
    sizes = [int(n) for n in rng.integers(3, 30, 4)]
    maps = [(rng.integers(0, 20, (1, n)) / 20).astype(np.float32) for n in sizes]
    masks = [rng.choice([0, 0, 0, 3, 7, 100], (1, n)) for n in sizes]
    masks[0][:], masks[1][0, :2] = 0, (0, 7)
    return maps, masks, rng


@many
@given(seed=seeds)
def test_overlap_is_that_of_defects_that_are_found_whole(seed: int) -> None:
    maps, masks, rng = clouds(seed)
    found = AnomalySuite(regions="labels", integration_limits=LIMITS).compute(predictions=maps, references=masks)
    apart = [[mask == number for number in np.unique(mask[mask > 0])] for mask in masks]
    dicts = [{"masks": np.asarray(each), "saturation_areas": [x.sum() for x in each]} for each in apart]
    both = AnomalySuite(regions="labels", integration_limits=LIMITS).compute(predictions=maps, references=dicts)
    assert {key: both[key] for key in found} == found
    assert [both[f"auspro@{limit}"] for limit in LIMITS] == [found[f"aupro@{limit}"] for limit in LIMITS]
    order = [rng.permutation(mask.size) for mask in masks]
    shuffled = [[x[:, own] for x, own in zip(each, order)] for each in (maps, masks)]
    metric = AnomalySuite(regions="labels", integration_limits=LIMITS)
    for score_map, mask in zip(*shuffled):
        metric.add_batch(predictions=[score_map], references=[mask + 5 * (mask > 0)])
    again = AnomalySuite(regions="labels", integration_limits=LIMITS)
    again.merge(metric.state())
    assert again.compute() == metric.compute() == found


def test_numbers_of_any_type() -> None:
    torch = pytest.importorskip("torch")
    scores, mask = np.asarray([[0.1, 0.9, 0.8, 0.7]]), np.asarray([[0, 2, 1, 2]])
    parts = split_map(scores, mask, None, "labels")
    assert [part.tolist() for part in parts] == [[0.1], [0.8, 0.9, 0.7], [1, 2]]
    for given_mask in (mask.astype(np.uint8), mask.astype(float), mask.tolist(), torch.asarray(mask)):
        for given_map in (scores, torch.asarray(scores)):
            state = AnomalySuite(regions="labels").reduce([given_map], [given_mask])
            assert np.asarray(state["region_sizes"]).tolist() == [1, 2]
            assert np.asarray(state["anomalous"]).tolist() == [0.8, 0.9, 0.7]
    void = AnomalySuite(regions="labels", ignore_value=-1).reduce([scores], [np.asarray([[0, 2, -1, 2]])])
    assert void["region_sizes"].tolist() == [2]
    assert AnomalySuite(regions="labels").reduce([scores], [mask == 2])["region_sizes"].tolist() == [2]


@pytest.mark.parametrize(
    ("references", "options", "message"),
    [
        (
            [[[0, 1, 1]]],
            {},
            r"references\[0\]: expected a mask with rows and columns, .* \(1, 3\); .* regions='labels'",
        ),
        (np.asarray([[[0, 1, 1]]]), {}, r"references\[0\]: expected a mask with rows and columns"),
        ([[[0, 1, -1]]], {"regions": "labels"}, r"references\[0\]: expected the region of each pixel, .* got -1"),
        ([[[0, 1, 0.5]]], {"regions": "labels"}, r"references\[0\]: expected the region of each pixel, .* got 0.5"),
        (
            [{"masks": [[[0, 1, 1]], [[0, 1, 0]]], "saturation_areas": [1, 1]}],
            {"regions": "labels"},
            r"references\[0\]\['masks'\]: expected defects that share no pixel, with regions='labels'; got 1",
        ),
        ([[[0, 1, 1]]], {"regions": "clusters"}, "regions: expected one of 'components', 'labels', got 'clusters'"),
    ],
)
def test_what_is_refused(references: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AnomalySuite(**options).compute(predictions=[[[0.1, 0.2, 0.3]]], references=references)


def test_one_anomalous_pixel_is_a_region_of_any_shape() -> None:
    assert AnomalySuite().reduce([[[0.1, 0.2, 0.3]]], [[[0, 1, 0]]])["region_sizes"].tolist() == [1]


def test_states_of_the_other_kind_are_refused() -> None:
    metrics = {kind: AnomalySuite(regions=kind) for kind in ("components", "labels")}
    for metric in metrics.values():
        metric.add_batch(predictions=[[[0.1, 0.2], [0.3, 0.4]]], references=[[[0, 0], [1, 1]]])
    with pytest.raises(ValueError, match="state: expected regions='labels', as here, got 'components'"):
        metrics["labels"].merge(metrics["components"].state())
    with pytest.raises(ValueError, match="state: expected regions='components', as here, got 'labels'"):
        metrics["components"].merge(metrics["labels"].state())


@many
@given(seed=seeds)
def test_a_stack_on_a_device_has_the_regions_of_its_maps(seed: int) -> None:
    """Regions of many masks at once are, in the same order, those of each."""
    rng = np.random.default_rng(seed)
    number, height, width = (int(n) for n in rng.integers(1, 9, 3))
    masks = rng.random((number, height, width)) < rng.random()
    scores, places = rng.random(masks.shape), np.flatnonzero(masks)
    order, sizes, maps = by_components(places, (height, width))
    _, anomalous, expected = zip(
        *(split_map(score_map, mask, None, "components") for score_map, mask in zip(scores, masks))
    )
    assert scores.ravel()[places[order]].tolist() == np.concatenate(anomalous).tolist()
    assert sizes.tolist() == np.concatenate(expected).tolist()
    assert maps.tolist() == [i for i, own in enumerate(expected) for _ in own]
