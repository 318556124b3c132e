"""Every malformed file or line is one ValueError that names it: the file, and the line or the entry."""

from __future__ import annotations

import io
import json
import logging
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from openworld_metrics import reading
from openworld_metrics.reading import Dataset, objects
from openworld_metrics.reading.places import image_size
from tests.detection import scenes

Write = Mapping[str, str]


def write(folder: Path, files: Write) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".png" and not text:
            Image.new("L", (8, 8)).save(path)
        else:
            path.write_text(text)


# lines of a label file, or of predictions → what is said of them, after the file's name
LINES: dict[str, tuple[str, str]] = {
    "words": ("0 0.5 0.5 0.5 0.5\ncat 0.5 0.5 0.5 0.5", r":2: expected numbers, got 'cat 0.5 0.5 0.5 0.5'"),
    "too few": ("\n\n0 0.5 0.5 0.5", r":3: expected class cx cy w h, got 4 numbers$"),
    "even more": ("0 .1 .1 .2 .2 .3 .3 .9", r":1: expected class cx cy w h, got 8 numbers$"),
    "confidences": ("0 0.5 0.5 0.5 0.5 0.9", r":1: expected class cx cy w h, got 6 numbers; are these predictions\?"),
    "moved numbers": ("0 0.5 0.5 0.5\n0 0.5 0.5 0.5 0.5 0.5", r":1: expected class cx cy w h, got 4 numbers"),
    "pixels": (
        "0 .1 .1 .1 .1\n0 320 240 50 60",
        r":2: expected coordinates from 0 to 1, as fractions of the image, got",
    ),
    "polygon in pixels": (
        "0 10 10 20 10 20 30",
        r":1: expected coordinates from 0 to 1, as fractions of the image, got",
    ),
    "no number": ("0 nan 0.5 0.5 0.5", r":1: expected coordinates from 0 to 1"),
    "a negative width": ("0 0.5 0.5 -0.005 0.5", r":1: expected a width and a height of at least 0, got"),
    "half a class": ("0.5 0.5 0.5 0.5 0.5", r":1: expected an integer class, got '0.5 0.5 0.5 0.5 0.5'"),
    "an infinite class": ("inf 0.5 0.5 0.5 0.5", r":1: expected an integer class, got"),
    "a rounded class": (f"{2**53 + 1} .5 .5 .5 .5", r":1: expected a class of less than 2\^53, got '9007199254740993 "),
    "a large class": ("-1e300 .5 .5 .5 .5", r":1: expected a class of less than 2\^53, got"),
    "commas": ("0,0.5,0.5,0.5,0.5", r":1: expected numbers, got '0,0.5,0.5,0.5,0.5'"),
}
FOUND: dict[str, tuple[str, str]] = {
    "no confidence": (
        "0 .5 .5 .5 .5",
        r":1: expected class cx cy w h confidence, got 5 numbers; save predictions with",
    ),
    "no such confidence": ("0 0.5 0.5 0.5 0.5 nan", r":1: expected a confidence from 0 to 1, got"),
    "a percentage": (
        "0 .5 .5 .5 .5 .5\n0 .5 .5 .5 .5 5",
        r":2: expected a confidence from 0 to 1, got '0 .5 .5 .5 .5 5'",
    ),
    "less than none": ("0 .5 .5 .5 .5 -1", r":1: expected a confidence from 0 to 1, got"),
    "percentages of polygons": ("0 .1 .1 .2 .2 .3 .3 7", r":1: expected a confidence from 0 to 1, got"),
    "pixels": ("0 32 24 5 6 0.5", r":1: expected coordinates from 0 to 1"),
    "a polygon without": ("0 .1 .1 .2 .2 .3 .3", r":1: expected class cx cy w h confidence, got 7 numbers$"),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_of_labels(name: str, tmp_path: Path) -> None:
    text, pattern = LINES[name]
    write(tmp_path, {"images/x.png": "", "labels/x.txt": text})
    with pytest.raises(ValueError, match=rf"^{tmp_path}/labels/x.txt{pattern}"):
        reading.read_yolo(tmp_path / "labels")


@pytest.mark.parametrize("name", FOUND)
def test_lines_of_predictions(name: str, tmp_path: Path) -> None:
    text, pattern = FOUND[name]
    write(tmp_path, {"images/x.png": "", "labels/x.txt": "0 0.5 0.5 1 1", "found/x.txt": text})
    with pytest.raises(ValueError, match=rf"^{tmp_path}/found/x.txt{pattern}"):
        reading.read_yolo_predictions(tmp_path / "found", reading.read_yolo(tmp_path / "labels"))


LABEL = {"labels/x.txt": "0 0.5 0.5 1 1"}
FILES: dict[str, tuple[Write, str]] = {
    "no labels": ({"labels/x.md": "", "images/x.png": ""}, r"labels: expected a folder with .txt files, got none"),
    "no folder": ({"images/x.png": ""}, r"labels: expected a folder with .txt files, got no folder"),
    "no images": (LABEL, r"labels: expected its images in a folder 'images' in place of 'labels'; say where they are"),
    "an empty images folder": ({**LABEL, "images/x.md": ""}, r"images: expected a folder with images, got none"),
    "no image": ({**LABEL, "images/y.png": ""}, r"labels/x.txt: expected an image of that name, got none"),
    "two images": ({**LABEL, "images/x.png": "", "images/x.jpg": "-"}, r"x.png: expected one image of that name, got"),
    "a broken image": ({**LABEL, "images/x.png": "-"}, r"images/x.png: expected an image, got cannot identify"),
}


@pytest.mark.parametrize("name", FILES)
def test_folders_of_labels(name: str, tmp_path: Path) -> None:
    files, pattern = FILES[name]
    write(tmp_path, files)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/.*{pattern}"):
        reading.read_yolo(tmp_path / "labels")


def test_predictions_of_no_image(tmp_path: Path) -> None:
    write(tmp_path, {"images/a/x.png": "", "images/b/y.png": "", "labels/a/x.txt": "0 0.5 0.5 1 1"})
    dataset = reading.read_yolo(tmp_path / "labels")
    write(tmp_path, {"found/y.txt": "", "found/z.txt": "0 0.5 0.5 1 1 1"})
    with pytest.raises(ValueError, match=r"found/z.txt: expected predictions for an image of the references"):
        reading.read_yolo_predictions(tmp_path / "found", dataset)
    write(tmp_path, {"twice/y.txt": "", "twice/b/y.txt": ""})
    with pytest.raises(ValueError, match=r"twice/y.txt: expected one file for image b/y, got two"):
        reading.read_yolo_predictions(tmp_path / "twice", dataset)
    unsized = dataset._replace(sizes=[None, None], paths=[None, None])
    write(tmp_path, {"sizes/x.txt": "0 0.5 0.5 1 1 1"})
    with pytest.raises(ValueError, match=r"a/x: expected its size, or the image; say where the images are"):
        reading.read_yolo_predictions(tmp_path / "sizes", unsized)


YAML: dict[str, tuple[str, str]] = {
    "no YAML": ("names: [cat\nval: images", r":2: expected YAML, got expected ',' or ']'"),
    "a list": ("- cat", r": expected names and splits, got list"),
    "no such split": ("train: images\nnames: [cat]", r": expected a split 'val', got train"),
    "no split": ("names: [cat]", r": expected a split 'val', got none"),
    "no such folder": (
        "val: pictures\nnames: [cat]",
        r": expected a folder or a list of images, got none at .*pictures",
    ),
    "no such path": (
        "path: there\nval: images\nnames: [cat]",
        r": expected the folder of path, got none at .*there nor",
    ),
    "no names": ("val: images", r": expected names, as a list or as ids with names, got None"),
    "names of names": ("val: images\nnames: {cat: 1}", r": expected names, as a list or as ids with names, got"),
    "a list for a name": (
        "names: [cat, [dog]]\nval: images",
        r": expected the name of class 1 to be a string .* \['dog'\]",
    ),
    "no name": ("names: {0: cat, 7: ~}\nval: images", r": expected the name of class 7 to be a string .* got None$"),
    "off": ("names: [on, off]\nval: images", r": expected the name of class 0 .* got True; put it between quotes$"),
    "a negative id": ("names: {-1: cat}\nval: images", r": expected names, as a list or as ids with names, got {-1"),
    "a flag for an id": (
        "names: {true: cat}\nval: images",
        r": expected names, as a list or as ids with names, got {T",
    ),
    "aliases": ("a: &a [cat]\nval: images\nnames: *a", r":3: expected YAML, got an alias of a list or a mapping$"),
    "an alias of itself": ("val: images\nnames: &a [*a]", r":2: expected YAML, got an alias of a list or a mapping$"),
    "too deep": ("names: " + "[" * 50_000, r": expected fewer levels, got a value nested too deeply$"),
    "no int": ("names: !!int ''", r": expected YAML, got string index out of range$"),
    "no date": ("names: 2020-13-45", r": expected YAML, got month must be in 1..12$"),
    "many digits": ("? " + "9" * 5000 + "\n: cat", r": expected YAML, got Exceeds the limit \(4300 digits\)"),
    "a long name": (f"val: {'x' * 300}\nnames: [cat]", r"/x{300}: File name too long$"),
    "a long path": (f"val: images\npath: {'x' * 300}\nnames: [cat]", r"/x{300}: File name too long$"),
    "another list": ("val: list.md\nnames: [cat]", r": expected a folder of images or a .txt that lists them, got"),
    "key points": (
        "val: images\nnames: [cat]\nkpt_shape: [17, 4]",
        r": expected kpt_shape to be a number of key points and 2 or 3, got \[17, 4\]",
    ),
}


@pytest.mark.parametrize("name", YAML)
def test_data_yaml(name: str, tmp_path: Path) -> None:
    text, pattern = YAML[name]
    write(tmp_path, {"images/x.png": "", "data.yaml": text, "list.md": ""})
    file = "" if "too long" in pattern else "/data.yaml"
    with pytest.raises(ValueError, match=rf"^{tmp_path}{file}{pattern}"):
        reading.read_yolo_data(tmp_path / "data.yaml")


def test_a_list_of_images(tmp_path: Path) -> None:
    write(tmp_path, {"images/x.png": "", "data.yaml": "val: val.txt\nnames: [cat]", "val.txt": "images/x.png\n\ny.png"})
    with pytest.raises(ValueError, match=rf"^{tmp_path}/val.txt:3: expected an image, got none at .*/y.png"):
        reading.read_yolo_data(tmp_path / "data.yaml")


COCO: dict[str, Any] = {
    "images": [{"id": 1, "file_name": "x.png"}],
    "categories": [{"id": 3, "name": "cat"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [0, 0, 4, 4]}],
}
GOOD = COCO["annotations"][0]
ANNOTATIONS: dict[str, tuple[Any, str]] = {
    "a list": ([], r": expected an object with images, annotations and categories"),
    "no annotations": ({**COCO, "annotations": None}, r": expected a list of annotations, got NoneType"),
    "no id": ({**COCO, "images": [{}]}, r": images\[0\]: expected id, got none"),
    "no name": ({**COCO, "categories": [{"id": 3}]}, r": categories\[0\]: expected name, got none"),
    "two of an id": ({**COCO, "categories": COCO["categories"] * 2}, r": categories\[1\]: expected an id of its own"),
    "a word for an id": (
        {**COCO, "categories": [{"id": "a", "name": "b"}]},
        r": categories\[0\]: expected an integer id",
    ),
    "two of a name": (
        {**COCO, "images": [*COCO["images"], {"id": 2, "file_name": "x.png"}]},
        r": expected each image once, got x.png twice",
    ),
    "no such image": (
        {**COCO, "annotations": [GOOD, {**GOOD, "image_id": 8}]},
        r": annotations\[1\]: expected image_id to be an id of an image, got 8",
    ),
    "no such category": (
        {**COCO, "annotations": [GOOD, {**GOOD, "category_id": 8}]},
        r": annotations\[1\]: expected category_id to be a category of the file, got 8",
    ),
    "no box": (
        {**COCO, "annotations": [{"image_id": 1, "category_id": 3}]},
        r": annotations\[0\]: expected bbox to be x, y, width, height, got no bbox",
    ),
    "a short box": (
        {**COCO, "annotations": [{**GOOD, "bbox": [1, 2, 3]}, {**GOOD, "bbox": [1, 2, 3, 4, 5]}]},
        r": annotations\[0\]: expected bbox to be x, y, width, height, got \[1, 2, 3\]",
    ),
    "words in a box": (
        {**COCO, "annotations": [GOOD, {**GOOD, "bbox": [1, 2, 3, "4"]}]},
        r": annotations\[1\]: expected bbox to be x, y, width, height, got \[1, 2, 3, '4'\]",
    ),
    "a negative width": (
        {**COCO, "annotations": [GOOD, {**GOOD, "bbox": [1, 2, -3, 4]}]},
        r": annotations\[1\]: expected bbox to be x, y, width, height of at least 0, got \[1, 2, -3, 4\]",
    ),
    "a word for a flag": (
        {**COCO, "annotations": [GOOD, {**GOOD, "iscrowd": "0"}]},
        r": annotations\[1\]: expected iscrowd to be 0, 1, false or true, got '0'$",
    ),
    "a number for a flag": (
        {**COCO, "annotations": [{**GOOD, "iscrowd": 2}]},
        r": annotations\[0\]: expected iscrowd to be 0, 1, false or true, got 2$",
    ),
    "nothing for a flag": (
        {**COCO, "annotations": [{**GOOD, "ignore": None, "iscrowd": False}]},
        r": annotations\[0\]: expected ignore to be 0, 1, false or true, got None$",
    ),
    "a list for an image": (
        {**COCO, "annotations": [{**GOOD, "image_id": []}]},
        r": annotations\[0\]: expected image_id to be an id of an image, got \[\]$",
    ),
    "beyond all numbers": (
        {**COCO, "annotations": [{**GOOD, "bbox": [1e308, 0, 1e308, 4]}]},
        r": annotations\[0\]: expected bbox to be x, y, width, height of at least 0, got",
    ),
    "an entry of nothing": ({**COCO, "annotations": [None]}, r": annotations\[0\]: expected image_id to be an id"),
}


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_coco(name: str, tmp_path: Path) -> None:
    content, pattern = ANNOTATIONS[name]
    (tmp_path / "x.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x.json{pattern}"):
        reading.read_coco(tmp_path / "x.json")


RESULT = {"image_id": 1, "category_id": 3, "bbox": [0, 0, 4, 4], "score": 0.5}
RESULTS: dict[str, tuple[str, str]] = {
    "no JSON": ('[\n{"image_id": 1\n}}', r":3: expected JSON, got Expecting ',' delimiter"),
    "many digits": ("[" + "9" * 5000 + "]", r": Exceeds the limit \(4300 digits\)"),
    "too deep": ("[" * 200_000, r": expected fewer levels, got a value nested too deeply$"),
    "no UTF-8": ("\udcff", r": expected UTF-8 text, got the byte 0xff at position 0$"),
    "no list": ("{}", r": expected a list of results, got dict; a result has image_id, category_id, bbox and score$"),
    "annotations": (json.dumps(COCO), r": expected a list of results, got dict with images, categories, annotations; "),
    "no score": (json.dumps([GOOD]), r": results\[0\]: expected score to be a number, got no score"),
    "a word": (
        json.dumps([RESULT, {**RESULT, "score": "high"}]),
        r": results\[1\]: expected score to be a number, got",
    ),
    "no number": (json.dumps([{**RESULT, "score": float("nan")}]), r": results\[0\]: expected score to be a finite"),
    "half a class": (
        json.dumps([{**RESULT, "category_id": 0.5}]),
        r": results\[0\]: expected category_id to be an int",
    ),
    "a flag": (json.dumps([{**RESULT, "category_id": True}]), r": results\[0\]: expected category_id to be an integer"),
    "no such image": (
        json.dumps([{**RESULT, "image_id": "1"}]),
        r": results\[0\]: expected image_id to be an id of an",
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_coco_results(name: str, tmp_path: Path) -> None:
    text, pattern = RESULTS[name]
    (tmp_path / "x.json").write_text(text, errors="surrogateescape")
    (tmp_path / "coco.json").write_text(json.dumps(COCO))
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x.json{pattern}"):
        reading.read_coco_results(tmp_path / "x.json", reading.read_coco(tmp_path / "coco.json"))


BOX = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox>"
XML: dict[str, tuple[str, str]] = {
    "no XML": ("<annotation>\n<object>", r":2: expected XML, got no element found"),
    "no name": (f"<a>\n<object>{BOX}</object></a>", r":2: expected an object with a name, got none"),
    "no box": ("<a>\n\n<object><name>cat</name></object></a>", r":3: expected bndbox with xmin, ymin, xmax, ymax, got"),
    "words": (
        f"<a><object><name>cat</name>{BOX.replace('>1<', '>one<')}</object></a>",
        r":1: expected bndbox with .*, got \['one', 'one', '5', '5'\]",
    ),
    "backwards": (f"<a><object><name>cat</name>{BOX.replace('>1<', '>7<')}</object></a>", r":1: expected xmin ≤ xmax"),
    "half difficult": (
        f"<a><object><name>cat</name><difficult>?</difficult>{BOX}</object></a>",
        r":1: expected difficult to be 0 or 1, got '\?'",
    ),
    "an encoding": ("<?xml version='1.0' encoding='shift_jis'?><a/>", r": multi-byte encodings are not supported$"),
    "another class": (f"<a><object><name>yak</name>{BOX}</object></a>", r":1: expected one of cat, dog, got 'yak'"),
}


@pytest.mark.parametrize("name", XML)
def test_voc(name: str, tmp_path: Path) -> None:
    text, pattern = XML[name]
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x.xml{pattern}"):
        reading.read_voc(tmp_path, classes={0: "cat", 1: "dog"})


def test_voc_images(tmp_path: Path) -> None:
    write(tmp_path, {"Annotations/x.xml": "<a/>", "pictures/y.png": ""})
    with pytest.raises(ValueError, match=r"Annotations/x.xml: expected an image of that name in .*pictures, got none"):
        reading.read_voc(tmp_path / "Annotations", tmp_path / "pictures")
    with pytest.raises(ValueError, match=r"ImageSets/Main/val.txt: expected a list of images, got No such file"):
        reading.read_voc(tmp_path / "Annotations", split="val")
    write(tmp_path, {"ImageSets/Main/val.txt": "z"})
    with pytest.raises(
        ValueError, match=r"val.txt:1: expected z.xml in .*Annotations, or an image of that name, got neither"
    ):
        reading.read_voc(tmp_path / "Annotations", split="val")
    with pytest.raises(ValueError, match=r"pictures: expected a folder with .xml files, got none"):
        reading.read_voc(tmp_path / "pictures")


TRUE = {"boxes": [[0, 0, 4, 4]], "labels": [1]}
DICTS: dict[str, tuple[Any, str]] = {
    "a single one": (TRUE, r"references: expected a list with a dict for each image, got dict"),
    "no labels": ([TRUE, {"boxes": []}], r"references\[1\]: expected a dict with boxes, labels, got boxes"),
    "rows": ([[[0, 0, 4, 4, 1]]], r"references\[0\]: expected a dict with boxes, labels, got list"),
    "lengths": (
        [{**TRUE, "labels": [1, 2]}],
        r"references\[0\]: expected one length, got 2 labels, 1 boxes|1 boxes, 2",
    ),
    "shapes": (
        [{**TRUE, "boxes": [[0, 0, 4]]}],
        r"references\[0\]: expected boxes \(n, 4\), the others \(n,\), got boxes",
    ),
    "words": ([{**TRUE, "labels": ["cat"]}], r"references\[0\]\['labels'\]: expected numbers, got \['cat'\]"),
    "numbers as words": ([{**TRUE, "labels": ["1"]}], r"references\[0\]\['labels'\]: expected numbers, got \['1'\]"),
    "an imaginary part": ([{**TRUE, "labels": [1 + 2j]}], r"references\[0\]\['labels'\]: expected numbers, got \[\(1"),
    "no number": (
        [{**TRUE, "boxes": [[0, 0, float("nan"), 4]]}],
        r"references\[0\]\['boxes'\]: expected finite numbers",
    ),
    "backwards": ([{**TRUE, "boxes": [[5, 0, 4, 4]]}], r"references\[0\]: expected x1 ≤ x2 and y1 ≤ y2, got \[5.0,"),
    "a large class": ([{**TRUE, "labels": [2**53 + 1]}], r"references\[0\]: expected labels of less than 2\^53, got 9"),
    "a flag": ([{**TRUE, "iscrowd": [2]}], r"references\[0\]\['iscrowd'\]: expected 0 or 1, got \[2.0\]$"),
    "no id": ([{**TRUE, "image_id": []}], r"references: expected image_id to be an integer or a string, got \[\]$"),
    "half an id": (
        [{**TRUE, "image_id": 0.5}],
        r"references: expected image_id to be an integer or a string, got 0.5$",
    ),
    "half a class": ([{**TRUE, "labels": [0.5]}], r"references\[0\]: expected integer labels, got 0.5"),
    "no size": ([{"boxes": [], "class_labels": []}], r"references\[0\]: expected orig_size beside class_labels"),
    "some ids": (
        [{**TRUE, "image_id": 4}, TRUE],
        r"references: expected an image_id of its own in each dict, got 1 of 2",
    ),
}


@pytest.mark.parametrize("name", DICTS)
def test_dicts(name: str) -> None:
    references, pattern = DICTS[name]
    with pytest.raises((ValueError, TypeError), match=rf"^{pattern}"):
        reading.read_dicts(references)


def test_predicted_dicts() -> None:
    dataset = reading.read_dicts([TRUE])
    with pytest.raises(
        TypeError, match=r"^predictions\[0\]: expected a dict with boxes, scores, labels, got boxes, labels"
    ):
        reading.read_dict_predictions([TRUE], dataset)
    found = {**TRUE, "scores": [0.5]}
    with pytest.raises(ValueError, match=r"^predictions: expected 1 images, got 2"):
        reading.read_dict_predictions([found, found], dataset)
    with pytest.raises(ValueError, match=r"^predictions\[0\]: expected an image of the references, got 4"):
        reading.read_dict_predictions([{**found, "image_id": 4}], dataset)


def saved(content: bytes) -> bytes:
    """A .pt file of pickled bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", content)
        archive.writestr("archive/version", "3\n")
    return buffer.getvalue()


TORCH = {
    "an unknown place of the memo": saved(b"\x80\x02h\x08."),
    "an empty stack": saved(b"\x80\x02a."),
    "no end": saved(b"\x80\x02]"),
    "the half": saved(b"\x80\x02].")[:150],
    "nothing": b"",
    "another file": b"x" * 500,
}


@pytest.mark.parametrize("name", TORCH)
def test_damaged_tensors(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "x.pt").write_bytes(TORCH[name])
    wrong = r": expected a list of dicts of tensors, got other objects or no .pt file$"
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x.pt{wrong}"):
        reading.read_references(tmp_path / "x.pt")


def test_torch_that_may_run_what_a_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    torch.save([], tmp_path / "x.pt")
    monkeypatch.setattr(torch, "__version__", "2.5.1+cpu")
    with pytest.raises(ImportError, match=r"^expected torch 2\.6 or newer, .*CVE-2025-32434.*got 2\.5\.1"):
        reading.read_references(tmp_path / "x.pt")


def test_tensors_of_other_things(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    file = tmp_path / "x.pt"
    true = {key: torch.tensor(value) for key, value in TRUE.items()}
    torch.save([true], tmp_path / "y.pt")
    torch.save([torch.zeros(4)], file)
    with pytest.raises(TypeError, match=rf"^{file}: predictions\[0\]: expected a dict with boxes, .*, got Tensor"):
        reading.read_detections(file, tmp_path / "y.pt")
    torch.save({"images": torch.zeros(4)}, file)
    with pytest.raises(TypeError, match=rf"^{file}: references: expected a list with a dict for each image, got dict"):
        reading.read_references(file)
    torch.save([{**true, "labels": torch.tensor([1j])}], file)
    with pytest.raises(TypeError, match=rf"^{file}: references\[0\]\['labels'\]: expected numbers, got tensor"):
        reading.read_references(file)


def test_no_more_numbers_than_a_file_can_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(objects, "_FEW", 1 << 16)  # fewer, since to trace memory takes its time
    file = tmp_path / "x.pt"
    shared = {"boxes": torch.zeros(1, 4).expand(1000, 4), "labels": torch.zeros(1000)}
    torch.save([shared] * 10, file)  # as images may share a tensor
    assert len(reading.read_references(file).names) == 10
    lists: list[Any] = []
    for _ in range(30):
        lists = [lists] * 10
    for content in ([{**shared, "boxes": torch.zeros(1, 4).expand(10**8, 4)}], [shared] * 10_000, lists):
        torch.save(content, file)
        tracemalloc.start()
        with pytest.raises(ValueError, match=rf"^{file}: expected at most 65536 numbers in a file of "):
            reading.read_references(file)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
        tracemalloc.stop()


def test_what_pillow_logs_is_not_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])  # as where nobody has set one up
    tags = {256: 8, 257: 8, 258: 8, 259: 1, 262: 1, 277: 259}  # the last are samples of a pixel
    entries = b"".join(struct.pack("<HHII", tag, 3, 1, value) for tag, value in tags.items())
    (tmp_path / "x.tif").write_bytes(b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4))
    with pytest.raises(ValueError, match=r"x.tif: expected an image, got "):
        image_size(tmp_path / "x.tif")
    assert capfd.readouterr() == ("", "")


def made() -> Dataset:
    return scenes.scene(0).dataset


NAMES: dict[str, tuple[Callable[[], Any], str]] = {
    "no such class": (
        lambda: reading.class_ids(["yak"], {0: "cat"}),
        r"yak: expected an id or the name of a class, of cat",
    ),
    "two of a name": (
        lambda: reading.class_ids(["cat"], {1: "cat", 2: "cat"}),
        r"cat: expected an id, since 1 and 2 have this name",
    ),
    "no names": (
        lambda: reading.class_ids(["yak"], {}),
        r"of none, since the references have no names: use --names, or ids",
    ),
    "no such file": (lambda: reading.read_names(["no/names.txt"]), r"no/names.txt: expected names, got No such file"),
    "no name for a class": (
        lambda: reading.rename_classes(scenes.scene(0), {0: "cat"}),
        r"names: expected one for each predicted class, got none for",
    ),
    "a name for two": (
        lambda: reading.rename_classes(scenes.scene(0), {0: "cat", 1: "cat"}),
        r"names: expected each once, got \['cat', 'cat'\]",
    ),
    "ids of two images": (
        lambda: reading.read_detections("x.csv", "y.csv"),
        r"y.csv: expected references in a folder, a data.yaml, .json or .pt, got none",
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    call, pattern = NAMES[name]
    with pytest.raises(ValueError, match=pattern):
        call()


def test_images_of_one_id(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(ValueError, match=r"x.json: expected images with different ids, got 1 of 7 images"):
        reading.read_coco_results(tmp_path / "x.json", made()._replace(ids=[1] * 7))


def test_splits(tmp_path: Path) -> None:
    write(tmp_path, {"labels/train/x.txt": "", "images/train/x.png": "", "found/x.txt": ""})
    with pytest.raises(ValueError, match=rf"^{tmp_path}/labels: expected a folder 'val' in it, got train"):
        reading.read_references(tmp_path / "labels")
    for place in (tmp_path, tmp_path / "labels", tmp_path / "labels" / "train"):
        assert reading.read_references(place, split="train").names == ["x"]


def test_a_few_lines_that_mean_gigabytes(tmp_path: Path) -> None:
    """Lists of lists by name, each nine times: refused before anything is made of them."""
    names = "abcdefghij"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{this}: &{this} [{', '.join([f'*{last}'] * 9)}]" for last, this in pairwise(names)]
    write(tmp_path, {"images/x.png": "", "data.yaml": "\n".join([*lines, "val: images", "names: *j"])})
    assert (tmp_path / "data.yaml").stat().st_size < 600
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"data.yaml:2: expected YAML, got an alias of a list or a mapping$"):
        reading.read_yolo_data(tmp_path / "data.yaml")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


def test_an_alias_of_a_word(tmp_path: Path) -> None:
    yaml = "train: &images images\nval: *images\nnames: {0: 1.5, 3: 7}"
    write(tmp_path, {"images/x.png": "", "labels/x.txt": "", "data.yaml": yaml})
    assert reading.read_yolo_data(tmp_path / "data.yaml").classes == {0: "1.5", 3: "7"}


def test_coco_flags(tmp_path: Path) -> None:
    flags: list[dict[str, Any]] = [{}, {"iscrowd": 0}, {"iscrowd": False}, {"iscrowd": 1}, {"ignore": True}]
    content = {**COCO, "annotations": [{**GOOD, "bbox": [i, 0, 4, 4], **flag} for i, flag in enumerate(flags)]}
    (tmp_path / "x.json").write_text(json.dumps(content))
    assert reading.read_coco(tmp_path / "x.json").references[0]["ignored"].tolist() == [0, 0, 0, 1, 1]


def test_a_size_of_many_digits(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(f"<a><size><width>{'9' * 5000}</width><height>8</height></size></a>")
    assert reading.read_voc(tmp_path).sizes == [None]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_bytes(b"cat\n\xff\n")
    with pytest.raises(ValueError, match=rf"^{tmp_path}/names.txt: expected names, got 'utf-8' codec"):
        reading.read_names([str(tmp_path / "names.txt")])
    write(tmp_path, {"images/x.png": "", "data.yaml": "val: val.txt\nnames: [cat]"})
    (tmp_path / "val.txt").write_bytes(b"images/\xff.png\n")
    with pytest.raises(
        ValueError, match=rf"^{tmp_path}/val.txt: expected UTF-8 text, got the byte 0xff at position 7$"
    ):
        reading.read_yolo_data(tmp_path / "data.yaml")
