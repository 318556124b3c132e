"""Pascal VOC's results, a file a class; lists of images; the spellings of COCO and VOC; other fields of scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demo import writers
from openworld_metrics import reading, suites
from openworld_metrics.reading import Dataset, Detections
from tests.detection import scenes

NAMES = {0: "aeroplane", 1: "cat", 4: "tvmonitor"}


def box(name: str, xmin: float = 1, ymin: float = 1, xmax: float = 8, ymax: float = 8) -> str:
    corners = {"xmin": xmin, "ymin": ymin, "xmax": xmax, "ymax": ymax}
    bounds = "".join(f"<{corner}>{value}</{corner}>" for corner, value in corners.items())
    return f"<object><name>{name}</name><bndbox>{bounds}</bndbox></object>"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def voc(tmp_path: Path) -> Path:
    """Three images: a plane, a cat and a yak, and nothing."""
    pages = {"000001": box("aeroplane"), "000002": box("cat") + box("yak", 11, 11, 20, 20), "000003": ""}
    write(tmp_path, {f"Annotations/{name}.xml": f"<annotation>{page}</annotation>" for name, page in pages.items()})
    return tmp_path


def read(folder: Path, **options: Any) -> Detections:
    return reading.read_detections(folder / "results", folder / "Annotations", **options)


def labels(found: Detections) -> list[list[int]]:
    return [boxes["labels"].tolist() for boxes in found.predictions]


def by_class(made: Detections, folder: Path, prefix: str = "") -> None:
    """Write predictions with all digits, pixels from 1."""
    names = {**scenes.NAMES, scenes.UNKNOWN_ID: "unknown"}
    lines: dict[str, list[str]] = {name: [] for name in names.values()}
    for image, boxes in zip(made.dataset.names, made.predictions):
        for (x1, y1, x2, y2), score, label in zip(*(boxes[key].tolist() for key in ("boxes", "scores", "labels"))):
            lines[names[label]].append(f"{image} {score!r} {x1 + 1!r} {y1 + 1!r} {x2!r} {y2!r}")
    write(folder, {f"{prefix}{name}.txt": "\n".join(rows) for name, rows in lines.items()})


@pytest.mark.parametrize(("prefix", "seed"), [("", 0), ("comp4_det_test_", 1), ("comp3_det_val_", 2)])
def test_the_numbers_are_those_of_the_boxes(prefix: str, seed: int, tmp_path: Path) -> None:
    made = scenes.scene(seed)
    places = scenes.write_as_voc(made, tmp_path)
    by_class(made, tmp_path / "results", prefix)
    found = read(tmp_path, classes=scenes.NAMES, unknown_class_id=scenes.UNKNOWN_ID)
    by_dicts = reading.read_detections(**places, unknown_class_id=scenes.UNKNOWN_ID)
    for ours, theirs in zip(found.predictions, by_dicts.predictions):
        order = [np.lexsort([*boxes["boxes"].T.round(6), boxes["scores"]]) for boxes in (ours, theirs)]
        for key in ("boxes", "scores", "labels"):
            np.testing.assert_allclose(ours[key][order[0]], theirs[key][order[1]], rtol=0, atol=1e-9)
    options: dict[str, Any] = {"unknown_class_id": scenes.UNKNOWN_ID, "standard": False}
    results = [suites.evaluate_detections(x, scenes.KNOWN, **options) for x in (found, by_dicts)]
    assert results[0] == results[1]


def test_by_hand(voc: Path) -> None:
    write(
        voc,
        {
            "results/aeroplane.txt": "000001 0.9 1 1 8 8\n\n000003 0.125 3.5 2 4.5 8.5\n",
            "results/cat.txt": "",
            "results/unknown.txt": "000002 0.5 11 11 20 20\n",
        },
    )
    found = read(voc)
    assert found.dataset.classes == {0: "aeroplane", 1: "cat", 2: "yak"}
    assert labels(found) == [[0], [-1], [0]]
    assert [boxes["boxes"].tolist() for boxes in found.predictions] == [
        [[0, 0, 8, 8]],
        [[10, 10, 20, 20]],
        [[2.5, 1, 4.5, 8.5]],
    ]
    assert [boxes["scores"].tolist() for boxes in found.predictions] == [[0.9], [0.5], [0.125]]
    from_zero = read(voc, one_based=False, unknown_class_id=80)
    assert from_zero.predictions[1]["boxes"].tolist() == [[11, 11, 20, 20]]
    assert labels(from_zero)[1] == [80]


def test_boxes_narrower_than_a_pixel(voc: Path) -> None:
    """The writers add 1 to xmin and not to xmax; in float64 11.3 − 1 is more than 10.3."""
    write(voc, {"results/cat.txt": "000001 0.5 17.3 5.3 16.3 4.4\n"})
    boxes = read(voc).predictions[0]["boxes"][0]
    assert (boxes[:2] <= boxes[2:]).all()
    np.testing.assert_allclose(boxes, [16.3, 4.3, 16.3, 4.4])


def test_coco_references(tmp_path: Path) -> None:
    content = {
        "images": [{"id": i, "file_name": f"val/{i:012}.jpg", "width": 9, "height": 9} for i in (139, 7)],
        "categories": [{"id": 5, "name": "airplane"}, {"id": 17, "name": "cat"}],
        "annotations": [],
    }
    write(tmp_path, {"x.json": json.dumps(content), "results/comp4_det_test_aeroplane.txt": "000000000007 1 1 1 2 2"})
    found = reading.read_detections(tmp_path / "results", tmp_path / "x.json")
    assert labels(found) == [[], [5]]
    assert found.aliases == {"aeroplane": "airplane"}
    with pytest.raises(ValueError, match=r"results: expected no names of the predicted classes, which its files have"):
        reading.read_detections(tmp_path / "results", tmp_path / "x.json", classes={0: "cat"})


CLASS = "expected the name of a class of the references, or unknown"
LINE = "000001 0.5 1 1 8 8\n"
WRONG: dict[str, tuple[dict[str, str], str]] = {
    "no class": (
        {"cat.txt": "", "zebra.txt": ""},
        rf"zebra.txt: {CLASS}, got 'zebra'; to list all classes of VOC references, use names=…",
    ),
    "no known class at all": (
        {"zebra.txt": LINE, "a.txt": "\n"},
        rf"a.txt: {CLASS}, got 'a'; to list all classes of VOC references, use names=…",
    ),
    "a prefix alone": ({"comp4_det_test_zebra.txt": ""}, rf"comp4_det_test_zebra.txt: {CLASS}, got 'zebra'"),
    "five fields": (
        {"cat.txt": f"{LINE}000001 0.5 1 1 8"},
        r"cat.txt:2: expected image confidence xmin ymin xmax ymax, got 5 fields",
    ),
    "seven fields": ({"cat.txt": "\n000001 0.5 1 1 8 8 8"}, r"cat.txt:2: expected .*, got 7 fields"),
    "another image": (
        {"cat.txt": f"{LINE}000009 0.5 1 1 8 8"},
        r"cat.txt:2: expected an image of the references, got '000009'",
    ),
    "words": ({"cat.txt": "000001 high 1 1 8 8"}, r"cat.txt:1: expected numbers after the image, got 'high 1 1 8 8'"),
    "NaN": ({"cat.txt": "000001 nan 1 1 8 8"}, r"cat.txt:1: expected finite numbers, xmin ≤ xmax .*, got \[nan"),
    "infinity": ({"cat.txt": "000001 0.5 1 1 1e999 8"}, r"cat.txt:1: expected finite numbers"),
    "turned corners": ({"cat.txt": "\n000001 0.5 8 1 1 8"}, r"cat.txt:2: expected .*, got \[0.5, 8.0, 1.0, 1.0, 8.0\]"),
    "two files": (
        {"cat.txt": "", "comp4_det_test_cat.txt": ""},
        r"comp4_det_test_cat.txt: expected one file of cat, got cat.txt too",
    ),
    "two spellings": (
        {"aeroplane.txt": "", "airplane.txt": ""},
        r"airplane.txt: expected one file of aeroplane, got aeroplane.txt too",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files(name: str, voc: Path) -> None:
    files, pattern = WRONG[name]
    write(voc, {f"results/{file}": text for file, text in files.items()})
    with pytest.raises(ValueError, match=rf"^{voc}/results/{pattern}"):
        read(voc)


def test_bytes_that_are_no_text(voc: Path) -> None:
    (voc / "results").mkdir()
    (voc / "results/cat.txt").write_bytes(b"000001 0.5 1 1 8 8\n\xff")
    with pytest.raises(ValueError, match=r"results/cat.txt: expected UTF-8 text, got the byte 0xff at position 19"):
        read(voc)


def test_texts_of_images_are_not_texts_of_classes(tmp_path: Path) -> None:
    """An image may be called cat."""
    dataset = Dataset(
        ["cat", "x"], scenes.scene(0).dataset.references[:2], {1: "cat"}, [None] * 2, [(8, 8)] * 2, [0, 1]
    )
    writers.write_coco(dataset, tmp_path / "x.json")
    write(tmp_path, {"results/cat.txt": "1 0.5 0.5 1 1 0.5", "results/x.txt": ""})
    found = reading.read_detections(tmp_path / "results", tmp_path / "x.json", classes={1: "cat"})
    assert labels(found) == [[1], []]


def test_spellings_of_names() -> None:
    dataset = scenes.scene(0).dataset._replace(classes=NAMES)
    found = [{**boxes, "labels": boxes["labels"] * 0 + i % 3} for i, boxes in enumerate(scenes.scene(0).predictions)]
    renamed = reading.rename_classes(Detections(dataset, found), {0: "cat", 1: "airplane", 2: "tv"})
    assert renamed.aliases == {"airplane": "aeroplane", "tv": "tvmonitor"}
    assert [set(boxes) <= {(1, 0, 4)[i % 3]} for i, boxes in enumerate(labels(renamed))] == [True] * len(found)
    # two spellings beside each other are one class, also if the data set lacks it
    both = reading.rename_classes(Detections(dataset, found), {0: "aeroplane", 1: "airplane", 2: "cat"})
    assert both.aliases == {"airplane": "aeroplane"}
    assert {label for boxes in labels(both) for label in boxes} == {0, 1}
    other = reading.rename_classes(Detections(dataset, found), {0: "sofa", 1: "couch", 2: "cat"})
    assert other.aliases == {"couch": "sofa"}
    assert len({label for boxes in labels(other) for label in boxes}) == 2
    assert reading.class_ids(["airplane", "tv", "cat"], NAMES) == [0, 4, 1]
    assert reading.class_ids(["tv"], {0: "tvmonitor", 1: "tv"}) == [0]
    assert reading.class_ids([1, "tv", "tvmonitor", 2], {0: "tvmonitor", 1: "tv", 2: "cat"}) == [0, 2]
    assert reading.class_ids(["1_2", " 12", "-1"], {3: "1_2", 12: "x", -1: "y"}) == [3, 12, -1]


def test_image_sets(voc: Path) -> None:
    write(voc, {"sets/two.txt": "000003\n\n000002 -1\n", "results/cat.txt": "000002 0.5 1 1 8 8"})
    found = read(voc, image_set=voc / "sets/two.txt")
    assert found.dataset.names == ["000003", "000002"]
    assert found.dataset.classes == {0: "cat", 1: "yak"}
    assert labels(found) == [[], [0]]
    write(voc, {"results/cat.txt": "000001 0.5 1 1 8 8"})
    with pytest.raises(ValueError, match=r"cat.txt:1: expected an image of the references, got '000001'"):
        read(voc, image_set=voc / "sets/two.txt")


@pytest.mark.parametrize("name", scenes.WRITERS)
def test_image_sets_of_every_format(name: str, tmp_path: Path) -> None:
    made = scenes.scene(1)
    places = scenes.WRITERS[name](made, tmp_path)
    names = reading.read_references(places["references"], classes=places.get("classes")).names
    chosen = [4, 0, 5]
    write(tmp_path, {"set/test.txt": "\n".join(names[i] for i in chosen)})
    dataset = reading.read_references(
        places["references"], classes=places.get("classes"), image_set=tmp_path / "set/test.txt"
    )
    assert dataset.names == [names[i] for i in chosen]
    expected = [made.dataset.references[i] for i in chosen]
    scenes.assert_same_boxes(dataset.references, expected, ("boxes", "labels", "ignored"), 1e-11)


# a list of images → those of val/a, val/b and val/c in its order, or the end of the error
SETS: dict[str, tuple[str | None, list[str] | str]] = {
    "names": ("c\n\nval/a\n", ["val/c", "val/a"]),
    "paths": ("/my data/val/c.png\n./images/val/a.png\nval\\b.jpg\n", ["val/c", "val/a", "val/b"]),
    "columns": ("b 1\na -1\n", ["val/b", "val/a"]),
    "another image": ("a\nz\n", r":2: expected an image of the references, got 'z'"),
    "another folder": ("train/a.jpg", ":1: expected an image of the references, got 'train/a.jpg'"),
    "a second suffix": ("val/a.v1", ":1: expected an image of the references, got 'val/a.v1'"),
    "another case": ("A.png", r":1: expected an image of the references, got 'A.png'; 'a' differs"),
    "twice": ("a\n\nval/a.png 1\n", r":3: expected each image once, got 'val/a.png' again"),
    "none": ("\n \n", r": expected a list of images, got an empty one"),
    "none there": (None, r": expected a list of images, got No such file or directory"),
}


@pytest.mark.parametrize("name", SETS)
def test_lists_of_images(name: str, tmp_path: Path) -> None:
    text, expected = SETS[name]
    content = {"images": [{"id": i, "file_name": f"val/{i}.png"} for i in "abc"], "categories": [], "annotations": []}
    write(tmp_path, {"x.json": json.dumps(content)} | ({} if text is None else {"set.txt": text}))
    if isinstance(expected, list):
        assert reading.read_references(tmp_path / "x.json", image_set=tmp_path / "set.txt").names == expected
        return
    with pytest.raises(ValueError, match=rf"^{tmp_path}/set.txt{expected}"):
        reading.read_references(tmp_path / "x.json", image_set=tmp_path / "set.txt")


def test_another_field_of_scores(tmp_path: Path) -> None:
    """As UnSniffer writes it, beside category 81 for unknown."""
    made = scenes.scene(3)
    places = scenes.write_as_coco(made, tmp_path)
    results = json.loads(places["predictions"].read_text())
    for i, entry in enumerate(results):
        entry["complete_scores"] = 1 / (i + 2)
    places["predictions"].write_text(json.dumps(results))
    found = reading.read_detections(**places, unknown_class_id=scenes.UNKNOWN_ID, score_field="complete_scores")
    scores = np.concatenate([boxes["scores"] for boxes in found.predictions])
    assert sorted(scores, reverse=True) == [1 / (i + 2) for i in range(len(results))]
    with pytest.raises(ValueError, match=r"results.json: results\[0\]: expected p to be a number, got no p"):
        reading.read_detections(**places, unknown_class_id=scenes.UNKNOWN_ID, score_field="p")
    yolo = scenes.write_as_yolo(made, tmp_path / "yolo")
    with pytest.raises(ValueError, match=r"predictions: expected COCO results with p, got another format"):
        reading.read_detections(**yolo, unknown_class_id=scenes.UNKNOWN_ID, score_field="p")
