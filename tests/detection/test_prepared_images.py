"""Images as what is resampled: results with other counts are those of the images repeated or left out."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import OpenSetDetection, compare
from openworld_metrics.detection import outcomes
from openworld_metrics.detection.boxes import as_detection_state
from openworld_metrics.detection.openset_detection import PreparedImages
from openworld_metrics.metric.results import as_dict
from tests import cases
from tests.detection.test_image_counts import (
    FOUND,
    TRUE,
    Options,
    State,
    added,
    draw,
    each_variant,
    merged,
    outcome,
    some,
)
from tests.examples import few, seeds


def prepared(state: State, options: Options) -> PreparedImages:
    checked = as_detection_state({name: array for name, array in state.items() if name != "metric"})
    return OpenSetDetection(**options).prepare(checked)


def test_a_state_holds_infinite_confidences() -> None:
    """They rank like all others; other numbers of boxes are finite."""
    metric = OpenSetDetection(known_classes=[0])
    metric.add_batch(
        predictions=[[[0, 0, 1, 1, np.inf, 0], [5, 5, 6, 6, 0.5, 0]]],
        references=[[[0, 0, 1, 1, 0], [5, 5, 6, 6, 0]]],
    )
    merged = OpenSetDetection(known_classes=[0])
    merged.merge(metric.state())
    state = {name: array.copy() for name, array in metric.state().items() if name != "metric"}
    for column, value in ((4, np.nan), (2, np.inf)):
        table = state["predictions"].copy()
        table[1, column] = value
        with pytest.raises(ValueError, match=f"expected finite numbers, got {value}"):
            as_detection_state({**state, "predictions": table})
    pickled = pickle.loads(pickle.dumps(metric))
    results = metric.compute()
    assert results["TP_known"] == 2
    assert merged.compute() == pickled.compute() == results


def scalars(results: Any) -> Any:
    if isinstance(results, str):
        return results
    numbers = {name: value for name, value in results.items() if not isinstance(value, (list, dict))}
    return {name: value for name, value in numbers.items() if value == value}  # NaN of no object


def resampled(images: PreparedImages, counts: np.ndarray) -> Any:
    try:
        return scalars(as_dict(images.rates(counts)))
    except ValueError as error:
        return str(error).removeprefix("among resampled images, ")


@each_variant
@some
@given(seed=seeds)
def test_other_counts_are_the_images_repeated_or_left_out(variant: Options, seed: int) -> None:
    columns, options = draw(seed, variant)
    rng = np.random.default_rng(seed)
    columns = {name: [*column, *column[:3]] for name, column in columns.items()}  # some are equal
    images = np.arange(len(columns["predictions"]))
    ready = prepared(added(columns, images, options).state(), options)
    rows = ready.rows()
    assert len(rows) == len(images)
    assert not ready.strata.any()
    assert np.array_equal(np.bincount(rows), ready.counts)
    assert resampled(ready, ready.counts) == scalars(outcome(added(columns, images, options)))
    for _ in range(3):
        drawn = np.bincount(rng.choice(rows, int(rng.integers(1, 2 * len(rows)))), minlength=rows.max() + 1)
        chosen = [np.flatnonzero(rows == row)[0] for row, count in enumerate(drawn) for _ in range(count)]
        assert resampled(ready, drawn) == scalars(outcome(added(columns, chosen, options)))


@each_variant
@some
@given(seed=seeds)
def test_neither_the_order_of_images_nor_of_boxes_nor_how_they_are_counted_matters(variant: Options, seed: int) -> None:
    columns, options = draw(seed, variant)
    rng = np.random.default_rng(seed)
    images = rng.permutation(len(columns["predictions"]))
    counts = rng.integers(1, 4, len(images))
    shuffled = {
        "predictions": [rng.permutation(found) for found in columns["predictions"]],
        "references": [
            {name: column[order] for name, column in true.items()}
            for true in columns["references"]
            for order in [rng.permutation(len(true["labels"]))]
        ],
    }
    once = {**added(columns, np.arange(len(images)), options).state(), "counts": counts}
    repeated = added(shuffled, np.repeat(images, counts[images]), options).state()
    first, second = prepared(once, options), prepared(repeated, options)
    assert np.array_equal(first.counts, second.counts)
    drawn = rng.integers(0, 3, len(first.counts))
    assert resampled(first, drawn) == resampled(second, drawn)
    asked: Options = {**options, "confidence_level": 0.9, "n_resamples": 5}
    assert outcome(merged([once], asked)) == outcome(merged([repeated], asked))


@pytest.mark.parametrize("more", [{}, {"errors": True, "recall_budgets": 1}], ids=["plain", "errors"])
@pytest.mark.parametrize("protocol", [{}, {"protocol": "owod", "recall_level": None}], ids=["ow-dln", "owod"])
def test_boxes_are_matched_once(protocol: Options, more: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = outcomes.overlaps

    def counted(*args: Any) -> Any:
        calls.append(len(args))
        return real(*args)

    monkeypatch.setattr(outcomes, "overlaps", counted)
    tables: Options = {"per_class": True, "per_image": True}
    metric = OpenSetDetection(known_classes=[0, 1], confidence_level=0.9, n_resamples=10, **protocol, **tables, **more)
    results = metric.compute(predictions=[FOUND, []], references=[TRUE, TRUE[:1]])
    assert "U-Recall_low" in results
    assert len(calls) == 1


def test_a_resample_without_wi_is_refused() -> None:
    metric = OpenSetDetection(known_classes=[0, 1], protocol="owod", recall_level=1.0)
    metric.add_batch(predictions=[FOUND[:1], FOUND], references=[TRUE[:1], TRUE])
    images = prepared(metric.state(), {"known_classes": [0, 1], "protocol": "owod", "recall_level": 1.0})
    assert images.rates(images.counts)["WI"].value == metric.compute()["WI"] == 0.0
    with pytest.raises(ValueError, match="among resampled images, recall_level: WI compares with images without"):
        images.rates(np.asarray([0, 1]))


@few
@given(seed=seeds)
def test_two_models_are_compared_on_the_same_images(seed: int) -> None:
    columns, options = cases.draw("openset_detection", seed)
    found, true = columns["predictions"], columns["references"]
    metric = OpenSetDetection(**options)
    same = compare(metric, found, [boxes[::-1] for boxes in found], references=true, n_resamples=39)
    assert set(same["difference"]) == set(same["low"]) == set(same["high"]) == {0.0}
    assert set(same["p_value"]) == {1.0}
