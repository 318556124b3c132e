"""The standard metrics against plain loops in fractions, against pycocotools where nothing is tied, and by hand."""

from __future__ import annotations

import contextlib
import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from demo.writers import write_coco, write_coco_results
from openworld_metrics.answers.folders import limit_note
from openworld_metrics.reading import Dataset, Detections
from openworld_metrics.suites import evaluate_detections, standard_metrics
from tests.detection import scenes
from tests.detection_references import Row, iou, one_to_one, ratio
from tests.examples import many, seeds

Images = list[dict[str, np.ndarray]]
NAMES = ("mAP50", "mAP50-95", "precision", "recall")


def detections(predictions: Images, references: Images) -> Detections:
    count = len(references)
    dataset = Dataset(
        [*map(str, range(count))], references, scenes.NAMES, [None] * count, [None] * count, [*range(count)]
    )
    return Detections(dataset, predictions)


def crowded(rng: np.random.Generator, images: int, objects: int, boxes: int) -> Detections:
    """Boxes of real numbers, a fifth of the objects crowds, and no two confidences alike."""
    scores = iter(rng.permutation(images * boxes) / (images * boxes))
    predictions, references = [], []
    for _ in range(images):
        corner = rng.uniform(0, 200, (objects, 2))
        true = np.concatenate([corner, corner + rng.uniform(10, 60, corner.shape)], axis=1)
        labels, ignored = rng.integers(0, 5, objects), (rng.random(objects) < 0.2).astype(np.int64)
        near = rng.integers(0, objects, boxes)
        side = np.where(ignored[near, None], 0.3, 1.0) * (true[near, 2:] - true[near, :2])  # parts of crowds
        start = true[near, :2] + rng.uniform(-4, 4, (boxes, 2))
        said = np.where(rng.random(boxes) < 0.8, labels[near], rng.integers(0, 5, boxes))
        own = np.asarray([next(scores) for _ in range(boxes)])
        predictions.append({"boxes": np.concatenate([start, start + side], axis=1), "scores": own, "labels": said})
        references.append({"boxes": true, "labels": labels, "ignored": ignored})
    return detections(predictions, references)


def by_pycocotools(made: Detections, known: list[int], limit: int, folder: Path) -> tuple[float, float]:
    write_coco(made.dataset, folder / "true.json")
    write_coco_results(made, folder / "found.json")
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(folder / "true.json"))
        evaluation = COCOeval(truth, truth.loadRes(str(folder / "found.json")), "bbox")
        evaluation.params.catIds = known
        evaluation.params.maxDets = [limit]
        evaluation.params.recThrs = np.arange(101) / 100  # its own are steps of 0.01, whose 57th is above 0.57
        evaluation.evaluate()
        evaluation.accumulate()
    precision = evaluation.eval["precision"][..., 0, -1]  # IoU × recall × class, of all areas
    return tuple(float(part[part > -1].mean()) for part in (precision[0], precision))  # type: ignore[return-value]


@pytest.mark.parametrize("limit", [100, None, 7])
@pytest.mark.parametrize("seed", range(2))
def test_map_is_that_of_pycocotools_without_ties(seed: int, limit: int | None, tmp_path: Path) -> None:
    made = crowded(np.random.default_rng(seed), 4, 60, 600)
    most = max(np.bincount(boxes["labels"]).max() for boxes in made.predictions)
    assert most > 100
    ours = standard_metrics(made, scenes.KNOWN, max_detections=limit)
    theirs = by_pycocotools(made, scenes.KNOWN, limit or int(most), tmp_path)
    assert (ours["mAP50"], ours["mAP50-95"]) == pytest.approx(theirs, rel=0, abs=1e-12)
    assert 0 < ours["mAP50-95"] < ours["mAP50"] < 1


Said = list[tuple[float, bool]]  # a confidence, and whether the box is right; boxes on crowds are left out


def matched(made: Detections, label: int, lowest: float, limit: int | None, threshold: Fraction) -> tuple[Said, int]:
    """The predictions of a class that count, and the number of its objects."""

    def overlap(p: Row, g: Row) -> Fraction | None:
        shared = iou(p, g)
        return shared if shared >= threshold else None

    def lies_on(p: Row, crowd: Row) -> bool:
        x1, y1, x2, y2 = map(Fraction, p[:4])
        u1, v1, u2, v2 = map(Fraction, crowd[:4])
        part = max(min(x2, u2) - max(x1, u1), Fraction()) * max(min(y2, v2) - max(y1, v1), Fraction())
        return ratio(part, (x2 - x1) * (y2 - y1)) >= threshold

    said, number = [], 0
    for found, true in zip(made.predictions, made.dataset.references):
        rows = [
            (*box, score, said)
            for box, score, said in zip(*(found[key].tolist() for key in ("boxes", "scores", "labels")))
            if said == label and score >= lowest
        ]
        objects = [
            ((*box, own), skip)
            for box, own, skip in zip(*(true[key].tolist() for key in ("boxes", "labels", "ignored")))
            if own == label
        ]
        number += sum(not skip for _, skip in objects)
        rows = sorted(rows, key=lambda row: (-row[4], row[:4]))[:limit]
        for p, taken in one_to_one(rows, objects, overlap, "confidence"):
            if taken is not None or not any(skip and lies_on(p, g) for g, skip in objects):
                said.append((p[4], taken is not None))
    return said, number


def reach(said: Said, confidence: float) -> tuple[int, int]:
    own = [right for score, right in said if score >= confidence]
    return sum(own), len(own)


def slow(made: Detections, known: list[int], lowest: float = 0.0, limit: int | None = None) -> dict[str, Fraction]:
    aps: dict[Fraction, list[Fraction]] = {}
    half: list[tuple[Said, int]] = []
    for threshold in [Fraction(t, 20) for t in range(10, 20)]:
        classes = [matched(made, label, lowest, limit, threshold) for label in known]
        classes = [(said, number) for said, number in classes if number]
        if not classes:
            return {}
        half = half or classes
        for said, number in classes:
            points = [reach(said, confidence) for confidence, _ in said]
            highest = [
                max((ratio(tp, all_) for tp, all_ in points if 100 * tp >= r * number), default=Fraction())
                for r in range(101)
            ]
            aps.setdefault(threshold, []).append(sum(highest, Fraction()) / 101)
    best: tuple[Fraction, float, Fraction, Fraction] = (Fraction(), 0.0, Fraction(), Fraction())
    for confidence in {confidence for said, _ in half for confidence, _ in said}:
        counts = [(*reach(said, confidence), number) for said, number in half]
        f1s, precisions, recalls = (
            sum((ratio(2 * tp, all_ + number) for tp, all_, number in counts), Fraction()),
            sum((ratio(tp, all_) for tp, all_, _ in counts), Fraction()) / len(counts),
            sum((ratio(tp, number) for tp, _, number in counts), Fraction()) / len(counts),
        )
        best = max(best, (f1s, confidence, precisions, recalls))
    every = [ap for several in aps.values() for ap in several]
    at_half = aps.get(Fraction(1, 2), [])
    means = (ratio(sum(at_half, Fraction()), len(at_half)), ratio(sum(every, Fraction()), len(every)))
    return dict(zip(NAMES, (*means, *(best[2:] if best[0] else (Fraction(), Fraction())))))


def tied(rng: np.random.Generator) -> Detections:
    """Small integer boxes and few confidences, so that IoUs are thresholds and everything ties."""

    def boxes(count: int) -> dict[str, np.ndarray]:
        corner = rng.integers(0, 4, (count, 2))
        sides = rng.choice([2, 4, 5, 10, 20], (count, 2))
        return {"boxes": np.concatenate([corner, corner + sides], axis=1) * 1.0, "labels": rng.integers(0, 4, count)}

    found, true = [], []
    for _ in range(3):
        some = boxes(int(rng.integers(0, 9)))
        found.append({**some, "scores": rng.integers(0, 4, len(some["labels"])) / 4})
        objects = boxes(int(rng.integers(0, 6)))
        true.append({**objects, "ignored": (rng.random(len(objects["labels"])) < 0.3).astype(np.int64)})
    return detections(found, true)


@many
@given(seed=seeds)
def test_the_slow_reference_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made, limit = tied(rng), [None, 1, 2][seed % 3]
    lowest = float(rng.choice([0.0, 0.5]))
    known = [0, 1, 2, 77]  # no object is of class 77
    ours = standard_metrics(made, known, conf_threshold=lowest, max_detections=limit)
    expected = slow(made, known, lowest, limit)
    assert ours == pytest.approx({name: float(value) for name, value in expected.items()}, rel=4e-16, abs=0)
    for name in ("precision", "recall"):
        assert ours.get(name) == (float(expected[name]) if expected else None)


@many
@given(seed=seeds)
def test_no_order_matters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made, limit = tied(rng), [None, 1, 2][seed % 3]

    def shuffled(images: Images) -> Images:
        orders = [rng.permutation(len(boxes["labels"])) for boxes in images]
        return [{key: column[order] for key, column in boxes.items()} for boxes, order in zip(images, orders)]

    found, true = shuffled(made.predictions), shuffled(made.dataset.references)
    order = rng.permutation(len(found))
    other = detections([found[i] for i in order], [true[i] for i in order])
    assert standard_metrics(other, [0, 1, 2], max_detections=limit) == standard_metrics(
        made, [0, 1, 2], max_detections=limit
    )


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
    return detections([found], [true])


def test_by_hand() -> None:
    # right at 0.9, a wrong class at 0.8, right at 0.7; the fourth object is unknown
    made = one_image([(0.9, 0), (0.8, 0), (0.7, 0), (0.6, 9)], [0, 1, 0, 5])
    # class 0: precision 1 up to recall 0.5, then 2/3: 51 recalls at 1 and 50 at 2/3; class 1: 0
    values = standard_metrics(made, [0, 1])
    assert values["mAP50"] == pytest.approx((51 + 50 * 2 / 3) / 101 / 2, rel=1e-15)
    assert values["mAP50"] == values["mAP50-95"]
    # F1 of class 0: 2/3 at 0.9, 1/2 at 0.8, 4/5 at 0.7
    assert (values["precision"], values["recall"]) == (1 / 3, 0.5)
    assert standard_metrics(made, [0])["precision"] == 2 / 3
    above = standard_metrics(made, [0], conf_threshold=0.75)
    assert (above["precision"], above["recall"]) == (1.0, 0.5)


def test_equal_confidences_are_one_step() -> None:
    for order in ([0, 5], [5, 0]):
        assert standard_metrics(one_image([(0.5, 0), (0.5, 0)], order), [0])["mAP50"] == 0.5


def test_nothing_predicted_is_zero() -> None:
    assert standard_metrics(one_image([], [0]), [0]) == dict.fromkeys(NAMES, 0.0)


@pytest.mark.parametrize("made", [one_image([(0.5, 0)], [5]), one_image([], [])])
def test_rates_of_no_objects_are_left_out(made: Detections) -> None:
    assert standard_metrics(made, [0]) == {}
    assert standard_metrics(made, [0], max_detections=1) == {}


def test_all_boxes_of_an_image_count() -> None:
    made = one_image([(1 - k / 200, 0) for k in range(101)], [0] * 101)
    results = evaluate_detections(made, [0])
    assert results["standard_metrics"] == dict.fromkeys(NAMES, 1.0)  # no epsilon
    limited = evaluate_detections(made, [0], max_detections=100)["standard_metrics"]
    assert limited["recall"] == limited["mAP50"] == 100 / 101  # of recalls 0, 0.01, …, 0.99
    assert limit_note(results, made, [0]) == (
        "COCO counts 100 predictions of a class in an image, which gives mAP50 0.990099 instead of 1.000000, mAP50-95"
        " 0.990099 instead of 1.000000, recall 0.990099 instead of 1.000000; to count so, use max_detections=100"
    )
    wrong = one_image([(1 - k / 200, 0) for k in range(101)], [0] * 100)  # the last one is wrong, and changes no AP
    assert limit_note(evaluate_detections(wrong, [0]), wrong, [0]) == ""
    nothing = one_image([(1 - k / 200, 0) for k in range(101)], [])
    assert limit_note(evaluate_detections(nothing, [0]), nothing, [0]) == ""


@pytest.mark.parametrize(("limit", "error"), [(0, ValueError), (2.5, TypeError), ("100", TypeError)])
def test_limits_that_are_refused(limit: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="max_detections: expected an int"):
        standard_metrics(one_image([], [0]), [0], max_detections=limit)
