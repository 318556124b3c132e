"""Each flag that an error of the readers names as its cure is tried on the case of the error, and ends in numbers."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tifffile
from PIL import Image

import openworld_metrics.reading
from tests.conftest import Run

SCORES, LABELS = [0.1, 0.25, 0.2, 0.5, 0.3, 0.6, 0.4, 0.7], [0, 1] * 4
OOD = ("compute", "ood_bench", "--metrics", "auroc")
DETECT = ("detect", "--references", "g.json", "--predictions", "p.json", "--known-classes")
ANOMALY = ("anomaly", "--maps", "maps", "--data", "data")


class Case(NamedTuple):
    """An error with cures: what writes its files, arguments that fail, words of the message, arguments that cure."""

    write: Callable[[], object]
    arguments: Sequence[str]
    message: str
    cured: Sequence[Sequence[str]]


def table(place: str, **columns: Sequence[Any]) -> None:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]
    Path(place).write_text("\n".join(lines), encoding="utf-8")


def two_tables() -> None:
    names = [f"im{row}.png" for row in range(8)]
    table("scores.csv", image=names, score=SCORES)
    table("labels.csv", image=["another.png", *names[1:]], label=LABELS)


def boxes(classes: dict[int, str], predicted: Sequence[int], true: Sequence[int] = (1, 2)) -> None:
    """COCO files of an image: an object of each true class, and a prediction of each predicted one."""
    rows = [{"image_id": 1, "category_id": one, "bbox": [20 * one, 20, 9, 9]} for one in true]
    objects = [{"id": place, "area": 81, "iscrowd": 0, **row} for place, row in enumerate(rows, 1)]
    names = [{"id": one, "name": name} for one, name in classes.items()]
    images = [{"id": 1, "file_name": "a.jpg", "width": 200, "height": 200}]
    Path("g.json").write_text(json.dumps({"images": images, "categories": names, "annotations": objects}))
    found = [{"image_id": 1, "category_id": one, "bbox": [20 * one, 20, 9, 9], "score": 0.9} for one in predicted]
    Path("p.json").write_text(json.dumps(found))


def yolo(place: str, *lines: str) -> None:
    Path(place).mkdir()
    Path(place, "a.txt").write_text("\n".join(lines))


def yolo_references() -> None:
    yolo("labels", "0 .5 .5 .2 .2", "1 .2 .2 .1 .1")
    Path("images").mkdir()
    Image.new("RGB", (100, 100)).save("images/a.jpg")
    (Path("data.yaml")).write_text("path: .\nval: images\nnames: [cat, dog]\n")


def labels_without_names() -> None:
    yolo_references()
    yolo("pred", "0 .5 .5 .2 .2 .9")


def coco_of_yolo() -> None:
    yolo_references()
    rows = [{"image_id": "a", "category_id": 1, "bbox": [40, 40, 20, 20], "score": 0.9}]
    Path("p.json").write_text(json.dumps(rows))


def class_files() -> None:
    Path("voc").mkdir()
    box = "<bndbox><xmin>20</xmin><ymin>20</ymin><xmax>29</xmax><ymax>29</ymax></bndbox>"
    size = "<size><width>100</width><height>100</height><depth>3</depth></size>"
    Path("voc/a.xml").write_text(f"<annotation>{size}<object><name>cat</name>{box}</object></annotation>")
    Path("pred").mkdir()
    Path("pred/comp3_det_test_cat.txt").write_text("a 0.9 20 20 29 29\n")
    Path("pred/comp3_det_test_elk.txt").write_text("a 0.9 20 20 29 29\n")


def maps(*, values: Sequence[int] = (255,), normal_mask: bool = False, size: int = 8, rest: Sequence[str] = ()) -> None:
    """Two normal images and two of a defect of MVTec AD with maps; parameters: values of the masks, size of maps."""
    for place, (defect, number) in enumerate((kind, n) for kind in ("good", "crack") for n in range(2)):
        one = f"nut/test/{defect}/00{number}"
        for folder in ("data", "maps"):
            Path(folder, one).parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (8, 8)).save(f"data/{one}.png")
        tifffile.imwrite(f"maps/{one}.tiff", np.arange(size * size, dtype=np.float32).reshape(size, size) + place)
        if defect == "crack" and "no mask" not in rest and (number or "one mask" not in rest):
            mask = np.zeros((8, 8), np.uint8)
            mask[2:4, : len(values)] = values
            Path("data/nut/ground_truth/crack").mkdir(parents=True, exist_ok=True)
            Image.fromarray(mask).save(f"data/nut/ground_truth/crack/00{number}_mask.png")
    for name in rest:
        if name.endswith(".tiff"):
            tifffile.imwrite(f"maps/nut/test/crack/{name}", np.zeros((8, 8), np.float32))


CASES: dict[str, Case] = {
    "--by-position": Case(
        two_tables,
        (*OOD, "--predictions", "scores.csv:score", "--references", "labels.csv:label"),
        "expected in image the 8 names of image",
        [("--by-position",)],
    ),
    "--leave-out": Case(
        lambda: table("x.csv", score=[*SCORES, "n/a"], label=[*LABELS, 1]),
        (*OOD, "x.csv"),
        "'n/a' is not a number",
        [("--leave-out",)],
    ),
    "--flip": Case(
        lambda: table("x.csv", confidence=SCORES, label=LABELS),
        (*OOD, "--predictions", "x.csv:confidence", "--references", "x.csv:label"),
        "whose name says confidence",
        [("--flip",), ("--predictions", "x.csv:-confidence"), ("--predictions", "x.csv:+confidence")],
    ),
    "--label-from-name": Case(
        lambda: table(
            "x.csv", file=[f"{'normal' if one else 'anomaly'}_{i}.wav" for i, one in enumerate(LABELS)], p=SCORES
        ),
        (*OOD, "x.csv"),
        "references: no column looks like it. Pick one, from file, p; label_from_name='normal|anomaly', the command's",
        [("--label-from-name", "normal|anomaly")],
    ),
    "--label-from-name, of names that are labels": Case(
        lambda: table(
            "x.csv", p=SCORES, label=[f"{'normal' if one else 'anomaly'}_{i}.wav" for i, one in enumerate(LABELS)]
        ),
        (*OOD, "x.csv"),
        "takes labels from words in names",
        [("--label-from-name", "normal|anomaly")],
    ),
    "--in-value and --out-value": Case(
        lambda: table("x.csv", p=SCORES, label=["up" if one else "down" for one in LABELS]),
        (*OOD, "x.csv"),
        "in_value='down' and out_value='up' say what they mean, or the other way round (--in-value, --out-value)",
        [("--in-value", "up", "--out-value", "down"), ("--in-value", "down", "--out-value", "up")],
    ),
    "--unknown-id, of two that are predicted": Case(
        lambda: boxes({1: "cat", 2: "unknown", 3: "unk"}, [1, 2, 3]),
        (*DETECT, "cat"),
        "state which is the unknown class",
        [("--unknown-id", "2"), ("--unknown-id", "3")],
    ),
    "--unknown-id, of a known class": Case(
        lambda: boxes({1: "cat", 2: "unknown"}, [1, 2]),
        (*DETECT, "cat", "unknown"),
        "means unknown; if it is a known class",
        [("--unknown-id", "-1"), ("--known-classes", "cat")],
    ),
    "--unknown-id and --names, of ids that are no categories": Case(
        lambda: boxes({1: "cat", 2: "dog"}, [1, 0]),
        (*DETECT, "cat", "--unknown-id", "-1"),
        "if it stands for unknown, pass --unknown-id 0; if ids mean other classes, name these with --names",
        [("--unknown-id", "0"), ("--names", "dog", "cat")],
    ),
    "--names, of classes without names": Case(
        labels_without_names,
        ("detect", "--references", "labels", "--images", "images", "--predictions", "pred", "--known-classes", "cat"),
        "use --names, or ids",
        [("--names", "cat", "dog"), ("--known-classes", "0")],
    ),
    "--names, of ids that may mean other classes": Case(
        coco_of_yolo,
        ("detect", "--references", "data.yaml", "--predictions", "p.json", "--known-classes", "cat"),
        "use --names data.yaml, or --names cat dog",
        [("--names", "data.yaml"), ("--names", "cat", "dog")],
    ),
    "--names, of files by class": Case(
        class_files,
        ("detect", "--references", "voc", "--predictions", "pred", "--known-classes", "cat"),
        "VOC references have the classes that --names lists",
        [("--names", "cat", "dog", "elk")],
    ),
    "--levels image, of an image without a mask": Case(
        lambda: maps(rest=["one mask"]),
        ANOMALY,
        "000_mask.png, got none; --levels image needs none",
        [("--levels", "image"), ("--leave-out",)],
    ),
    "--levels image, of data without masks": Case(
        lambda: maps(rest=["no mask"]),
        ANOMALY,
        "--levels image needs none",
        [("--levels", "image")],
    ),
    "--leave-out, of a map without an image": Case(
        lambda: maps(rest=["009.tiff"]),
        ANOMALY,
        "009.tiff: expected an image of that name and folder, got none",
        [("--leave-out",), ("--list-problems",)],
    ),
    "--mask-threshold, --ignore-value, --regions": Case(
        lambda: maps(values=(128, 255)),
        ANOMALY,
        "--mask-threshold 127.5 cuts it at half of the highest",
        [("--mask-threshold", "127.5"), ("--ignore-value", "128"), ("--regions", "labels")],
    ),
    "--resize": Case(
        lambda: maps(size=4),
        ANOMALY,
        "maps are resized with --resize nearest or bilinear only",
        [("--resize", "nearest"), ("--resize", "bilinear")],
    ),
}
NOTES = {"--images", "--groups"}  # which no error names


@pytest.mark.parametrize("name", CASES)
def test_cures(name: str, run: Run) -> None:
    case = CASES[name]
    case.write()
    code, output, errors = run(*case.arguments)
    assert (code, output) == (2, "")
    assert case.message in errors
    for cure in case.cured:
        arguments = [*case.arguments]
        if cure[0] in arguments:  # with another value
            at = arguments.index(cure[0])
            end = next((i for i in range(at + 1, len(arguments)) if arguments[i].startswith("--")), len(arguments))
            arguments[at:end] = cure
        else:
            arguments += cure
        code, output, errors = run(*arguments)
        assert code == (2 if cure == ("--list-problems",) else 0), (cure, errors)
        assert output


def test_each_flag_in_a_sentence_of_the_readers_is_tried() -> None:
    tried = {flag for case in CASES.values() for cure in case.cured for flag in cure if flag.startswith("--")}
    folder = Path(openworld_metrics.reading.__file__).parent
    named = {
        flag
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value
        for flag in re.findall(r"--[a-z][a-z-]+", node.value)
    }
    assert named
    assert named - tried - NOTES == set()
