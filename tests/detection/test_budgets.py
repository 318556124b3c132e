"""AR@k of unknown objects: by hand, against plain loops in fractions, and against COCO's tools."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import OpenSetDetection
from tests import cases
from tests.detection import slow_errors as slow
from tests.detection.test_protocols import as_dicts, as_lists, ignoring
from tests.examples import many, seeds


def box(x: float, *rest: float, height: float = 10) -> list[float]:
    return [x, 0, x + 10, height, *rest]


def recalls(found: list[list[float]], true: Any, sizes: list[int], **options: Any) -> list[float]:
    metric = OpenSetDetection(known_classes=[0], recall_budgets=sizes, **options)
    results = metric.compute(predictions=[found], references=[true])
    return [results[f"AR@{k}"] for k in sizes]


FOUND = [box(300, 0.95, 0), box(0, 0.9, 0), box(50, 0.8, -1, height=6), box(103, 0.7, 0)]
TRUE = [box(0, 7), box(50, 7), box(100, 7)]


def test_a_scene_by_hand() -> None:
    assert recalls(FOUND, TRUE, [1, 2, 100]) == [0.0, 1 / 3, 7 / 15]
    assert recalls(FOUND, TRUE, [1, 2, 100], budget="all") == [0.0, 1 / 3, 7 / 15]


@many
@given(seed=seeds)
def test_recalls_equal_the_slow_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns, options = cases.draw("openset_detection", seed)
    flags = ignoring(columns, rng, 0.2)
    scene = slow.matched_scene(*as_lists(columns), [image.tolist() for image in flags], **options)
    sizes = [1, 2, 4]
    for budget in ("unknown", "all", "called unknown"):
        metric = OpenSetDetection(**options, recall_budgets=sizes, budget=budget, per_image=True)
        results = metric.compute(**as_dicts(columns, flags))
        for k in sizes:
            expected = slow.recall_at(scene, k, budget)
            assert results.get(f"AR@{k}") == (None if expected is None else float(expected))
            assert len(results["per_image"][f"AR@{k}"]) == len(flags)


def coco_evaluation(found: list[np.ndarray], true: list[np.ndarray], sizes: list[int], beyond: bool = False) -> Any:
    """COCO's tools on boxes of one class; with `beyond`, known objects are too large to count, and last to be taken."""
    coco_module, evaluator = pytest.importorskip("pycocotools.coco"), pytest.importorskip("pycocotools.cocoeval")

    def entries(images: list[np.ndarray], labels: bool) -> list[dict[str, Any]]:
        rows = [(i, row) for i, image in enumerate(images) for row in image.tolist()]
        return [
            {
                "id": k + 1,
                "image_id": i,
                "category_id": 1,
                "bbox": [x1, y1, x2 - x1, y2 - y1],
                "area": 1e12 if labels and beyond and rest[0] == 0 else (x2 - x1) * (y2 - y1),
                "iscrowd": 0,
                "score": rest[0],
            }
            for k, (i, (x1, y1, x2, y2, *rest)) in enumerate(rows)
        ]

    with contextlib.redirect_stdout(io.StringIO()):
        coco = coco_module.COCO()
        coco.dataset = {
            "images": [{"id": i} for i in range(len(true))],
            "categories": [{"id": 1}],
            "annotations": entries(true, True),
        }
        coco.createIndex()
        evaluation = evaluator.COCOeval(coco, coco.loadRes(entries(found, False)), "bbox")
        evaluation.params.maxDets = sizes
        evaluation.evaluate()
        evaluation.accumulate()
    return evaluation


@pytest.mark.parametrize("seed", range(20))
def test_recalls_equal_those_of_coco_without_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found, true = [], []
    for _ in range(8):
        corner = rng.uniform(0, 60, (int(rng.integers(1, 8)), 2))
        objects = np.concatenate([corner, corner + rng.uniform(10, 30, corner.shape)], axis=1)
        near = objects[rng.integers(0, len(objects), int(rng.integers(1, 14)))]
        moved = near + rng.uniform(-3, 3, near.shape)
        found.append(np.column_stack([moved, rng.random(len(moved)), rng.choice([0, -1], len(moved))]))
        true.append(np.column_stack([objects, rng.choice([0, 7], len(objects))]))
    unknown = [image[image[:, 4] == 7] for image in true]
    # those that take a known object at an IoU of 0.5, where no unknown one is free
    beyond = coco_evaluation(found, true, [100], beyond=True)
    on_known: set[int] = set()
    for one in beyond.evalImgs[: len(true)]:  # of the areas that all but known objects have
        labels = {k + 1: label for k, label in enumerate(np.concatenate(true)[:, 4])}
        rows = [*zip(one["dtIds"], one["dtMatches"][0])] if one is not None else []
        on_known |= {number for number, taken in rows if taken and labels[taken] == 0}
    number = np.split(np.arange(1, sum(map(len, found)) + 1), np.cumsum([*map(len, found)])[:-1])
    left = [image[[k not in on_known for k in own]] for image, own in zip(found, number)]
    called = [image[image[:, 5] == -1] for image in found]
    assert on_known

    sizes = [1, 3, 100]
    for budget, listed in (("all", found), ("unknown", left), ("called unknown", called)):
        recall = coco_evaluation(listed, unknown, sizes).eval["recall"][:, 0, 0, :].mean(axis=0)
        metric = OpenSetDetection(known_classes=[0], recall_budgets=sizes, budget=budget)
        results = metric.compute(predictions=found, references=true)
        assert [results[f"AR@{k}"] for k in sizes] == pytest.approx(recall.tolist(), abs=1e-12), budget


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recall_budgets": [10, 0]}, "recall_budgets: expected an int of at least 1 .*, got 0"),
        ({"recall_budgets": [10, 10]}, r"recall_budgets: expected different numbers, got \[10, 10\]"),
        ({"budget": "known"}, "budget: expected one of 'unknown', 'all', 'called unknown', got 'known'"),
    ],
    ids=str,
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OpenSetDetection(known_classes=[0], **options)
