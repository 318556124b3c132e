"""The table of images of anomaly_suite: against a count of each pixel, and what leaves columns out of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import AnomalySuite
from openworld_metrics.metric import metric as metric_module
from tests.examples import many, seeds

Columns = dict[str, Any]


def drawn(seed: int) -> tuple[Columns, np.random.Generator]:
    rng = np.random.default_rng(seed)
    levels = int(rng.choice([3, 20, 10**6]))
    dtypes = rng.choice(["float16", "float32", "float64"], 6)  # of each map its own
    masks = [(rng.random((4, int(rng.integers(3, 7)))) < 0.4 * (i < 4)).astype(int) for i in range(6)]
    for mask in masks[:4]:
        mask[0, 0] = 1
    maps = [
        (rng.integers(0, levels, mask.shape) / levels + 0.4 * mask).astype(dtype) for mask, dtype in zip(masks, dtypes)
    ]
    return {"predictions": maps, "references": masks}, rng


@many
@given(seed=seeds)
def test_against_a_count_of_each_pixel(seed: int) -> None:
    columns, rng = drawn(seed)
    if seed % 2:
        columns["image_labels"] = [1, 1, 0, 1, 0, 1]
    options: Columns = dict(pimo_bounds=(0.2, 0.6))
    plain = AnomalySuite(**options).compute(**columns)
    found = AnomalySuite(**options, per_image=True).compute(**columns)
    table = found.pop("per_image")
    assert found == plain
    assert table["image"] == [*range(6)]
    for i, (scores, mask) in enumerate(zip(columns["predictions"], columns["references"])):
        called = scores.astype(float) > found["pixel_f1_max_threshold"]
        both, either = int((called & (mask == 1)).sum()), int((called | (mask == 1)).sum())
        assert table["iou"][i] == (both / either if either else None)
        assert table["score"][i] == float(scores.max())
        assert table["label"][i] == (columns["image_labels"][i] if seed % 2 else int(mask.any()))
        assert table["decision"][i] == int(float(scores.max()) > found["image_f1_max_threshold"])
        assert (table["aupimo"][i] is None) == (not table["label"][i] or not mask.any())
    values = [value for value in table["aupimo"] if value is not None]
    assert found["aupimo"] == pytest.approx(sum(values) / len(values), abs=1e-15)
    order = rng.permutation(6)
    metric = AnomalySuite(**options, per_image=True)
    for i in order:
        metric.add_batch(**{name: [column[i]] for name, column in columns.items()})
    shuffled = metric.compute()["per_image"]
    for key in ("score", "label", "decision", "iou", "aupimo"):
        assert shuffled[key] == [table[key][i] for i in order]


def test_by_hand() -> None:
    maps = [[[0.9, 0.8], [0.1, 0.1]], [[0.3, 0.2], [0.85, 0.1]], [[0.1, 0.1], [0.1, 0.1]]]
    masks = [[[1, 1], [1, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]
    table = AnomalySuite(per_image=True).compute(predictions=maps, references=masks)["per_image"]
    # pixels from 0.8 on: two of three, and one of the second image; nothing overlaps in the third
    assert table["iou"] == [2 / 3, 0.0, None]
    assert table["decision"] == table["label"] == [1, 0, 0]
    # the image at a chosen threshold is not above it; of the pixels above theirs, one of three and none of none overlap
    chosen = AnomalySuite(per_image=True, image_threshold=0.3, pixel_threshold=0.85)
    table = chosen.compute(predictions=maps, references=masks)["per_image"]
    assert table["iou"] == [1 / 3, None, None]
    assert table["decision"] == [1, 1, 0]
    only_pixels = AnomalySuite(per_image=True, levels="pixel", image_threshold=0.3)
    assert "decision" not in only_pixels.compute(predictions=maps, references=masks)["per_image"]


def test_columns_that_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, _ = drawn(0)
    given_at_load: list[tuple[Columns, set[str]]] = [
        ({"levels": "image"}, {"decision"}),
        ({"levels": "pixel"}, {"iou"}),
        ({"significant_bits": 8}, {"decision"}),
        ({"levels": "image", "pimo_bounds": (0.1, 0.5)}, {"decision"}),
        ({"confidence_level": 0.9, "n_resamples": 5, "num_thresholds": 9}, {"decision", "iou"}),
    ]
    for options, more in given_at_load:
        table = AnomalySuite(per_image=True, **options).compute(**columns)["per_image"]
        assert set(table) == {"image", "score", "label", *more}
    monkeypatch.setattr(metric_module, "ROWS", 8)
    half = {"predictions": [scores.astype(np.float16) for scores in columns["predictions"]]}
    metrics = AnomalySuite(per_image=True), AnomalySuite()
    for metric in metrics:
        for i in range(6):
            metric.add_batch(predictions=half["predictions"][i : i + 1], references=columns["references"][i : i + 1])
    with pytest.raises(ValueError, match="per_image: pixels of several images have been counted together; give it at"):
        metrics[1].compute(per_image=True)
    assert "iou" not in metrics[1].compute(per_image=True, levels="image")["per_image"]
    assert metrics[0].compute() == AnomalySuite(per_image=True).compute(**{**columns, **half})
    with pytest.raises(TypeError, match="per_image: expected"):
        AnomalySuite(per_image="x.csv").compute(**columns)


def test_images_stay_in_their_order_when_pixels_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted states, which are merged, stand between others that have yet to be counted."""
    monkeypatch.setattr(metric_module, "ROWS", 50)
    rng = np.random.default_rng(0)

    def image(highest: float, side: int) -> Columns:
        scores, mask = rng.random((side, side)).round(2) * 0.4, np.zeros((side, side), int)
        scores[0, 0], mask[0, 0] = highest, 1
        return {"predictions": [scores], "references": [mask]}

    images = [image(1, 5), image(2, 9), image(3, 9)]
    first, counted = (AnomalySuite(significant_bits=8, per_image=True, levels="pixel") for _ in range(2))
    first.add_batch(**images[0])
    counted.add_batch(**images[1])
    assert "normal_counts" in counted.state()
    first.merge(counted.state())
    first.add_batch(**images[2])
    assert first.compute()["per_image"]["score"] == [1.0, 2.0, 3.0]


def test_of_tensors_and_defects() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    maps, masks = rng.random((4, 5, 5)).astype(np.float32), rng.integers(0, 2, (4, 5, 5))
    masks[3] = 0
    table = AnomalySuite(per_image=True).compute(predictions=maps, references=masks)["per_image"]
    given_maps = torch.asarray(maps)
    assert AnomalySuite(per_image=True).compute(predictions=given_maps, references=masks)["per_image"] == table
    rows = [{"masks": mask[None], "saturation_areas": [3]} for mask in masks]
    assert AnomalySuite(per_image=True).compute(predictions=maps, references=rows)["per_image"] == table


def test_a_zero_has_no_sign() -> None:
    for zeros in ([-0.0, 0.0], [0.0, -0.0]):
        columns: Columns = {"predictions": [[zeros], [[1.0, 0.5]]], "references": [[[0, 0]], [[1, 0]]]}
        score = AnomalySuite(per_image=True).compute(**columns)["per_image"]["score"][0]
        assert str(score) == "0.0"
