"""Answers of openset_detection: counts are the metric's, at every threshold; pictures show what the counts say."""

from __future__ import annotations

import base64
import io
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pixels

from openworld_metrics.answers import detection, pictures
from openworld_metrics.answers.answer import Bars, Curves, Matrix
from openworld_metrics.answers.box_errors import errors_of
from openworld_metrics.answers.detection import SUBJECT
from openworld_metrics.answers.subject import Computed
from openworld_metrics.detection.openset_detection import OpenSetDetection
from openworld_metrics.reading import Dataset, Detections
from openworld_metrics.reading.boxes.reading import BoxReading
from openworld_metrics.reading.columns.metrics import layout_of
from openworld_metrics.reading.limits import RefusedError
from tests.answers.models import first_of
from tests.detection import scenes

OPTIONS: dict[str, Any] = {"known_classes": scenes.KNOWN, "unknown_class_id": scenes.UNKNOWN_ID}


def computed(*several: Detections, photographs: Any = (), **options: Any) -> Computed:
    """The computation of the first of several detectors beside the others."""
    dataset, models = several[0].dataset, dict(zip(("one", "two"), several))
    columns = {name: {"predictions": one.predictions, "references": dataset.references} for name, one in models.items()}
    more = {"images": dataset.names, "classes": dataset.classes, "sizes": dataset.sizes, "detections": models}
    reading = BoxReading(SUBJECT.name, columns, **more)
    return first_of(OpenSetDetection, reading, {**OPTIONS, **options}, photographs)


def results(of: Computed, **options: Any) -> dict[str, Any]:
    """The results of the metric with other options."""
    return OpenSetDetection(**{**of.options, **options}).compute(**of.columns)


def figures(of: Computed, kind: type[Any]) -> list[Any]:
    return [figure for figure in SUBJECT.figures(of) if isinstance(figure, kind)]


CASES = [
    {"protocol": "ow-dln"},
    {"protocol": "ow-dln", "matching": "confidence", "conf_threshold": 0.2},
    {"protocol": "owod", "recall_level": None},
    {"protocol": "owod", "recall_level": None, "plus_one": True, "iou_threshold": 0.75},
]


@pytest.mark.parametrize("options", CASES, ids=["iou", "confidence", "owod", "plus one"])
@pytest.mark.parametrize("ignored", [0.0, 0.3])
def test_figures_count_what_the_metric_counts(options: dict[str, Any], ignored: float) -> None:
    of = computed(scenes.scene(6, 40, ignored=ignored), **options)
    own = results(of, errors=True)
    (bars,), (called, *confused) = figures(of, Bars), figures(of, Matrix)
    fates = dict(zip(zip(own["fates"]["objects"], own["fates"]["fate"]), own["fates"]["count"]))
    for row, counts in zip(bars.rows, bars.counts):
        side = row.split()[0]
        assert sum(counts) == own[f"total_{side}"] == sum(count for (of, _), count in fates.items() if of == side)
        assert dict(zip(bars.parts, counts))["found"] == own[f"TP_{side}"] > 0
    known, unknown, nothing = called.counts
    assert known[0] == own["TP_known"]
    assert unknown[2] == own["TP_unknown"]
    assert (sum(known), sum(unknown[1:])) == (own["total_known"], own["total_unknown"])
    kinds = dict(zip(own["errors"]["error"], own["errors"]["count"]))
    assert nothing == [None, kinds["background called known"], kinds["background called unknown"], None, None]
    assert sum(sum(row) for figure in confused for row in figure.counts) == fates["unknown", "called known"] > 0
    (table,) = (table for table in SUBJECT.tables(of) if table.title == "Kinds of errors")
    assert dict(zip(*table.columns.values())) == kinds


@pytest.mark.parametrize("options", CASES, ids=["iou", "confidence", "owod", "plus one"])
def test_boxes_of_images_add_up_to_the_counts(options: dict[str, Any]) -> None:
    of = computed(scenes.scene(6, 40, ignored=0.1), **options)
    own, errors = results(of, errors=True), errors_of(of)
    assert errors is not None
    boxes = Counter(box.outcome.rpartition(": ")[2] for image in range(40) for box in errors.boxes(image))
    words = {
        kind: kind.replace("both,", "badly placed,").replace("background", "nothing there,") for kind in errors.kinds
    }
    assert {kind: boxes[words[kind]] for kind in errors.kinds} == errors.kinds
    assert boxes["right"] == own["TP_known"] + own["TP_unknown"] > 0
    assert boxes["missed"] == own["errors"]["count"][-1] > 0
    occurring = [kind for kind, count in zip(own["errors"]["error"], own["errors"]["count"]) if count]
    assert [kind for kind, *_ in errors.examples()] == occurring
    for kind, image, (first, *_) in errors.examples():
        assert first in errors.boxes(image)
        if kind != "missed":
            score = max(
                float(box.outcome.split("(")[1][:4])
                for each in range(40)
                for box in errors.boxes(each)
                if box.outcome.endswith(f": {words[kind]}")
            )
            assert f"({score:.2f})" in first.outcome


def test_a_crowd_of_boxes() -> None:
    box = np.asarray([[float(k), 0, k + 1, 1] for k in range(3000)])
    true = {"boxes": box[:2910], "labels": np.zeros(2910, int), "ignored": np.zeros(2910, int)}
    predicted = {"boxes": np.delete(box, slice(2900, 2910), 0), "scores": np.linspace(1, 0.1, 2990)}
    predicted["labels"] = np.zeros(2990, int)
    sizes: Any = [(3000, 10)]
    dataset = Dataset(["a"], [true], {0: "cat"}, [None], sizes, [1])
    (image,) = SUBJECT.images(computed(Detections(dataset, [predicted]), known_classes=[0]))
    assert [each.role for each in image.boxes] == ["missed"] * 10 + ["right"] * 50
    assert [each.corners[0] for each in image.boxes[10:]] == [*range(50)]
    assert image.said == "90 nothing there, 10 missed; 60 of 3,000 boxes are drawn"


def test_without_an_error_there_is_no_image() -> None:
    one = scenes.scene(6, 12)
    same = [
        {
            "boxes": true["boxes"],
            "scores": np.ones(len(true["labels"])),
            "labels": np.where(np.isin(true["labels"], scenes.KNOWN), true["labels"], scenes.UNKNOWN_ID),
        }
        for true in one.dataset.references
    ]
    of = computed(one._replace(predictions=same))
    assert SUBJECT.images(of) == []
    (bars,) = figures(of, Bars)
    assert (bars.parts, bars.note) == (["found"], "all unknown objects are found")


@pytest.mark.parametrize("options", CASES[1:3], ids=["ow-dln", "owod"])
def test_decisions_are_those_of_a_recount_at_every_threshold(options: dict[str, Any]) -> None:
    of = computed(scenes.scene(3, 20), **options)
    decisions = SUBJECT.decisions(of)
    assert decisions is not None
    confidences = sorted({*of.state["predictions"][:, 4].tolist()})
    confidences = [each for each in confidences if each >= of.options["conf_threshold"]]
    assert list(decisions.ends) == [*confidences, np.inf]
    for place, text in enumerate(decisions.thresholds):
        at = float(text)
        assert sum(each > at for each in confidences) == sum(each >= at for each in confidences)
        own = results(of, conf_threshold=max(at, of.options["conf_threshold"]))
        assert {name: column[place] for name, column in decisions.counts.items()} == {
            name: own[name] for name in decisions.counts
        }
        for name, column in decisions.values.items():
            assert column[place] == own[name]
    assert decisions.presets["every box"] == 0


def test_the_numbers_over_thresholds_are_the_results() -> None:
    of = computed(scenes.scene(3, 20), scenes.scene(4, 20)._replace(dataset=scenes.scene(3, 20).dataset))
    of = replace(of, options={**of.options, "matching": "confidence"})
    curves = figures(of, Curves)
    assert SUBJECT.figures(of)[0] == curves[0]
    assert [figure.axes[1] for figure in curves] == ["U-Recall", "WI", "A-OSE"]
    for figure in curves:
        assert [(each.name, each.role, each.selected) for each in figure.series] == [
            ("one", "d1", True),
            ("two", "d2", False),
        ]
        assert figure.series[0].y[0] == results(of)[figure.axes[1]]
        decisions = SUBJECT.decisions(of)
        first, last = (float(decisions.thresholds[place]) for place in (0, -1))
        values = decisions.values[figure.axes[1]]
        assert figure.series[0].x == [first, *decisions.ends[:-1], last]
        assert figure.series[0].y == [values[0], *values]


def one_of_each() -> Detections:
    """An image with a box of each outcome, one with a missed object, and one without an error."""
    boxes = np.asarray([[20 * k + 2, 10, 20 * k + 14, 30] for k in range(9)], dtype=np.float64)
    true = {
        "boxes": boxes[:8],
        "labels": np.asarray([0, 7, 0, 0, 7, 1, 0, 2]),
        "ignored": np.asarray([0, 0, 0, 0, 0, 0, 1, 0]),
    }
    near = boxes[[7]] + [6.0, 0, 6, 0]
    predicted = {
        "boxes": np.concatenate([boxes[[0, 1, 2, 3, 4, 8]], near]),
        "scores": np.linspace(0.9, 0.3, 7),
        "labels": np.asarray([0, 999, 1, 999, 0, 1, 2]),
    }
    missed = {key: column[5:6] for key, column in true.items()}
    fine = {key: column[:1] for key, column in true.items()}
    nothing = {key: column[:0] for key, column in predicted.items()}
    sizes: Any = [(180, 40)] * 3
    dataset = Dataset(["all", "<missed>", "fine"], [true, missed, fine], {0: "cat"}, [None] * 3, sizes, [0, 1, 2])
    return Detections(dataset, [predicted, nothing, {key: column[:1] for key, column in predicted.items()}])


def test_a_box_of_each_outcome() -> None:
    of = computed(one_of_each(), iou_threshold=0.6)
    every, missed = SUBJECT.images(of)
    assert (every.name, missed.name) == ("all", "<missed>")
    assert every.said == (
        "1 unknown called known, 1 known called unknown, 1 wrong class, 1 badly placed, 1 nothing there, 1 missed"
    )
    assert sorted((box.role, box.label, box.outcome) for box in every.boxes) == [
        ("misplaced", "2", "called 2 (0.30), is 2: badly placed"),
        ("missed", "1, missed", "1: missed"),
        ("nothing", "1", "called 1 (0.40): nothing there, called known"),
        ("object", "", "2"),
        ("rejected", "unknown", "called unknown (0.60), is cat: known called unknown"),
        ("right", "cat", "called cat (0.90), is cat: right"),
        ("right", "unknown", "called unknown (0.80), is 7: right"),
        ("unknown", "cat", "called cat (0.50), is 7: unknown called known"),
        ("wrong", "1", "called 1 (0.70), is cat: known called another known"),
    ]
    assert every.size == (180, 40)
    assert [*map(tuple, detection.called(errors_of(of)).counts)] == [
        (2, 1, 1, 1, 2),
        (None, 1, 1, 0, 0),
        (None, 1, 0, None, None),
    ]
    assert SUBJECT.data(of) == "3 images, 9 objects: 7 known, 2 unknown"
    (bars,) = figures(of, Bars)
    assert bars.note == "of the unknown objects 50 % found, 50 % called a known class"


def test_tables() -> None:
    of = computed(scenes.scene(6, 12), per_class=True, per_image=True, errors=True)
    classes, kinds, images = SUBJECT.tables(of)
    assert (classes.title, kinds.title, images.title) == ("Classes", "Kinds of errors", "Images")
    assert {*of.results["per_class"]} <= {*classes.columns}


def test_a_closed_set_detector_is_not_asked_for_unknown_objects() -> None:
    one = scenes.scene(6, 30)
    known = [{**boxes, "labels": np.where(boxes["labels"] == 999, 0, boxes["labels"])} for boxes in one.predictions]
    of = computed(one._replace(predictions=known))
    settled, note = SUBJECT.settle({"one": of})
    assert note.lower().startswith("no prediction is unknown")
    assert "U-Recall" not in settled["one"].results
    assert [figure.axes[1] for figure in figures(settled["one"], Curves)] == ["A-OSE"]
    assert "called unknown" not in figures(settled["one"], Bars)[0].parts
    assert [row[2] for row in figures(settled["one"], Matrix)[0].counts] == [None] * 3
    assert {*SUBJECT.decisions(settled["one"]).counts} == {"TP_known", "FN_known", "FP_known"}
    for table in SUBJECT.tables(settled["one"]):
        assert "called unknown" not in str(table)
    same, note = SUBJECT.settle({"one": computed(one)})
    assert (note, "U-Recall" in same["one"].results) == ("", True)


def test_without_fates_below_the_least_overlap() -> None:
    of = computed(scenes.scene(6, 12), iou_threshold=0.05)
    assert {type(figure).__name__ for figure in SUBJECT.figures(of)} == {"Curves"}
    assert SUBJECT.images(of) == []
    assert len(SUBJECT.notes(of)) == 1


def test_options_follow_from_tables_of_boxes() -> None:
    columns = {
        "predictions": [[[0, 0, 4, 4, 0.9, 2], [0, 0, 4, 4, 0.8, 999]], []],
        "references": [[[0, 0, 4, 4, 2]], [[0, 0, 4, 4, 7]]],
    }
    options, (known, unknown) = layout_of(SUBJECT.name).implied({"one": columns})
    assert options == {"known_classes": (2,), "unknown_class_id": 999}
    assert known.startswith("Guessed: known classes 2 (predicted by the detector); ")
    assert unknown.startswith("Guessed: unknown id 999 (predicted, never annotated); ")
    assert layout_of(SUBJECT.name).implied({"one": {"predictions": [["x"]], "references": []}}) == ({}, [])


def test_meanings_depend_on_the_protocol() -> None:
    for protocol, more in (("ow-dln", {}), ("owod", {"recall_level": None})):
        of = computed(scenes.scene(6, 30), protocol=protocol, errors=True, **more)
        rates = of.summary.rates()
        assert [key for key in rates if not SUBJECT.words(str(key), of.options)[1]] == []
    assert SUBJECT.words("WI", {"protocol": "owod"}) != SUBJECT.words("WI", {"protocol": "ow-dln"})


def test_photographs_lie_behind_boxes_by_name(tmp_path: Path) -> None:
    one = one_of_each()
    with zipfile.ZipFile(tmp_path / "photographs.zip", "w") as archive:
        for name, color in (("set/all.png", "#335577"), ("set/other.png", "#ff0000"), ("set/._all.png", "#00ff00")):
            file = io.BytesIO()
            Pixels.new("RGB", (360, 80), color).save(file, "PNG")
            archive.writestr(name, file.getvalue())
    shown = SUBJECT.images(computed(one, photographs=[tmp_path / "photographs.zip"]))
    assert [bool(image.picture) for image in shown] == [True, False]
    content = Pixels.open(io.BytesIO(base64.b64decode(shown[0].picture.partition(",")[2])))
    assert content.size == (360, 80)
    assert np.abs(np.asarray(content, int) - [0x33, 0x55, 0x77]).max() < 8
    small = Pixels.open(io.BytesIO(base64.b64decode(shown[0].thumbnail.partition(",")[2])))
    assert small.size == (212, 47)
    assert np.abs(np.asarray(small, int)[0, 0] - [0x33, 0x55, 0x77]).max() < 20
    alone = tmp_path / "any.jpg"
    Pixels.new("RGB", (360, 80), "#335577").save(alone)
    assert [bool(image.picture) for image in SUBJECT.images(computed(one, photographs=[alone]))] == [True, True]
    turned = Pixels.new("RGB", (80, 360), "#335577")
    turned.getexif()[0x0112] = 6
    turned.save(alone, exif=turned.getexif())
    picture, size = pictures.read_photograph(pictures.Photograph(alone), 100)
    assert (picture.size, size) == ((100, 22), (360, 80))
    alone.write_bytes(b"no photograph")
    with pytest.raises(ValueError, match=r"any\.jpg: cannot identify"):
        [*SUBJECT.images(computed(one, photographs=[alone]))]
    many = tmp_path / "many.zip"
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(5_001):
            archive.writestr(f"{number}.png", b"")
    with pytest.raises(RefusedError, match=r"many\.zip"):
        [*SUBJECT.images(computed(one, photographs=[many]))]


def test_boxes_in_fractions_of_an_image_lie_on_its_pixels(tmp_path: Path) -> None:
    one = one_of_each()
    sides = [
        [{**each, "boxes": each["boxes"] / 200} for each in side] for side in (one.predictions, one.dataset.references)
    ]
    dataset = one.dataset._replace(references=sides[1], sizes=[None] * 3)
    shares = Detections(dataset, sides[0])
    plain, *_ = SUBJECT.images(computed(shares))
    assert plain.size == (1.0, 1.0)
    Pixels.new("RGB", (400, 300), "#335577").save(tmp_path / "all.png")
    image, *_ = SUBJECT.images(computed(shares, photographs=[tmp_path / "all.png"]))
    assert image.size == (400, 300)
    scaled = [tuple(np.asarray(box.corners) * [400, 300, 400, 300]) for box in plain.boxes]
    assert [box.corners for box in image.boxes] == [pytest.approx(corners) for corners in scaled]


def test_pictures_are_made_smaller_until_they_fit() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (900, 1200, 3), dtype=np.uint8)
    large, small = (pictures.data_url(Pixels.fromarray(noise), most) for most in (10_000_000, 90_000))
    assert len(small) <= 90_000 < len(large)
