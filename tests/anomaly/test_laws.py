"""Laws of all that AnomalySuite adds on request: batches, groups, resamples, intervals and comparisons."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import AnomalySuite, compare
from openworld_metrics.anomaly import aupimo
from tests import cases
from tests.anomaly import test_aupimo, test_component_results, test_samples, test_spro
from tests.examples import few, many, seeds

Columns = dict[str, Any]


def with_labels(seed: int, one_size: bool) -> Columns:
    maps, masks, labels, _ = test_aupimo.drawn(seed, one_size)
    return {"predictions": maps, "references": masks, "image_labels": labels}


def at_thresholds(seed: int) -> Columns:
    columns, _ = cases.draw("anomaly_suite", seed)
    return {name: columns[name] for name in ("predictions", "references")}


class Addition(NamedTuple):
    """Columns of a seed, the options that add results, and some keys of these."""

    draw: Callable[[int], Columns]
    options: dict[str, Any]
    keys: tuple[str, ...]


PIMO = {"levels": "pixel", "pimo_bounds": (0.2, 0.7)}
SIZES = {"ignore_value": 255, "min_predicted": 2, "min_object": 2}
THRESHOLDS = {"image_threshold": 0.3, "pixel_threshold": 0.1}
ADDITIONS = {
    "aupimo": Addition(lambda seed: with_labels(seed, True), PIMO, ("aupimo",)),
    "aupimo of many sizes": Addition(lambda seed: with_labels(seed, False), PIMO, ("aupimo",)),
    "components": Addition(
        lambda seed: test_component_results.drawn(seed)[0],
        {"levels": "pixel", "components": True, "pixel_threshold": 0.5, **SIZES},
        test_component_results.KEYS,
    ),
    "defects": Addition(lambda seed: test_spro.drawn(seed)[0], {"levels": "pixel"}, ("auspro@0.3", "auspro@0.01")),
    "samples": Addition(
        lambda seed: test_samples.drawn(seed)[0], {"levels": "image"}, ("sample_auroc", "sample_ap", "sample_f1_max")
    ),
    "thresholds": Addition(at_thresholds, THRESHOLDS, ("image_f1", "pixel_precision", "pixel_recall")),
    "thresholds of cut scores": Addition(at_thresholds, {**THRESHOLDS, "significant_bits": 6}, ("pixel_f1",)),
}
each_addition = pytest.mark.parametrize("name", ADDITIONS)


def metric(name: str, **options: Any) -> AnomalySuite:
    return AnomalySuite(**ADDITIONS[name].options, **options)


def of_images(columns: Columns, images: Any) -> Columns:
    return {name: [column[i] for i in images] for name, column in columns.items()}


@each_addition
@many
@given(seed=seeds)
def test_batches_in_any_order_through_json_change_no_bit(name: str, seed: int) -> None:
    columns = ADDITIONS[name].draw(seed)
    merged = metric(name)
    for part in np.array_split(np.random.default_rng(seed).permutation(len(columns["predictions"])), 3):
        one = metric(name)
        one.add_batch(**of_images(columns, part))
        merged.merge(json.loads(json.dumps({key: array.tolist() for key, array in one.state().items()})))
    assert merged.compute() == metric(name).compute(**columns)


@pytest.mark.parametrize("name", sorted({*ADDITIONS} - {"samples"}))  # whose copies would be the same samples
@many
@given(seed=seeds)
def test_a_resample_has_the_results_of_its_images(name: str, seed: int) -> None:
    columns, rng = ADDITIONS[name].draw(seed), np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aupimo, "_FIRST", 2)
        [part] = metric(name).prepared_parts(**columns)
        prepared = part.prepared
        counts = np.zeros(len(prepared.strata), np.int64)
        for kind in np.unique(prepared.strata):
            rows = np.flatnonzero(prepared.strata == kind)
            counts += np.bincount(rng.choice(rows, len(rows)), minlength=len(counts))
        resample = {key: rate.value for key, rate in prepared.rates(counts).items()}
    expected = metric(name).compute(
        **of_images(columns, np.repeat(np.arange(len(prepared.rows())), counts[prepared.rows()]))
    )
    for key in ADDITIONS[name].keys:
        if expected[key] is not None:
            assert resample[key] == pytest.approx(expected[key], abs=1e-8, rel=0), key


@each_addition
@few
@given(seed=seeds)
def test_groups_intervals_and_comparisons(name: str, seed: int) -> None:
    columns, keys = ADDITIONS[name].draw(seed), ADDITIONS[name].keys
    images = [*range(len(columns["predictions"]))]
    twice = of_images(columns, [*images, *images[::-1]])
    if "samples" in columns:
        twice["samples"] = [f"{sample} {i // len(images)}" for i, sample in enumerate(twice["samples"])]
    table = metric(name).compute(**twice, groups=["a"] * len(images) + ["b"] * len(images))["groups"]
    results = metric(name, confidence_level=0.9, n_resamples=9).compute(**columns)
    maps = columns.pop("predictions")
    same = compare(metric(name), maps, maps, **columns, n_resamples=9)
    for key in keys:
        assert table[key] == [results[key]] * 2
        if results[key] is not None:
            assert results[f"{key}_low"] <= results[f"{key}_high"]
            at = same["key"].index(key)
            assert (same["difference"][at], same["p_value"][at]) == (0.0, 1.0)


@each_addition
def test_all_that_is_added_is_better_if_higher(name: str) -> None:
    results: dict[str, Any] = metric(name).summary(**ADDITIONS[name].draw(0)).results
    assert all(results[key].higher for key in ADDITIONS[name].keys)
