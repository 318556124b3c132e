"""The standard metrics are those of pycocotools run on files, and of a slow count of precision and recall."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from openworld_metrics import box_iou
from openworld_metrics.evaluation import standard_metrics
from openworld_metrics.formats import Dataset, Detections
from tests.detection import scenes


@pytest.mark.parametrize("seed", range(4))
def test_map_is_that_of_pycocotools(seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = scenes.scene(seed, 30, ignored=0.2)
    ours = standard_metrics(made, scenes.KNOWN)
    assert capfd.readouterr().out == ""  # pycocotools prints, we do not
    scenes.write_as_coco(made, tmp_path)
    truth = COCO(str(tmp_path / "instances.json"))
    evaluation = COCOeval(truth, truth.loadRes(str(tmp_path / "results.json")), "bbox")
    evaluation.params.catIds = scenes.KNOWN
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    assert ours["mAP50-95"] == evaluation.stats[0]
    assert ours["mAP50"] == evaluation.stats[1]
    assert 0 < ours["mAP50-95"] <= ours["mAP50"] < 1


def slow_precision_and_recall(made: Detections, known: list[int]) -> tuple[float, float]:
    """At each confidence, each class by itself: COCO's matching at IoU 0.5, and the mean over the classes."""
    best: tuple[float, float, float, float] = (-1.0, 0.0, 0.0, 0.0)
    confidences = {float(score) for boxes in made.predictions for score in boxes["scores"]}
    for confidence in confidences:
        precisions, recalls, f1s = [], [], []
        for label in known:
            right = predicted = objects = 0
            for found, true in zip(made.predictions, made.dataset.references):
                mine = (found["labels"] == label) & (found["scores"] >= confidence)
                order = np.argsort(-found["scores"][mine], kind="stable")
                free = true["boxes"][true["labels"] == label]
                objects += len(free)
                for box in found["boxes"][mine][order]:
                    predicted += 1
                    ious = box_iou(box[None], free)
                    if len(free) and ious.max() >= 0.5:
                        right += 1
                        free = np.delete(free, len(ious) - 1 - ious[::-1].argmax(), axis=0)
            if objects:
                precisions.append(right / predicted if predicted else 0.0)
                recalls.append(right / objects)
                f1s.append(2 * right / (predicted + objects))
        mean = round(float(np.mean(f1s)), 9)
        best = max(best, (mean, confidence, float(np.mean(precisions)), float(np.mean(recalls))))
    return best[2:]


@pytest.mark.parametrize("seed", range(6))
def test_precision_and_recall_at_the_highest_f1(seed: int) -> None:
    made = scenes.scene(seed, 12)
    ours = standard_metrics(made, [*scenes.KNOWN, 77])  # no object is of class 77
    assert (ours["precision"], ours["recall"]) == slow_precision_and_recall(made, scenes.KNOWN)


def one_image(predictions: list[tuple[float, int]], references: list[int]) -> Detections:
    """Boxes side by side: the k-th prediction, of a confidence and a class, lies on the k-th object."""

    def boxes(count: int) -> np.ndarray:
        return np.asarray([[20 * k, 0, 20 * k + 10, 10] for k in range(count)], dtype=np.float64).reshape(-1, 4)

    scores, labels = (np.asarray(column) for column in zip(*predictions)) if predictions else (np.zeros(0), np.zeros(0))
    found = {"boxes": boxes(len(scores)), "scores": scores, "labels": labels.astype(np.int64)}
    count = len(references)
    true = {
        "boxes": boxes(count),
        "labels": np.asarray(references, dtype=np.int64),
        "ignored": np.zeros(count, np.int64),
    }
    return Detections(Dataset(["x"], [true], {}, [None], [None], [0]), [found])


def test_by_hand() -> None:
    # right at 0.9, a wrong class at 0.8, right at 0.7; the fourth object is unknown
    made = one_image([(0.9, 0), (0.8, 0), (0.7, 0), (0.6, 9)], [0, 1, 0, 5])
    # class 0: precision 1 up to recall 0.5, then 2/3: 51 recalls at 1 and 50 at 2/3; class 1: 0
    values = standard_metrics(made, [0, 1])
    assert values["mAP50"] == pytest.approx((51 + 50 * 2 / 3) / 101 / 2)
    assert values["mAP50"] == values["mAP50-95"]
    # F1 of class 0: 2/3 at 0.9, 1/2 at 0.8, 4/5 at 0.7
    assert (values["precision"], values["recall"]) == (pytest.approx(1 / 3), 0.5)
    assert standard_metrics(made, [0])["precision"] == 2 / 3
    above = standard_metrics(made, [0], conf_threshold=0.75)
    assert (above["precision"], above["recall"]) == (1.0, 0.5)


@pytest.mark.parametrize("made", [one_image([], [0]), one_image([(0.5, 0)], [5]), one_image([], [])])
def test_nothing_is_zero(made: Detections) -> None:
    assert standard_metrics(made, [0]) == dict.fromkeys(("mAP50", "mAP50-95", "precision", "recall"), 0.0)
