"""Components as results of anomaly_suite: in batches and states, with groups and intervals, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import AnomalySuite
from openworld_metrics.anomaly.components import Components, component_rates, components_of
from openworld_metrics.anomaly.regions import connected_components
from tests.examples import many, seeds

KEYS = ("siou", "ppv", "segment_f1")
SIZES = {"min_predicted": 2, "min_object": 2}


def drawn(seed: int) -> tuple[dict[str, Any], np.random.Generator]:
    rng = np.random.default_rng(seed)
    masks = rng.choice([0, 0, 0, 1, 255], (8, 6, 7))
    masks[:4][masks[:4] == 1] = 0
    masks[:, :2, :3], masks[4:, 4, :2] = 0, 1
    return {"predictions": rng.integers(0, 9, masks.shape).astype("float32") / 10, "references": masks}, rng


def metric(**options: Any) -> AnomalySuite:
    return AnomalySuite(levels="pixel", ignore_value=255, components=True, pixel_threshold=0.5, **SIZES, **options)


def by_image(columns: dict[str, Any]) -> list[Components]:
    return [
        components_of(
            score_map.astype(float) > 0.5, connected_components(mask == 1), mask == 255, min_predicted=2, min_object=2
        )
        for score_map, mask in zip(columns["predictions"], columns["references"])
    ]


def pooled(components: list[Components]) -> dict[str, Any]:
    return component_rates(Components(*map(np.concatenate, zip(*components))))._asdict()


@many
@given(seed=seeds)
def test_pooled_over_images(seed: int) -> None:
    columns, _ = drawn(seed)
    found = metric().compute(**columns)
    assert {key: found[key] for key in KEYS} == pooled(by_image(columns))
    assert metric(significant_bits=5).compute(**columns)["siou"] == found["siou"]


def test_nothing_predicted() -> None:
    columns, _ = drawn(2)
    columns["predictions"] = columns["predictions"] / 2
    found = metric(confidence_level=0.9, n_resamples=5).compute(**columns)
    assert (found["siou"], found["ppv"], found["segment_f1"]) == (0.0, None, 0.0)
    assert "ppv_low" not in found


def test_a_component_predicted_in_few_resamples() -> None:
    columns, _ = drawn(2)
    columns["predictions"][1:] /= 2
    found = metric(confidence_level=0.9, n_resamples=40).compute(**columns)
    assert found["ppv_low"] <= found["ppv"] <= found["ppv_high"]


def test_the_threshold_is_exceeded_and_not_rounded() -> None:
    masks = [[[0, 0], [1, 1]]]
    maps = np.asarray([[[0, 0], [0.3, 0.3]]], np.float32)  # a little above 0.3
    found = [
        AnomalySuite(components=True, pixel_threshold=t, levels="pixel").compute(predictions=maps, references=masks)
        for t in (0.3, float(np.float32(0.3)))
    ]
    assert [each["siou"] for each in found] == [1.0, 0.0]
    assert [each["pixel_recall"] for each in found] == [1.0, 0.0]


def test_objects_that_masks_number() -> None:
    masks = [[[1, 1, 2, 2], [0, 0, 0, 0]]]
    maps = [[[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]
    options: Any = dict(components=True, pixel_threshold=0.5, levels="pixel")
    found = AnomalySuite(regions="labels", **options).compute(predictions=maps, references=masks)
    assert (found["siou"], found["ppv"]) == (0.5, 1.0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"pixel_threshold": None}, ValueError, "pixel_threshold: expected a number with components=True"),
        ({"pixel_threshold": [0.5, 0.6]}, TypeError, "pixel_threshold: expected a number, got"),
        ({"pixel_threshold": "0.5"}, TypeError, "pixel_threshold: expected a number, got"),
        ({"image_threshold": np.asarray([0.5])}, TypeError, "image_threshold: expected a number"),
        ({"min_predicted": -3}, ValueError, "min_predicted: expected an int of at least 0, got -3"),
        ({"min_object": -1}, ValueError, "min_object: expected an int of at least 0, got -1"),
        ({"min_predicted": 0.5}, TypeError, "min_predicted: expected an int, got 0.5"),
        ({"components": 1}, TypeError, "components: expected True or False, got 1"),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    columns, _ = drawn(0)
    given = {"components": True, "pixel_threshold": 0.5, "ignore_value": 255, **options}
    with pytest.raises(error, match=message):
        AnomalySuite(**given).compute(**columns)


def test_another_threshold_after_batches_is_refused() -> None:
    columns, _ = drawn(0)
    kept = metric()
    kept.add_batch(**columns)
    with pytest.raises(ValueError, match=r"pixel_threshold: components were found at 0.5 as batches were added"):
        kept.compute(pixel_threshold=0.4)
    with pytest.raises(ValueError, match="min_object: it was applied as batches were added"):
        kept.compute(min_object=0)
    other = AnomalySuite(ignore_value=255, components=True, pixel_threshold=0.4, **SIZES)
    with pytest.raises(ValueError, match=r"state: expected component_threshold=0.4, as here, got 0.5"):
        other.merge(kept.state())
    plain = AnomalySuite(ignore_value=255)
    with pytest.raises(ValueError, match="state"):
        plain.merge(kept.state())


def test_a_map_of_one_row_has_no_components() -> None:
    with pytest.raises(ValueError, match=r"predictions\[0\]: expected a map with rows and columns, .* \(1, 3\)"):
        AnomalySuite(components=True, pixel_threshold=0.5, regions="labels").compute(
            predictions=[[[0.1, 0.2, 0.3]]], references=[[[0, 1, 2]]]
        )
