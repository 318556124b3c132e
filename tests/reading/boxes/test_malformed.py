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
from openworld_metrics.reading import objects
from openworld_metrics.reading.places import image_size
from tests.detection import scenes

Write = Mapping[str, Any]


def write(folder: Path, files: Write) -> None:
    """Write texts, objects as JSON, bytes, and pictures for empty texts."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".png" and not content:
            Image.new("L", (8, 8)).save(path)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))


# a file's text → what is said of it, after the file's name
LINES: dict[str, tuple[str, str]] = {
    "words": ("0 0.5 0.5 0.5 0.5\ncat 0.5 0.5 0.5 0.5", r":2: expected numbers, got 'cat 0.5 0.5 0.5 0.5'"),
    "too few": ("\n\n0 0.5 0.5 0.5", r":3: expected class cx cy w h, got 4 numbers$"),
    "even more": ("0 .1 .1 .2 .2 .3 .3 .9", r":1: expected class cx cy w h, got 8 numbers; key points need a data"),
    "confidences": ("0 0.5 0.5 0.5 0.5 0.9", r":1: expected class cx cy w h, got 6 numbers; are these predictions\?"),
    "moved numbers": ("0 0.5 0.5 0.5\n0 0.5 0.5 0.5 0.5 0.5", r":1: expected class cx cy w h, got 4 numbers"),
    "pixels": ("0 .1 .1 .1 .1\n0 320 240 50 60", r":2: expected coordinates from 0 to 1, as fractions of the image"),
    "polygon in pixels": ("0 10 10 20 10 20 30", r":1: expected coordinates from 0 to 1, as fractions of the image"),
    "no number": ("0 nan 0.5 0.5 0.5", r":1: expected coordinates from 0 to 1"),
    "a negative width": ("0 0.5 0.5 -0.005 0.5", r":1: expected a width and a height of at least 0, got"),
    "half a class": ("0.5 0.5 0.5 0.5 0.5", r":1: expected an integer class, got '0.5 0.5 0.5 0.5 0.5'"),
    "an infinite class": ("inf 0.5 0.5 0.5 0.5", r":1: expected an integer class, got"),
    "a rounded class": (f"{2**53 + 1} .5 .5 .5 .5", r":1: expected a class of less than 2\^53, got '9007199254740993 "),
    "a large class": ("-1e300 .5 .5 .5 .5", r":1: expected a class of less than 2\^53, got"),
    **{  # of which some are JSON
        f"cells of {row!r}": (f"0 .5 .5 .5 .5\n{row}\n", r":2: expected numbers, got")
        for row in ("0,0.5,0.5,0.5,0.5", "0 [0.5 0.5 0.1 0.1]", "true 0.5 0.5 0.1 0.1", "0 0.5 0.5 0.1],[0.1")
    },
}
FOUND: dict[str, tuple[str, str]] = {
    "no confidence": ("0 .5 .5 .5 .5", r":1: expected class cx cy w h confidence, got 5 numbers; save predictions"),
    "no such confidence": ("0 0.5 0.5 0.5 0.5 nan", r":1: expected a confidence from 0 to 1, got"),
    "a percentage": ("0 .5 .5 .5 .5 .5\n0 .5 .5 .5 .5 5", r":2: expected a confidence from 0 to 1, got '0 .5 .5 .5"),
    "less than none": ("0 .5 .5 .5 .5 -1", r":1: expected a confidence from 0 to 1, got"),
    "percentages of polygons": ("0 .1 .1 .2 .2 .3 .3 7", r":1: expected a confidence from 0 to 1, got"),
    "pixels": ("0 32 24 5 6 0.5", r":1: expected coordinates from 0 to 1"),
    "a polygon without": ("0 .1 .1 .2 .2 .3 .3", r":1: expected class cx cy w h confidence, got 7 numbers"),
}
YAML: dict[str, tuple[str, str]] = {
    "no YAML": ("names: [cat\nval: images", r":2: expected YAML, got expected ',' or ']'"),
    "a list": ("- cat", r": expected names and splits, got list"),
    "no such split": ("train: images\nnames: [cat]", r": expected a split 'val', got train"),
    "no split": ("names: [cat]", r": expected a split 'val', got none"),
    "no such folder": ("val: pictures\nnames: [cat]", r": expected a folder or a list of images, got none .*pictures"),
    "no such path": ("path: there\nval: images\nnames: [cat]", r": expected the folder of path, got none .*there nor"),
    "no names": ("val: images", r": expected names, as a list or as ids with names, got None"),
    "names of names": ("val: images\nnames: {cat: 1}", r": expected names, as a list or as ids with names, got"),
    "a list for a name": ("names: [cat, [dog]]\nval: images", r": expected the name of class 1 to be a .* \['dog'\]"),
    "no name": ("names: {0: cat, 7: ~}\nval: images", r": expected the name of class 7 to be a string .* got None$"),
    "off": ("names: [on, off]\nval: images", r": expected the name of class 0 .* got True; put it between quotes$"),
    "a negative id": ("names: {-1: cat}\nval: images", r": expected names, as a list or as ids with names, got {-1"),
    "a flag for an id": ("names: {true: cat}\nval: images", r": expected names, as a list or as ids with names, .*T"),
    "a name stated twice": (
        "names: [cat]\nval: images\nnames: [dog]",
        r":3: expected YAML, got the name 'names' again$",
    ),
    "an id stated twice": ("names:\n  0: cat\n  0: dog", r":3: expected YAML, got the name '0' again$"),
    "an id in two spellings": (
        "names: {0: cat, '0': dog}\nval: images",
        r": expected each id once in names, got 0 twice$",
    ),
    "aliases": ("a: &a [cat]\nval: images\nnames: *a", r":3: expected YAML, got an alias of a list or a mapping$"),
    "an alias of itself": ("val: images\nnames: &a [*a]", r":2: expected YAML, got an alias of a list or a mapping$"),
    "too deep": ("names: " + "[" * 50_000, r": expected fewer levels, got a value nested too deeply$"),
    "no int": ("names: !!int ''", r": expected YAML, got string index out of range$"),
    "no date": ("names: 2020-13-45", r": expected YAML, got month must be in 1..12$"),
    "many digits": ("? " + "9" * 5000 + "\n: cat", r": expected YAML, got Exceeds the limit \(4300 digits\)"),
    "a long name": (f"val: {'x' * 300}\nnames: [cat]", r"/x{300}: File name too long$"),
    "another list": ("val: list.md\nnames: [cat]", r": expected a folder of images or a .txt that lists them, got"),
    "key points": ("val: images\nnames: [cat]\nkpt_shape: [17, 4]", r": expected kpt_shape to be a .* \[17, 4\]"),
}
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
LABEL = {"images/x.png": "", "labels/x.txt": "0 0.5 0.5 1 1"}
# a kind of file: the others beside it, its cases, and the reader
KINDS: dict[str, tuple[Write, dict[str, tuple[str, str]], Callable[[Path], object]]] = {
    "labels/x.txt": (LABEL, LINES, lambda root: reading.read_references(root / "labels")),
    "found/x.txt": (LABEL, FOUND, lambda root: reading.read_detections(root / "found", root / "labels")),
    "data.yaml": ({"images/x.png": "", "list.md": ""}, YAML, lambda root: reading.read_references(root / "data.yaml")),
    "x.xml": ({}, XML, lambda root: reading.read_references(root, classes={0: "cat", 1: "dog"})),
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, (_, cases, _) in KINDS.items() for name in cases])
def test_a_text(kind: str, name: str, tmp_path: Path) -> None:
    others, cases, read = KINDS[kind]
    text, pattern = cases[name]
    write(tmp_path, {**others, kind: text})
    file = "" if "too long" in pattern else f"/{kind}"
    with pytest.raises(ValueError, match=rf"^{tmp_path}{file}{pattern}"):
        read(tmp_path)


FILES: dict[str, tuple[Write, str, str]] = {
    "no labels": (
        {"labels/x.md": "", "images/x.png": ""},
        "labels",
        r"labels: expected a folder with .txt files, got none",
    ),
    "no folder": ({"images/x.png": ""}, "labels", r"labels: expected references in a folder, a data.yaml, .* got none"),
    "no image": ({**LABEL, "labels/y.txt": ""}, "labels", r"labels/y.txt: expected an image of that name, got none"),
    "two images": ({**LABEL, "images/x.jpg": "-"}, "labels", r"x.png: expected one image of that name, got"),
    "a broken image": (
        {**LABEL, "images/x.png": "-"},
        "labels",
        r"images/x.png: expected an image, got cannot identify",
    ),
    "a list of images": (
        {**LABEL, "data.yaml": "val: val.txt\nnames: [cat]", "val.txt": "images/x.png\n\ny.png"},
        "data.yaml",
        r"val.txt:3: expected an image, got none at .*/y.png",
    ),
    "a list of bytes": (
        {**LABEL, "data.yaml": "val: val.txt\nnames: [cat]", "val.txt": b"images/\xff.png\n"},
        "data.yaml",
        r"val.txt: expected UTF-8 text, got the byte 0xff at position 7$",
    ),
    "another split": (
        {"labels/train/x.txt": "", "images/train/x.png": ""},
        "labels",
        r"labels: expected a folder 'val' in it, got train",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_folders(name: str, tmp_path: Path) -> None:
    files, place, pattern = FILES[name]
    write(tmp_path, files)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/.*{pattern}"):
        reading.read_references(tmp_path / place)


def test_predictions_of_no_image(tmp_path: Path) -> None:
    write(tmp_path, {"images/a/x.png": "", "images/b/y.png": "", "labels/a/x.txt": "0 0.5 0.5 1 1"})
    write(tmp_path, {"found/y.txt": "", "found/z.txt": "0 0.5 0.5 1 1 1"})
    with pytest.raises(ValueError, match=r"found/z.txt: expected predictions for an image of the references"):
        reading.read_detections(tmp_path / "found", tmp_path / "labels")
    write(tmp_path, {"twice/y.txt": "", "twice/b/y.txt": ""})
    with pytest.raises(ValueError, match=r"twice/y.txt: expected one file for image b/y, got two"):
        reading.read_detections(tmp_path / "twice", tmp_path / "labels")
    write(tmp_path, {"x.json": {**COCO, "images": [{"id": 1, "file_name": "x.png"}]}, "sizes/x.txt": "3 .5 .5 1 1 1"})
    with pytest.raises(ValueError, match=r"x: expected its size, or the image; say where the images are"):
        reading.read_detections(tmp_path / "sizes", tmp_path / "x.json", classes={3: "cat"})


COCO: dict[str, Any] = {
    "images": [{"id": 1, "file_name": "x.png"}],
    "categories": [{"id": 3, "name": "cat"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [0, 0, 4, 4]}],
}
GOOD = COCO["annotations"][0]
ANNOTATIONS: dict[str, tuple[Any, str]] = {
    "no categories": ({"images": []}, r": expected an object with images, annotations and categories"),
    "no annotations": ({**COCO, "annotations": None}, r": expected a list of annotations, got NoneType"),
    "no id": ({**COCO, "images": [{}]}, r": images\[0\]: expected id, got none"),
    "no name": ({**COCO, "categories": [{"id": 3}]}, r": categories\[0\]: expected name, got none"),
    "two of an id": ({**COCO, "categories": COCO["categories"] * 2}, r": categories\[1\]: expected an id of its own"),
    "a word for an id": ({**COCO, "categories": [{"id": "a", "name": "b"}]}, r": categories\[0\]: expected an int"),
    "two of a name": ({**COCO, "images": [*COCO["images"], {"id": 2, "file_name": "x.png"}]}, ".* got x.png twice"),
}


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_coco(name: str, tmp_path: Path) -> None:
    content, pattern = ANNOTATIONS[name]
    write(tmp_path, {"x.json": content})
    with pytest.raises((ValueError, TypeError), match=rf"^{tmp_path}/x.json{pattern}"):
        reading.read_references(tmp_path / "x.json")


RESULT = {"image_id": 1, "category_id": 3, "bbox": [0, 0, 4, 4], "score": 0.5}
# what is wrong with an entry (... for a key that is not there), and what is said of it
ENTRIES: list[tuple[dict[str, Any], str]] = [
    ({"bbox": ...}, "bbox to be x, y, width, height, got no bbox"),
    ({"bbox": [1, 2, 3]}, r"bbox to be x, y, width, height, got \[1, 2, 3\]"),
    ({"bbox": [1, 2, 3, "4"]}, r"bbox to be x, y, width, height, got \[1, 2, 3, '4'\]"),
    ({"bbox": [True, 2, 3, 4]}, r"bbox to be x, y, width, height, got \[True, 2, 3, 4\]"),
    ({"bbox": "1234"}, "bbox to be x, y, width, height, got '1234'"),
    ({"bbox": None}, "bbox to be x, y, width, height, got None"),
    ({"bbox": [1, 2, 10**400, 4]}, "bbox to be x, y, width, height, got "),
    ({"bbox": [1, 2, -3, 4]}, r"bbox to be x, y, width, height of at least 0, got \[1, 2, -3, 4\]"),
    ({"bbox": [1e308, 0, 1e308, 4]}, "bbox to be x, y, width, height of at least 0, got"),
    ({"category_id": 1.5}, "category_id to be an integer, got 1.5"),
    ({"category_id": True}, "category_id to be an integer, got True"),
    ({"category_id": 2**53}, "category_id to be an integer, got 9007199254740992"),
    ({"category_id": 2**63}, "category_id to be an integer, got 9223372036854775808"),
    ({"image_id": "1"}, "image_id to be an id of an image, got '1'"),
    ({"image_id": [7]}, r"image_id to be an id of an image, got \[7\]"),
]
OF_ANNOTATIONS: list[tuple[dict[str, Any], str]] = [
    ({"image_id": 8}, "image_id to be an id of an image, got 8"),
    ({"category_id": 8}, "category_id to be a category of the file, got 8"),
    ({"iscrowd": "0"}, "iscrowd to be 0, 1, false or true, got '0'$"),
    ({"iscrowd": 2}, "iscrowd to be 0, 1, false or true, got 2$"),
    ({"iscrowd": False, "ignore": None}, "ignore to be 0, 1, false or true, got None$"),
]
OF_RESULTS: list[tuple[dict[str, Any], str]] = [
    ({"score": ...}, "score to be a number, got no score"),
    ({"score": True}, "score to be a number, got True"),
    ({"score": "0.5"}, "score to be a number, got '0.5'"),
    ({"score": 10**400}, "score to be a number, got 1000"),
    ({"score": float("nan")}, "score to be a finite number, got nan"),
]


@pytest.mark.parametrize(
    ("kind", "change", "expected"),
    [
        *(("annotations", *case) for case in ENTRIES + OF_ANNOTATIONS),
        *(("results", *case) for case in ENTRIES + OF_RESULTS),
    ],
)
def test_an_entry_among_others(kind: str, change: dict[str, Any], expected: str, tmp_path: Path) -> None:
    good = GOOD if kind == "annotations" else RESULT
    bad = {key: value for key, value in {**good, **change}.items() if value is not ...}
    content = COCO if kind == "results" else {**COCO, "annotations": [good, bad, bad]}
    write(tmp_path, {"coco.json": content, "results.json": [good, bad, bad]})
    with pytest.raises(ValueError, match=rf"^{tmp_path}/.*json: {kind}\[1\]: expected {expected}"):
        reading.read_detections(tmp_path / "results.json", tmp_path / "coco.json")


RESULTS: dict[str, tuple[Any, str]] = {
    "no JSON": ('[\n{"image_id": 1\n}}', r": expected JSON, got other text at line 3, column 2$"),
    "many digits": ("[" + "9" * 5000 + "]", r": Exceeds the limit \(4300 digits\)"),
    "too deep": ("[" * 200_000, r": expected fewer nested lists$"),
    "no UTF-8": (b'"\xff"', r": expected UTF-8 text, got the byte 0xff at position 1$"),
    "no list": ({}, r": expected a list of results, got dict; a result has image_id, category_id, bbox and score$"),
    "annotations": (COCO, r": expected a list of results, got dict with images, categories, annotations; "),
    "another data set": (
        [{**RESULT, "image_id": 8}],
        r": results\[0\]: expected image_id to be an id of an .*, got 8$",
    ),
    "no object": ([RESULT, 5], r": results\[1\]: expected image_id to be an id of an image, got no image_id$"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_coco_results(name: str, tmp_path: Path) -> None:
    content, pattern = RESULTS[name]
    write(tmp_path, {"x.json": content, "coco.json": COCO})
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x.json{pattern}"):
        reading.read_detections(tmp_path / "x.json", tmp_path / "coco.json")


def test_columns_of_any_numbers(tmp_path: Path) -> None:
    others = {"score": 1, "category_id": 3.0, "bbox": [1, 2, 3, 2**70]}
    write(tmp_path, {"x.json": [RESULT, {**RESULT, **others}], "coco.json": COCO, "none.json": []})
    (read,) = reading.read_detections(tmp_path / "x.json", tmp_path / "coco.json").predictions
    assert read["scores"].tolist() == [0.5, 1.0]
    assert read["labels"].tolist() == [3, 3]
    assert read["boxes"].tolist() == [[0, 0, 4, 4], [1, 2, 4, 2.0**70]]
    (none,) = reading.read_detections(tmp_path / "none.json", tmp_path / "coco.json").predictions
    assert none["boxes"].shape == (0, 4)


@pytest.mark.parametrize("depth", [900, 990, 1020, 1030, 100_000])
def test_what_is_nested_too_deep(depth: int, tmp_path: Path) -> None:
    deep = "[" * depth + "]" * depth
    write(tmp_path, {"x.json": f'[{{"image_id": 1, "category_id": 3, "score": 1, "bbox": {deep}}}]', "coco.json": COCO})
    with pytest.raises(ValueError, match=r"x.json: (results\[0\]: expected bbox to be|expected fewer nested)"):
        reading.read_detections(tmp_path / "x.json", tmp_path / "coco.json")
    write(tmp_path, {"y.json": f'{{"images": [{{"id": {deep}}}], "categories": []}}'})
    with pytest.raises(ValueError, match=r"y.json: (images\[0\]: expected an integer id|expected fewer nested)"):
        reading.read_references(tmp_path / "y.json")


def test_voc_images(tmp_path: Path) -> None:
    write(tmp_path, {"Annotations/x.xml": "<a/>", "pictures/y.png": ""})
    annotations = tmp_path / "Annotations"
    with pytest.raises(ValueError, match=r"Annotations/x.xml: expected an image of that name in .*pictures, got none"):
        reading.read_references(annotations, images=tmp_path / "pictures")
    with pytest.raises(ValueError, match=r"ImageSets/Main/val.txt: expected a list of images, got No such file"):
        reading.read_references(annotations, split="val")
    write(tmp_path, {"ImageSets/Main/val.txt": "z"})
    with pytest.raises(ValueError, match=r"val.txt:1: expected an image of the references, got 'z'"):
        reading.read_references(annotations, split="val")


TRUE = {"boxes": [[0, 0, 4, 4]], "labels": [1]}
DICTS: dict[str, tuple[Any, str]] = {
    "a single one": (TRUE, r"references: expected a list with a dict for each image, got dict"),
    "no labels": ([TRUE, {"boxes": []}], r"references\[1\]: expected a dict with boxes, labels, got boxes"),
    "rows": ([[[0, 0, 4, 4, 1]]], r"references\[0\]: expected a dict with boxes, labels, got list"),
    "lengths": ([{**TRUE, "labels": [1, 2]}], r"references\[0\]: expected one length, got 1 boxes, 2 labels"),
    "shapes": ([{**TRUE, "boxes": [[0, 0, 4]]}], r"references\[0\]: expected boxes \(n, 4\), the others \(n,\)"),
    "words": ([{**TRUE, "labels": ["cat"]}], r"references\[0\]\['labels'\]: expected numbers, got 'cat'"),
    "no number": ([{**TRUE, "boxes": [[0, 0, float("nan"), 4]]}], r"references\[0\]\['boxes'\]: expected finite"),
    "backwards": ([{**TRUE, "boxes": [[5, 0, 4, 4]]}], r"references\[0\]: expected x1 ≤ x2 and y1 ≤ y2, got \[5.0,"),
    "a flag": ([{**TRUE, "iscrowd": [2]}], r"references\[0\]\['iscrowd'\]: expected 0 or 1, got 2$"),
    "no id": ([{**TRUE, "image_id": []}], r"references: expected image_id to be an integer or a string, got \[\]$"),
    "half an id": ([{**TRUE, "image_id": 0.5}], r"references: expected image_id to be an integer or a string, .*0.5$"),
    "half a class": ([{**TRUE, "labels": [0.5]}], r"references\[0\]\['labels'\]: expected integers, got 0.5"),
    "no size": ([{"boxes": [], "class_labels": []}], r"references\[0\]: expected orig_size beside class_labels"),
    "some ids": ([{**TRUE, "image_id": 4}, TRUE], r"references: expected an image_id of its own in each dict, got 1"),
}


@pytest.mark.parametrize("name", DICTS)
def test_dicts(name: str) -> None:
    references, pattern = DICTS[name]
    with pytest.raises((ValueError, TypeError), match=rf"^{pattern}"):
        reading.read_dicts(references)


def test_predicted_dicts() -> None:
    dataset = reading.read_dicts([TRUE])
    with pytest.raises(
        TypeError, match=r"^predictions\[0\]: expected a dict with boxes, labels, scores, got boxes, labels"
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
    with pytest.raises(TypeError, match=rf"^{file}: references\[0\]\['labels'\]: expected numbers, got complex"):
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


NAMES: dict[str, tuple[Callable[[], Any], str]] = {
    "no such class": (
        lambda: reading.class_ids(["yak"], {0: "cat"}),
        r"yak: expected the id or the name of a class, of 0 \(cat\)",
    ),
    "two of a name": (
        lambda: reading.class_ids(["cat"], {1: "cat", 2: "cat"}),
        r"cat: expected an id, since 1 and 2 have this name",
    ),
    "no names": (
        lambda: reading.class_ids(["yak"], {}),
        r"of none, since the references have no names; to name them, use names=…",
    ),
    "an empty list of names": (
        lambda: reading.read_names([]),
        "names: expected names of classes, or a file of them, got none",
    ),
    "no such file": (lambda: reading.read_names(["no/names.txt"]), r"no/names.txt: No such file"),
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


def test_a_few_lines_that_mean_gigabytes(tmp_path: Path) -> None:
    """Lists of lists by name, each nine times: refused before anything is made of them."""
    names = "abcdefghij"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{this}: &{this} [{', '.join([f'*{last}'] * 9)}]" for last, this in pairwise(names)]
    write(tmp_path, {"images/x.png": "", "data.yaml": "\n".join([*lines, "val: images", "names: *j"])})
    assert (tmp_path / "data.yaml").stat().st_size < 600
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"data.yaml:2: expected YAML, got an alias of a list or a mapping$"):
        reading.read_references(tmp_path / "data.yaml")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


def test_an_alias_of_a_word(tmp_path: Path) -> None:
    yaml = "train: &images images\nval: *images\nnames: {0: 1.5, 3: 7}"
    write(tmp_path, {"images/x.png": "", "labels/x.txt": "", "data.yaml": yaml})
    assert reading.read_references(tmp_path / "data.yaml").classes == {0: "1.5", 3: "7"}


def test_coco_flags(tmp_path: Path) -> None:
    flags: list[dict[str, Any]] = [{}, {"iscrowd": 0}, {"iscrowd": False}, {"iscrowd": 1}, {"ignore": True}]
    content = {**COCO, "annotations": [{**GOOD, "bbox": [i, 0, 4, 4], **flag} for i, flag in enumerate(flags)]}
    (tmp_path / "x.json").write_text(json.dumps(content))
    assert reading.read_references(tmp_path / "x.json").references[0]["ignored"].tolist() == [0, 0, 0, 1, 1]


def test_a_size_of_many_digits(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(f"<a><size><width>{'9' * 5000}</width><height>8</height></size></a>")
    assert reading.read_references(tmp_path).sizes == [None]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    write(tmp_path, {"names.txt": b"cat\n\xff\n"})
    with pytest.raises(ValueError, match=rf"^{tmp_path}/names.txt: expected UTF-8 text, got the byte 0xff at"):
        reading.read_names([str(tmp_path / "names.txt")])
