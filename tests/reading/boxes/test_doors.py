"""The page, the command and Python read boxes alike: the same columns, names, census and errors."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from openworld_metrics.command import cli, detect
from openworld_metrics.reading import read_boxes
from openworld_metrics.reading.cures import CurableError
from openworld_metrics.reading.reading import BOXES, IMAGES, LABELS, PREDICTED, PREDICTIONS
from openworld_metrics.suites import evaluate_detections
from tests.detection import scenes
from tests.reading.page import read_page

BOX = "0 .5 .5 .2 .2"
COCO: dict[str, Any] = {
    "images": [{"id": 1, "file_name": "val/a.jpg", "width": 100, "height": 100}, {"id": 2, "file_name": "val/b.jpg"}],
    "categories": [{"id": 0, "name": "cat"}, {"id": 1, "name": "unknown"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 0, "bbox": [40, 40, 20, 20]}],
}
RESULT = {"image_id": 1, "category_id": 0, "bbox": [40, 40, 20, 20], "score": 0.9}
VOC = (
    "<a><object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox></object></a>"
)
IMAGES_OF = {f"r/images/val/{name}.png": "" for name in "ab"}
LABELS_OF = {"r/labels/val/a.txt": BOX, "r/labels/val/b.txt": ""}
FOUND = {"p/a.txt": f"{BOX} .9", "p/b.txt": f"{BOX} .5"}
DATA = {"r/data.yaml": "val: images/val\nnames: [cat, unknown]\n"}
CROWD = {**COCO, "annotations": [*COCO["annotations"], {**COCO["annotations"][0], "id": 2, "iscrowd": 1}]}

# files → the sum of known true and predicted boxes, or a part of the error; folders p and r are archives
CASES: dict[str, tuple[dict[str, Any], tuple[int, int] | str]] = {
    "labels alone": ({**FOUND, **LABELS_OF}, (1, 2)),
    "labels with names": ({**FOUND, **LABELS_OF, **DATA}, (1, 2)),
    "images": ({**FOUND, **LABELS_OF, **IMAGES_OF}, (1, 2)),
    "data.yaml": ({**FOUND, **LABELS_OF, **IMAGES_OF, **DATA}, (1, 2)),
    "predictions in folders": ({"p/run/val/a.txt": f"{BOX} .9", **LABELS_OF}, (1, 1)),
    "predictions of an image without labels": ({**FOUND, "p/c.txt": f"{BOX} .5", **LABELS_OF}, (1, 3)),
    "lists of classes": ({**FOUND, "p/classes.txt": "cat", **LABELS_OF, "r/labels/classes.txt": "cat"}, (1, 2)),
    "repeated lines": ({**FOUND, "r/a.txt": f"{BOX}\n{BOX}", "r/b.txt": ""}, (1, 2)),
    "COCO": ({"p.json": [RESULT], "r.json": COCO}, (1, 1)),
    "COCO in archives": ({"p/found.json": [RESULT], "r/true.json": COCO}, (1, 1)),
    "a crowd": ({"p.json": [RESULT], "r.json": CROWD}, (2, 1)),
    "unknown without a category": ({"p.json": [RESULT, {**RESULT, "category_id": 999}], "r.json": COCO}, (1, 2)),
    "VOC": ({"p/cat.txt": "a 0.5 1 1 5 5", "r/Annotations/a.xml": VOC}, (1, 1)),
    "dicts": (
        {
            "p.json": [{"boxes": [[0, 0, 4, 4]], "scores": [0.5], "labels": [0]}],
            "r.json": [{"boxes": [[0, 0, 4, 4]], "labels": [0]}],
        },
        (1, 1),
    ),
    "dicts of tensors": (
        {
            "p.pt": [{"boxes": [[0.0, 0, 4, 4]], "scores": [0.5], "labels": [0]}],
            "r.pt": [{"boxes": [[0.0, 0, 4, 4]], "labels": [0]}],
        },
        (1, 1),
    ),
    "YOLO beside COCO": ({**FOUND, "r.json": COCO}, "expected the names of the classes, since ids in YOLO"),
    "COCO beside labels": ({"p.json": [RESULT], **LABELS_OF}, "expected the names of the classes, since ids in COCO"),
    "dicts beside VOC": (
        {"p.json": [{"boxes": [[0, 0, 4, 4]], "scores": [0.5], "labels": [0]}], "r/Annotations/a.xml": VOC},
        "expected the names of the classes, since ids in these predictions may mean other classes than in VOC",
    ),
    "VOC beside labels": (
        {"p/cat.txt": "a 0.5 1 1 5 5", **LABELS_OF, **DATA},
        "expected the images, since these boxes are in pixels and the labels in fractions of the image",
    ),
    "another case": ({**FOUND, "p/A.txt": f"{BOX} .9", **LABELS_OF}, "A.txt: expected predictions for an image of"),
    "other names": ({"p/x.txt": f"{BOX} .9", **LABELS_OF}, "x.txt: expected predictions for an image of"),
    "predictions without an image": ({**FOUND, "p/c.txt": "", **LABELS_OF, **IMAGES_OF}, "; to leave out 1 prediction"),
    "labels without an image": (
        {**FOUND, **LABELS_OF, "r/labels/val/c.txt": BOX, **IMAGES_OF},
        "; to leave out 1 label",
    ),
    "results of another image": (
        {"p.json": [RESULT, {**RESULT, "image_id": 9}], "r.json": COCO},
        "; to leave out 1 predicted",
    ),
    "no confidence": ({"p/a.txt": BOX, **LABELS_OF}, "a.txt:1: expected class cx cy w h confidence, got 5 numbers"),
    "off by one": (
        {"p.json": [{**RESULT, "category_id": i} for i in (1, 2)], "r.json": COCO},
        "expected category ids of the references, or -1 for unknown, got 2",
    ),
    "swapped": ({"p.json": COCO, "r.json": [RESULT]}, "expected a dict with boxes, labels, got image_id"),
}


def write(folder: Path, files: dict[str, Any]) -> list[list[Path]]:
    """The files, of which folders become archives; those of predictions and of references."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".png":
            Image.new("L", (20, 10)).save(path)
        elif path.suffix == ".pt":
            torch = pytest.importorskip("torch")
            torch.save([{key: torch.tensor(value) for key, value in one.items()} for one in content], path)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
    for side in "pr":
        if (folder / side).is_dir():
            shutil.make_archive(str(folder / side), "zip", folder / side)
    return [[next(path for path in folder.iterdir() if path.stem == side and path.is_file())] for side in "pr"]


def held(reading: Any) -> Any:
    (columns,) = reading.models.values()
    boxes = [
        [{key: column.tolist() for key, column in image.items()} for image in columns[side]]
        for side in ("predictions", "references")
    ]
    return boxes, [*reading.images], reading.census, reading.classes, reading.options, [*reading.notes]


def without_folders(outcome: Any) -> Any:
    """An outcome as on a page, whose notes name files without their folders."""
    return (
        outcome if isinstance(outcome, str) else (*outcome[:-1], [re.sub(r"/\S*/", "", note) for note in outcome[-1]])
    )


def outcome(read: Callable[[], Any]) -> Any:
    try:
        return held(read())
    except (ValueError, TypeError) as error:
        return str(error)


@pytest.fixture
def by_command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def run(inputs: list[list[Path]], leave_out: bool) -> Any:
        kept: list[Any] = []

        def read(predictions: Any, *arguments: Any, **options: Any) -> Any:
            kept.append(read_boxes(predictions, *arguments, **options))
            return kept[-1]

        monkeypatch.setattr(detect, "read_boxes", read)
        places = ["--predictions", *map(str, inputs[0]), "--references", *map(str, inputs[1])]
        more = ["--known-classes", "0", "--no-standard", *["--leave-out"] * leave_out]
        monkeypatch.setattr(sys, "argv", ["openworld-metrics", "detect", *places, *more])
        with pytest.raises(SystemExit):
            cli.main()
        output, errors = capfd.readouterr()
        if kept and leave_out:
            assert "left out:" in errors
            assert json.loads(output)["left_out"] == kept[-1].census.text()
        return held(kept[-1]) if kept else errors.removeprefix("openworld-metrics: ").strip()

    return run


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_every_door(name: str, leave_out: bool, tmp_path: Path, by_command: Callable[..., Any]) -> None:
    files, expected = CASES[name]
    inputs = write(tmp_path, files)
    if leave_out and not (isinstance(expected, str) and "to leave out" in expected):
        pytest.skip("there is nothing to leave out")
    by_python = outcome(lambda: read_boxes(inputs[0], inputs[1], leave_out=leave_out))
    on_page = outcome(lambda: read_page("openset_detection", inputs, leave_out=leave_out))
    assert on_page == without_folders(by_python)
    commanded, sentence = by_command(inputs, leave_out), by_python
    if isinstance(by_python, str):  # whose cures the command spells in its way
        commanded, sentence = (re.sub(r"; [^;]*, use [^;]*", "", text) for text in (commanded, by_python))
    assert commanded == sentence
    if isinstance(expected, str) and not leave_out:
        assert expected in by_python
        return
    boxes, images, census, *_ = by_python
    count = [sum(len(image["labels"]) for image in side) for side in boxes]
    assert len(images) == len(boxes[0]) == len(boxes[1]) == census.used[IMAGES]
    assert count == [census.used[PREDICTED], census.used[BOXES]]
    if not leave_out:
        assert tuple(count[::-1]) == expected
    assert bool(census.text()) == (leave_out or "repeated" in name or "lists" in name)
    folders = [[tmp_path / side] if (tmp_path / side).is_dir() else part for side, part in zip("pr", inputs)]
    assert held(read_boxes(*folders, leave_out=leave_out))[:2] == (boxes, images), "an archive is a folder"


def test_lists_are_folders(tmp_path: Path) -> None:
    inputs = write(tmp_path, {**FOUND, **LABELS_OF})
    lists = [sorted((tmp_path / place).iterdir()) for place in ("p", "r/labels/val")]
    (tmp_path / "apart").mkdir()
    lists[0][0] = lists[0][0].rename(tmp_path / "apart/a.txt")  # as uploads are
    whole, part = read_boxes(*inputs), read_boxes(*lists)
    assert held(whole)[0] == held(part)[0]
    assert part.images == ["a", "b"]
    (tmp_path / "table.csv").write_text("a,b")
    with pytest.raises(ValueError, match=r"table.csv: expected one of .txt, .* got .csv"):
        read_boxes([*lists[0], tmp_path / "table.csv"], lists[1])


def test_boxes_in_fractions_give_the_numbers_of_pixels(tmp_path: Path) -> None:
    made = scenes.scene(4, 10)
    places = scenes.write_as_yolo(made, tmp_path)
    pixels = read_boxes(places["predictions"], places["references"])
    shutil.copytree(tmp_path / "labels/val", tmp_path / "alone")
    relative = read_boxes(places["predictions"], tmp_path / "alone")
    options = {"unknown_class_id": scenes.UNKNOWN_ID, "standard": False}
    results = [
        evaluate_detections(one.detections["predictions"], scenes.KNOWN, **options)["openset_metrics"]
        for one in (pixels, relative)
    ]
    assert results[0] == results[1]
    assert "in fractions of the image" in relative.notes[0]
    with pytest.raises(ValueError, match="plus_one: expected False, since boxes are in fractions"):
        relative.check({"plus_one": True})
    pixels.check({"plus_one": True})


def test_the_sums_of_the_census_agree(tmp_path: Path) -> None:
    """Of every label file, prediction file and box of theirs, whatever is left out."""
    some = 0
    for seed in range(60):
        rng, root = np.random.default_rng(seed), tmp_path / str(seed)
        files: dict[str, Any] = {}
        for name in "abcde":
            lines = [f"{rng.integers(3)} .5 .5 .2 .{rng.integers(1, 3)}" for _ in range(rng.integers(0, 4))]
            files |= {f"r/images/{name}.png": ""} if rng.random() < 0.7 else {}
            files |= {f"r/labels/{name}.txt": "\n".join(lines)} if rng.random() < 0.7 else {}
            files |= {f"p/{name}.txt": "\n".join(f"{line} .5" for line in lines)} if rng.random() < 0.7 else {}
        kinds = [{name for name in files if name.startswith(start)} for start in ("r/i", "r/l", "p/")]
        if not all(kinds) or not {Path(name).stem for name in kinds[0]} & {Path(name).stem for name in kinds[1]}:
            continue
        inputs = write(root, files)
        reading = read_boxes(*inputs, leave_out=True)
        census = reading.census
        assert [census.there(kind) for kind in (IMAGES, LABELS, PREDICTIONS)] == [*map(len, kinds)]
        own = {path for path in kinds[1] if path.replace("labels", "images").replace("txt", "png") in files}
        assert census.there(BOXES) == sum(len(files[name].splitlines()) for name in own)
        assert census.used[LABELS] == len(own)
        lost = census.there(LABELS) + census.there(PREDICTIONS) - census.used[LABELS] - census.used[PREDICTIONS]
        some += lost > 0
        if lost:
            with pytest.raises(CurableError, match=r"to leave out .*, use leave_out=True$"):
                read_boxes(*inputs)
        else:
            assert read_boxes(*inputs).census == census
    assert some > 10
