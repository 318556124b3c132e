"""Both spellings of a class are one class, and a name that means unknown is the unknown class, wherever names stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from demo import writers
from openworld_metrics import reading, suites
from openworld_metrics.reading import Dataset, Detections
from openworld_metrics.reading.boxes.dataset import class_key
from tests.detection import scenes

# of the scenes' classes 0 to 4, in the first spelling and the second; 0, 1 and 2 are known
SPELLINGS = [("sofa", "couch"), ("tv", "tvmonitor"), ("cat", "cat"), ("aeroplane", "airplane"), ("yak", "yak")]
OPTIONS: dict[str, Any] = {"per_class": True, "per_image": True, "errors": True, "standard": False}
OWOD: dict[str, Any] = {"protocol": "owod", "recall_level": None}


def page_of(boxes: dict[str, np.ndarray], names: list[str]) -> str:
    objects = zip(boxes["boxes"].tolist(), names, boxes["ignored"].tolist())
    return "".join(
        f"<object><name>{name}</name><difficult>{ignored}</difficult><bndbox><xmin>{x1 + 1}</xmin><ymin>{y1 + 1}</ymin>"
        f"<xmax>{x2}</xmax><ymax>{y2}</ymax></bndbox></object>"
        for (x1, y1, x2, y2), name, ignored in objects
    )


def write_voc(made: Detections, folder: Path, rng: np.random.Generator) -> tuple[dict[str, Path], dict[str, Any]]:
    """M-OWODB in miniature: each object, and each file of results, by either spelling."""
    (folder / "Annotations").mkdir(parents=True)
    (folder / "results").mkdir()
    for name, boxes in zip(made.dataset.names, made.dataset.references):
        names = [SPELLINGS[label][rng.integers(2)] for label in boxes["labels"].tolist()]
        (folder / "Annotations" / f"{name}.xml").write_text(f"<annotation>{page_of(boxes, names)}</annotation>")
    files = {label: f"{SPELLINGS[label][rng.integers(2)]}.txt" for label in scenes.KNOWN} | {999: "unknown.txt"}
    for label, file in files.items():
        rows = [
            f"{name} {score!r} {x1 + 1} {y1 + 1} {x2} {y2}\n"
            for name, boxes in zip(made.dataset.names, made.predictions)
            for (x1, y1, x2, y2), score, own in zip(*(boxes[key].tolist() for key in ("boxes", "scores", "labels")))
            if own == label
        ]
        (folder / "results" / file).write_text("".join(rows))
    return {"predictions": folder / "results", "references": folder / "Annotations"}, {}


CLASSES = {i + 5 * second: names[second] for i, names in enumerate(SPELLINGS) for second in range(len({*names}))}


def with_either_id(made: Detections, rng: np.random.Generator) -> Detections:
    """Classes with two spellings have two ids, k and k + 5, of which each box gets one."""

    def mixed(boxes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        other = boxes["labels"] + 5 * rng.integers(0, 2, len(boxes["labels"]))
        return {**boxes, "labels": np.where(np.isin(other, [*CLASSES]), other, boxes["labels"])}

    data = made.dataset._replace(references=[mixed(boxes) for boxes in made.dataset.references], classes=CLASSES)
    return made._replace(dataset=data, predictions=[mixed(boxes) for boxes in made.predictions])


def write_coco(made: Detections, folder: Path, rng: np.random.Generator) -> tuple[dict[str, Path], dict[str, Any]]:
    return scenes.write_as_coco(with_either_id(made, rng), folder), {"unknown_class_id": scenes.UNKNOWN_ID}


def write_yolo(made: Detections, folder: Path, rng: np.random.Generator) -> tuple[dict[str, Path], dict[str, Any]]:
    places = scenes.write_as_yolo(with_either_id(made, rng), folder)
    (folder / "data.yaml").write_text(yaml.safe_dump({"val": "images/val", "names": CLASSES}))
    return places, {"unknown_class_id": scenes.UNKNOWN_ID}


def write_ids(made: Detections, folder: Path, rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    """YOLO's predictions, whose names tell what their ids mean, beside COCO's annotations."""
    mixed = with_either_id(made, rng)
    shifted = [
        {**boxes, "labels": np.where(boxes["labels"] < 20, boxes["labels"] + 20, boxes["labels"])}
        for boxes in mixed.predictions
    ]
    places, options = scenes.write_as_coco(mixed, folder), {"unknown_class_id": scenes.UNKNOWN_ID}
    writers.write_yolo_predictions(made._replace(predictions=shifted), folder / "predictions")
    names = {i + 20: name for i, name in CLASSES.items()}
    return {**places, "predictions": folder / "predictions", "classes": names}, options


WRITERS = {"VOC": write_voc, "COCO": write_coco, "YOLO": write_yolo, "names": write_ids}


def numbers(found: Detections, known: list[str], **options: Any) -> dict[str, Any]:
    """The results, with the rows of classes by one spelling, in one order."""
    results = suites.evaluate_detections(found, reading.class_ids(known, found.dataset.classes), **OPTIONS, **options)[
        "openset_metrics"
    ]
    table = results.pop("per_class")
    columns = {name: column for name, column in table.items() if name not in ("class", "name")}
    names = map(class_key, table["name"])
    rows = sorted(zip(names, *columns.values()))
    per_image = {name: x for name, x in results.pop("per_image").items() if name not in ("name", "width", "height")}
    return {**results, "per_class": rows, "per_image": per_image}


@pytest.mark.parametrize("protocol", [{}, OWOD], ids=["ow-dln", "owod"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("form", WRITERS)
def test_a_second_spelling_changes_no_number(form: str, seed: int, protocol: dict[str, Any], tmp_path: Path) -> None:
    made = scenes.scene(seed, 12, ignored=0.0 if form == "YOLO" else 0.1)
    names = {i: first for i, (first, _) in enumerate(SPELLINGS)}
    plain = made._replace(dataset=made.dataset._replace(classes=names), unknown_class_id=scenes.UNKNOWN_ID)
    expected = numbers(plain, [first for first, _ in SPELLINGS[:3]], **protocol)
    rng = np.random.default_rng(seed)
    for attempt in range(3):
        places, options = WRITERS[form](made, tmp_path / str(attempt), rng)
        found = reading.read_detections(**places, **options)
        known = [SPELLINGS[label][rng.integers(2)] for label in scenes.KNOWN]
        assert numbers(found, known, **options, **protocol) == expected


BOXES = [[0.0, 0.0, 10.0, 10.0], [50.0, 50.0, 60.0, 60.0], [20.0, 20.0, 30.0, 30.0]]


def write_unknown(form: str, folder: Path, name: str) -> dict[str, Any]:
    """A cat, and two unknown objects: a yak, and one of a category of its own. The detector finds all three."""
    classes, boxes = {0: "cat", 1: "yak", 4: name}, np.asarray(BOXES)
    true = {"boxes": boxes, "labels": np.asarray([0, 1, 4]), "ignored": np.zeros(3, np.int64)}
    predicted = {"boxes": boxes, "scores": np.full(3, 0.9), "labels": np.asarray([0, 4, 4])}
    made = Detections(Dataset(["a"], [true], classes, [None], [(100, 100)], [1]), [predicted])
    if form == "COCO":
        return scenes.write_as_coco(made, folder)
    if form == "YOLO":
        places = scenes.write_as_yolo(made, folder)
        names = {**{i: str(i) for i in range(5)}, **classes}
        (folder / "data.yaml").write_text(yaml.safe_dump({"val": "images/val", "names": names}))
        return places
    if form == "dicts":
        return {**scenes.write_as_dicts(made, folder), "classes": classes}
    for place in ("Annotations", "results"):
        (folder / place).mkdir()
    page = page_of(true, [classes[i] for i in true["labels"].tolist()])
    (folder / "Annotations/a.xml").write_text(f"<annotation>{page}</annotation>")
    first, *others = [f"a 0.9 {x1 + 1} {y1 + 1} {x2} {y2}\n" for x1, y1, x2, y2 in BOXES]
    (folder / "results/cat.txt").write_text(first)
    (folder / f"results/{name}.txt").write_text("".join(others))
    return {"references": folder / "Annotations", "predictions": folder / "results"}


@pytest.mark.parametrize("name", ["unknown", "UNK", "Unknown_Object", "ood", "novel", "Unseen classes"])
@pytest.mark.parametrize("form", ["VOC", "COCO", "YOLO", "dicts"])
def test_a_name_that_means_unknown(form: str, name: str, tmp_path: Path) -> None:
    places = write_unknown(form, tmp_path, name)
    found = reading.read_detections(**places)
    known = reading.class_ids(["cat"], found.dataset.classes)
    results = suites.evaluate_detections(found, known, per_class=True)["openset_metrics"]
    assert (results["U-Recall"], results["TP_unknown"], results["FP_known"]) == (1.0, 2, 0)
    assert results["per_class"]["name"] == ["cat", name]
    own = next(i for i, other in found.dataset.classes.items() if other == name)
    with pytest.raises(
        ValueError, match=rf"known_classes: expected them without class {own}, since its name, '{name}'"
    ):
        suites.evaluate_detections(found, [*known, own])
    stated = reading.read_detections(**places, unknown_class_id=77)
    results = suites.evaluate_detections(stated, [*known, own], unknown_class_id=77)["openset_metrics"]
    # a stated id wins: the class is known; unknown.txt is always of the unknown class
    assert results["TP_known"] == (1 if (form, name) == ("VOC", "unknown") else 2)


def test_names_of_predictions_that_mean_unknown(tmp_path: Path) -> None:
    """The detector's classes are named otherwise than the data set's."""
    places = write_unknown("YOLO", tmp_path, "bird")
    for names in ({0: "cat", 1: "yak", 4: "unknown"}, {0: "cat", 4: "OOD"}):
        found = reading.read_detections(**places, classes=names)
        results = suites.evaluate_detections(found, [0])["openset_metrics"]
        assert (results["U-Recall"], results["TP_unknown"], results["FP_known"]) == (1.0, 2, 0)
    never = [boxes | {"labels": boxes["labels"] * 0} for boxes in found.predictions]
    assert suites.evaluate_detections(found._replace(predictions=never), [0])["openset_metrics"]["U-Recall"] == 0.0


def test_two_classes_of_predictions_that_mean_unknown(tmp_path: Path) -> None:
    found = reading.read_detections(**write_unknown("COCO", tmp_path, "unknown"))
    labels = [boxes | {"labels": np.asarray([0, 4, -1])} for boxes in found.predictions]
    with pytest.raises(ValueError, match=r"unknown_class_id: expected .* by one class, got 4 \(unknown\) and -1 \(the"):
        suites.evaluate_detections(found._replace(predictions=labels), [0])
    labels = [boxes | {"labels": np.asarray([0, -1, -1])} for boxes in found.predictions]
    results = suites.evaluate_detections(found._replace(predictions=labels), [0])["openset_metrics"]
    assert results["TP_unknown"] == 2, "the usual id, which is the only one predicted"
