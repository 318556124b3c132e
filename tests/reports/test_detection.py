"""The report: what became of each box, which images are the worst, and that what is drawn can be seen."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageColor

from openworld_metrics import Rules, evaluation, formats, reports
from openworld_metrics.detection import words as outcomes
from openworld_metrics.evaluation.box_outcomes import ERRORS, OUTCOMES, BoxOutcome, count_outcomes, worst_images
from openworld_metrics.evaluation.error_examples import error_examples
from openworld_metrics.formats import Dataset, Detections
from openworld_metrics.reports.colors import OUTCOME_COLORS
from openworld_metrics.reports.pictures import MAX_WITHOUT_OBJECT, shown_boxes
from tests.detection import scenes

OPTIONS = {"unknown_class_id": scenes.UNKNOWN_ID, "conf_threshold": 0.1}


def counted(made: Detections, matching: str) -> Counter[int]:
    rules = Rules(scenes.KNOWN, unknown_class_id=999, conf_threshold=0.1, matching=matching)
    images = evaluation.box_outcomes(made, rules)
    return Counter(box.outcome for boxes in images for box in boxes)


@pytest.mark.parametrize("matching", ["iou", "confidence"])
@pytest.mark.parametrize("ignored", [0.0, 0.3])
def test_outcomes_are_those_that_the_metric_counts(matching: str, ignored: float) -> None:
    made = scenes.scene(6, 40, ignored=ignored)
    results = evaluation.openset_metrics(made, known_classes=scenes.KNOWN, matching=matching, **OPTIONS)
    counts = counted(made, matching)
    assert results["TP_known"] == counts[outcomes.RIGHT] > 0
    assert results["TP_unknown"] == counts[outcomes.CALLED_UNKNOWN_RIGHTLY] > 0
    assert results["FP_unknown"] == counts[outcomes.CALLED_UNKNOWN] > 0
    errors = counts[outcomes.WRONG_CLASS] + counts[outcomes.CALLED_UNKNOWN] + counts[outcomes.TAKEN_FOR_KNOWN]
    assert results["FN_known"] + results["FN_unknown"] == errors + counts[outcomes.MISSED]
    assert (counts[outcomes.IGNORED] > 0) == (ignored > 0)


def drawn() -> Detections:
    """An image with a box of each outcome, one with a missed object, and one without an error."""
    boxes = np.asarray([[20 * k + 2, 10, 20 * k + 14, 30] for k in range(8)], dtype=np.float64)
    true = {
        "boxes": boxes[:7],
        "labels": np.asarray([0, 7, 0, 0, 7, 1, 0]),
        "ignored": np.asarray([0, 0, 0, 0, 0, 0, 1]),
    }
    found = {
        "boxes": boxes[[0, 1, 2, 3, 4, 7]],
        "scores": np.linspace(0.9, 0.4, 6),
        "labels": np.asarray([0, 999, 1, 999, 0, 1]),
    }
    missed = {key: column[5:6] for key, column in true.items()}
    fine = {key: column[:1] for key, column in true.items()}
    nothing = {key: column[:0] for key, column in found.items()}
    dataset = Dataset(
        ["all", "<missed>", "fine"], [true, missed, fine], {0: "cat"}, [None] * 3, [(160, 40)] * 3, [0, 1, 2]
    )
    return Detections(dataset, [found, nothing, {key: column[:1] for key, column in found.items()}])


def test_a_report_of_every_outcome(tmp_path: Path) -> None:
    made = drawn()
    options = {"unknown_class_id": 999, "iou_threshold": 0.6}
    results = evaluation.evaluate_detections(made, [0, 1], unknown_class_id=999, iou_threshold=0.6)
    page = reports.write_report(made, results, tmp_path / "new" / "report", [0, 1], **options)
    assert sorted(path.name for path in page.parent.iterdir()) == ["001.png", "002.png", "index.html"]
    text = page.read_text(encoding="utf-8")
    assert evaluation.summary(results) in text
    assert "2 of 3 images" in text
    assert "IoU ≥ 0.6" in text
    assert re.findall(r"<b>(.*?)</b>: (.*?)</fig", text) == [
        ("all", "; ".join(f"{outcomes.OUTCOME_WORDS[outcome]}: 1" for outcome in OUTCOMES)),
        ("&lt;missed&gt;", "missed object: 1"),
    ]
    pixels = np.asarray(Image.open(page.parent / "001.png").convert("RGB"))
    assert pixels.shape == (200, 800, 3)
    seen = {tuple(color) for color in np.unique(pixels.reshape(-1, 3), axis=0).tolist()}
    assert {ImageColor.getrgb(OUTCOME_COLORS[outcome]) for outcome in OUTCOMES} <= seen


def test_images_behind_the_boxes_and_no_more_than_asked_for(tmp_path: Path) -> None:
    made = scenes.scene(8, 12)
    places = scenes.write_as_yolo(made, tmp_path)
    read = formats.read_detections(**places, unknown_class_id=999)
    results = evaluation.evaluate_detections(read, scenes.KNOWN, standard=False, unknown_class_id=999)
    page = reports.write_report(read, results, tmp_path / "report", scenes.KNOWN, images=3, unknown_class_id=999)
    pictures = sorted(page.parent.glob("*.png"))
    assert [path.name for path in pictures] == ["001.png", "002.png", "003.png"]
    background = ImageColor.getrgb("#335577")
    for path in pictures:
        pixels = np.asarray(Image.open(path).convert("RGB")).reshape(-1, 3)
        assert np.mean((pixels == background).all(axis=1)) > 0.3
    boxes = evaluation.box_outcomes(read, Rules(scenes.KNOWN, unknown_class_id=999))
    worst = worst_images(boxes, 3)
    errors = [sum(count_outcomes(part)[name] for name in ERRORS) for part in boxes]
    assert sorted(errors, reverse=True)[:3] == [errors[i] for i in worst]


def test_nothing_to_draw(tmp_path: Path) -> None:
    fine = drawn()
    fine = Detections(
        Dataset(*(column[2:] if isinstance(column, list) else column for column in fine.dataset)), fine.predictions[2:]
    )
    results = evaluation.evaluate_detections(fine, [0], standard=False)
    page = reports.write_report(fine, results, tmp_path, [0])
    assert "No image has an error" in page.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_a_crowd_of_boxes_that_match_nothing() -> None:
    boxes = [BoxOutcome((0, 0, 1, 1), outcomes.NO_OBJECT, 0, 1 - k / 100, None) for k in range(90)]
    right = BoxOutcome((0, 0, 1, 1), outcomes.RIGHT, 0, 0.01, 0)
    assert right.words == "known, right class"
    assert list(shown_boxes([*boxes, right])) == [*boxes[:MAX_WITHOUT_OBJECT], right]


def test_the_report_of_errors_has_a_bar_for_each_side_and_an_example_of_each_kind(tmp_path: Path) -> None:
    made = scenes.scene(6, 40)
    options: dict[str, Any] = {**OPTIONS, "protocol": "owod", "recall_level": None, "errors": True}
    results = evaluation.evaluate_detections(made, scenes.KNOWN, standard=False, **options)
    page = reports.write_report(made, results, tmp_path, scenes.KNOWN, **options).read_text()
    openset = results["openset_metrics"]
    kinds = [kind for kind, count in zip(openset["errors"]["error"], openset["errors"]["count"]) if count]
    assert len(kinds) > 5
    examples = error_examples(made, known_classes=scenes.KNOWN, **options)
    assert [example.error for example in examples] == kinds
    for number, example in enumerate(examples, 1):
        assert f'<img src="error_{number:02}.png" alt="{example.error}">' in page
        assert (tmp_path / f"error_{number:02}.png").is_file()
        assert example.image in range(40)
    for side in ("known", "unknown"):
        assert f"{openset[f'total_{side}']} {side} objects: found" in page
    assert page.count('class="fates"') == 2
    without = reports.write_report(
        made, {"openset_metrics": {"U-Recall": 0.5}}, tmp_path / "b", scenes.KNOWN, **OPTIONS
    )
    assert "Where the errors go" not in without.read_text()


def test_an_example_is_the_most_confident_of_its_kind() -> None:
    box = [[0.0, 0, 10, 10], [50, 0, 60, 10]]
    true = {"boxes": np.asarray(box), "labels": np.asarray([7, 0]), "ignored": np.zeros(2, np.int64)}
    found = {
        "boxes": np.asarray([box[0], box[0], [300.0, 0, 310, 10]]),
        "scores": np.asarray([0.5, 0.9, 0.3]),
        "labels": np.asarray([1, 0, 999]),
    }
    made = Detections(Dataset(["a"], [true], {0: "cat", 1: "dog"}, [None], [None], [1]), [found])
    misnamed, background, missed = error_examples(made, known_classes=[0, 1], unknown_class_id=999)
    assert (misnamed.error, misnamed.boxes[0].score, misnamed.boxes[0].true_label) == ("unknown called known", 0.9, 7)
    assert (background.error, len(background.boxes)) == ("background called unknown", 1)
    assert (missed.error, missed.boxes[0].box) == ("missed", (50.0, 0.0, 60.0, 10.0))
