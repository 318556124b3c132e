"""The report: what became of each box, which images are the worst, and that what is drawn can be seen."""

from __future__ import annotations

import base64
import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pixels, ImageColor

from openworld_metrics import reading, suites
from openworld_metrics.answers.box_errors import BoxErrors, errors_of
from openworld_metrics.answers.folders import compute_detections
from openworld_metrics.faces.report import write_report
from openworld_metrics.reading import Dataset, Detections
from openworld_metrics.reading.boxes.reading import reading_of
from tests.detection import scenes

FATES = {"called another known": "wrong class", "both": "badly placed and misnamed"}  # in words, if others
OPTIONS = {"unknown_class_id": scenes.UNKNOWN_ID, "conf_threshold": 0.1}


def errors_in(detections: Detections, **options: Any) -> BoxErrors:
    (computed,) = compute_detections(reading_of({"": detections}), options, intervals=False).done.models.values()
    errors = errors_of(computed)
    assert errors is not None
    return errors


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
    results = suites.evaluate_detections(made, [0, 1], **options)
    page = write_report(made, results, tmp_path / "new" / "report", [0, 1], **options)
    assert [path.name for path in page.parent.iterdir()] == ["index.html"]
    text = page.read_text(encoding="utf-8")
    assert "://" not in text
    assert "3 images" in text
    assert "8 objects: 6 of 2 known classes, 2 unknown" in text
    assert "The 2 worst of 3, most errors first; 1 without an error" in text
    assert re.findall(r"<b>([^<]*?) · (\d) errors?</b><small>(.*?)</small>", text) == [
        (
            "all",
            "5",
            "1 unknown called known, 1 known called unknown, 1 wrong class, 1 nothing there, 1 missed",
        ),
        ("&lt;missed&gt;", "1", "1 missed"),
    ]
    worst = text.partition("One error of each kind")[0]
    shown = dict(re.findall(r'aria-label="(all|&lt;missed&gt;): .*?>(.*?)</button>', worst, re.S))
    assert Counter(re.findall(r'<i class="box (\w+)"', shown["all"])) == dict.fromkeys(
        ("right", "unknown", "rejected", "wrong", "missed", "nothing"), 1
    ) | {"right": 2}
    assert re.findall(r'<i class="box unknown" style=".*?;(.*?)"', shown["all"]) == [
        "left:51.25%;top:25.0%;width:7.5%;height:50.0%"
    ]
    assert "called 1 (0.40): nothing there, called known" in text


def test_images_behind_the_boxes_and_no_more_than_asked_for(tmp_path: Path) -> None:
    made = scenes.scene(8, 12)
    places = scenes.write_as_yolo(made, tmp_path)
    read = reading.read_detections(**places, unknown_class_id=999)
    results = suites.evaluate_detections(read, scenes.KNOWN, standard=False, unknown_class_id=999)
    page = write_report(read, results, tmp_path / "report", scenes.KNOWN, images=3, unknown_class_id=999)
    text = page.read_text().partition("One error of each kind")[0]
    pictures = re.findall(r'<img .*?src="data:image/jpeg;base64,(.*?)" alt="(\S+): ', text)
    errors = errors_in(read, known_classes=scenes.KNOWN, unknown_class_id=999).errors.tolist()
    worst = [read.dataset.names.index(name) for _, name in pictures]
    assert sorted(errors, reverse=True)[:3] == [errors[place] for place in worst]
    for content, _ in pictures:
        with Pixels.open(io.BytesIO(base64.b64decode(content))) as picture:
            pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3).astype(int)
        assert np.abs(pixels - ImageColor.getrgb("#335577")).max() < 6


@pytest.mark.parametrize("protocol", ["ow-dln", "owod"])
def test_the_report_counts_what_the_metric_counts(protocol: str, tmp_path: Path) -> None:
    made = scenes.scene(6, 40, ignored=0.1)
    options: dict[str, Any] = {**OPTIONS, "protocol": protocol, "recall_level": None, "errors": True}
    results = suites.evaluate_detections(made, scenes.KNOWN, standard=False, **options)
    openset = results["openset_metrics"]
    errors = errors_in(made, known_classes=scenes.KNOWN, **options)
    fates, kinds = openset["fates"], openset["errors"]
    assert [*errors.fates.values()] == fates["count"]
    assert [*errors.fates] == [*zip(fates["objects"], fates["fate"])]
    assert [*errors.kinds.items()] == [*zip(kinds["error"], kinds["count"])][:-1]
    assert sum(errors.confused.values()) == errors.fates["unknown", "called known"]
    page = write_report(made, results, tmp_path, scenes.KNOWN, **options).read_text()
    for side in ("known", "unknown"):
        counts = {FATES.get(fate, fate): count for (of, fate), count in errors.fates.items() if of == side}
        label = re.search(rf'\b{side} objects: ([^;"]*)', page)
        assert label is not None
        shown = {words: int(count) for words, count in re.findall(r"([^,]+?) (\d+)(?:, |$)", label[1])}
        assert {words: count for words, count in shown.items() if count} == {
            words: count for words, count in counts.items() if count
        }
    occurring = [kind for kind, count in zip(kinds["error"], kinds["count"]) if count]
    assert [kind for kind, *_ in errors.examples()] == occurring
    examples = page.partition("One error of each kind")[2].partition("</section>")[0]
    assert re.findall(r"</span>\s*<b>(.*?)</b>", examples) == occurring


def test_the_headline_has_intervals(tmp_path: Path) -> None:
    made = scenes.scene(6, 40)
    drawn: dict[str, Any] = {"standard": False, "confidence_level": 0.95}
    sure = suites.evaluate_detections(made, scenes.KNOWN, **drawn, **OPTIONS)["openset_metrics"]
    results = suites.evaluate_detections(made, scenes.KNOWN, standard=False, **OPTIONS)
    page = write_report(made, results, tmp_path, scenes.KNOWN, **OPTIONS).read_text()
    for key in ("U-Recall", "WI", "A-OSE"):
        ends = f"[{sure[f'{key}_low']:.3f}, {sure[f'{key}_high']:.3f}]"
        assert f'{sure[key]:.3f} <span class="ends">{ends}</span>' in page


def test_nothing_to_draw(tmp_path: Path) -> None:
    fine = drawn()
    fine = Detections(
        Dataset(*(column[2:] if isinstance(column, list) else column for column in fine.dataset)), fine.predictions[2:]
    )
    results = suites.evaluate_detections(fine, [0], standard=False)
    text = write_report(fine, results, tmp_path, [0]).read_text(encoding="utf-8")
    assert "No image has an error" in text
    assert "One error of each kind" not in text
    assert "There are no unknown objects" in text


def test_an_example_is_the_most_confident_of_its_kind() -> None:
    box = [[0.0, 0, 10, 10], [50, 0, 60, 10]]
    true = {"boxes": np.asarray(box), "labels": np.asarray([7, 0]), "ignored": np.zeros(2, np.int64)}
    found = {
        "boxes": np.asarray([box[0], box[0], [300.0, 0, 310, 10]]),
        "scores": np.asarray([0.5, 0.9, 0.3]),
        "labels": np.asarray([1, 0, 999]),
    }
    made = Detections(Dataset(["a"], [true], {0: "cat", 1: "dog"}, [None], [None], [1]), [found])
    misnamed, background, missed = errors_in(made, known_classes=[0, 1], unknown_class_id=999).examples()
    assert (misnamed[0], misnamed[2][0].outcome) == (
        "unknown called known",
        "called cat (0.90), is 7: unknown called known",
    )
    assert (background[0], len(background[2])) == ("background called unknown", 1)
    assert (missed[0], missed[2][0].corners) == ("missed", (50.0, 0.0, 60.0, 10.0))


BOX = np.asarray([[0.0, 0, 20, 20], [40, 0, 60, 20], [0, 40, 20, 60]])


def boxes(labels: list[int], called: list[int]) -> Detections:
    """An image of three objects, each found at its place and called something."""
    true = {"boxes": BOX, "labels": np.asarray(labels), "ignored": np.zeros(3, np.int64)}
    found = {"boxes": BOX, "labels": np.asarray(called), "scores": np.asarray([0.9, 0.8, 0.7])}
    names = {1: "cat", 2: "dog", 3: "cow", 7: "zebra"}
    return Detections(Dataset(["a"], [true], names, [None], [(80, 80)], [0]), [found])


def test_classes_that_unknown_objects_are_called_have_their_own_names() -> None:
    errors = errors_in(boxes([7, 7, 1], [3, 1, 1]), known_classes=[1, 2, 3], unknown_class_id=999)
    assert errors.confused == {(7, 3): 1, (7, 1): 1}


def test_false_boxes_are_errors_of_an_image(tmp_path: Path) -> None:
    made = boxes([1, 1, 1], [1, 1, 1])
    found = {key: np.concatenate([column, column[:1]]) for key, column in made.predictions[0].items()}
    found["boxes"][3] += 55
    found["scores"][3] = 0.99
    made = made._replace(predictions=[found])
    options: dict[str, Any] = {"unknown_class_id": 999}
    errors = errors_in(made, known_classes=[1, 2, 3], **options)
    assert errors.errors.tolist() == [1]
    assert errors.worst(5) == [0]
    results = suites.evaluate_detections(made, [1, 2, 3], standard=False, **options)
    text = write_report(made, results, tmp_path / "report", [1, 2, 3], **options).read_text()
    assert "No image has an error" not in text
    assert "<b>a · 1 error</b><small>1 nothing there</small>" in text
