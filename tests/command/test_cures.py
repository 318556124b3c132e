"""Each cure of an error is taken as each door spells it, on the case of the error, and mends it there.

A door is the command, `read` and what computes its columns, and a page: the words of each message are carried out.
"""

from __future__ import annotations

import ast
import json
import pickle
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tifffile
from PIL import Image

import openworld_metrics
import openworld_metrics.reading
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.faces.page import form, worker
from openworld_metrics.faces.page.vocabulary import label_of
from openworld_metrics.faces.page.worker import Request
from openworld_metrics.loading import metric_class, task_of
from openworld_metrics.reading.boxes.classes import class_options
from openworld_metrics.reading.boxes.dataset import class_ids
from openworld_metrics.reading.boxes.reading import BoxReading
from openworld_metrics.reading.columns.metrics import layout_of
from openworld_metrics.reading.cures import Cure, Or, choices_of, cures_of, in_python, spelled
from openworld_metrics.reading.places import files_below
from openworld_metrics.reading.read import READERS, read
from tests.conftest import Run
from tests.reading.page import request

SCORES, LABELS = [0.1, 0.25, 0.2, 0.5, 0.3, 0.6, 0.4, 0.7], [0, 1] * 4
METRIC = {"compute": "ood_bench", "detect": "openset_detection", "anomaly": "anomaly_suite"}  # by command


class Case(NamedTuple):
    """An error with cures.

    write: writes its files; arguments, of the command that fails; inputs, of `read`, and choices, also options
    message: words of the sentence; cures, the names of their choices
    values: of choices that the user has to know
    """

    write: Callable[[], object]
    arguments: Sequence[str]
    inputs: Sequence[Any]
    message: str
    cures: set[str]
    choices: Mapping[str, Any] = {}
    values: Mapping[str, Any] = {}

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return METRIC[self.arguments[0]]

    @property
    def files(self) -> list[list[Path]]:
        """The files of each input, as a page has them."""
        places = [[*map(Path, [one] if isinstance(one, str) else one)] for one in self.inputs]
        return [
            [path for place in each for path in (files_below(place, None) if place.is_dir() else [place])]
            for each in places
        ]


def table(place: str, **columns: Sequence[Any]) -> None:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]
    Path(place).write_text("\n".join(lines), encoding="utf-8")


def two_tables() -> None:
    names = [f"im{row}.png" for row in range(8)]
    table("scores.csv", image=names, score=SCORES)
    table("labels.csv", image=["another.png", *names[1:]], label=LABELS)


def two_files_of_other_labels() -> None:
    for name, labels in (("a.csv", LABELS), ("b.csv", [1 - LABELS[0], *LABELS[1:]])):
        table(name, image=[f"im{row}.png" for row in range(8)], score=SCORES, label=labels)


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


LEAVE_OUT, BY_NAME, BY_POSITION = {"leave_out"}, {"label_from_name"}, {"by_position"}
OF_VALUES = {"in_value", "out_value"}
UNKNOWN_ID, NAMES, IMAGES_ALONE = {"unknown_class_id"}, {"names"}, {"levels"}


def of_rows(write: Callable[[], object], message: str, cures: set[str], **values: Any) -> Case:
    return Case(write, ("compute", "ood_bench", "x.csv"), ("x.csv",), message, cures, {}, values)


def of_boxes(
    write: Callable[[], object],
    message: str,
    cures: set[str],
    *known: str,
    places: tuple[str, str] = ("p.json", "g.json"),
    more: Mapping[str, str] = {},
    **values: Any,
) -> Case:
    flags = [word for name, value in more.items() for word in (f"--{name}", value)]
    arguments = ("detect", "--predictions", places[0], "--references", places[1], *flags, "--known-classes", *known)
    return Case(write, arguments, places, message, cures, {"known_classes": [*known], **more}, values)


def of_maps(message: str, cures: set[str], ignore_value: int = 0, **rest: Any) -> Case:
    arguments = ("anomaly", "--maps", "maps", "--data", "data")
    write = partial(maps, **rest)
    return Case(write, arguments, ("maps", "data"), message, cures, {}, {"ignore_value": ignore_value})


WAVES = [f"{'normal' if one else 'anomaly'}_{row}.wav" for row, one in enumerate(LABELS)]
CASES: dict[str, Case] = {
    "rows that do not meet": Case(
        two_tables,
        ("compute", "ood_bench", "--predictions", "scores.csv:score", "--references", "labels.csv:label"),
        (["scores.csv", "labels.csv"],),
        "expected in image the 8 names of image",
        BY_POSITION,
    ),
    "a cell that is no number": of_rows(
        lambda: table("x.csv", score=[*SCORES, "n/a"], label=[*LABELS, 1]), "'n/a' is not a number", LEAVE_OUT
    ),
    "a confidence": Case(
        lambda: table("x.csv", confidence=SCORES, label=LABELS),
        ("compute", "ood_bench", "--predictions", "x.csv:confidence", "--references", "x.csv:label"),
        (),
        "whose name says confidence",
        {"flip"},
        {"columns": {"predictions": "x.csv:confidence", "references": "x.csv:label"}},
    ),
    "no labels": of_rows(
        lambda: table("x.csv", file=WAVES, p=SCORES, first=LABELS, second=LABELS),
        "references: no column looks like it",
        {"columns", *BY_NAME},
        references="first",
    ),
    "labels that are names": of_rows(lambda: table("x.csv", p=SCORES, label=WAVES), "is not a label", BY_NAME),
    "files that contradict each other": Case(
        two_files_of_other_labels,
        ("compute", "ood_bench", "a.csv", "b.csv"),
        (["a.csv", "b.csv"],),
        "b.csv: label: expected the labels that a.csv has",
        {"columns"},
    ),
    "labels of two words": of_rows(
        lambda: table("x.csv", p=SCORES, label=["up" if one else "down" for one in LABELS]), "is not a label", OF_VALUES
    ),
    "two ids of unknown": of_boxes(
        lambda: boxes({1: "cat", 2: "unknown", 3: "unk"}, [1, 2, 3]),
        "to call unknown objects by one class, got 2 (unknown) and 3 (unk)",
        UNKNOWN_ID,
        "cat",
    ),
    "unknown as a known class": of_boxes(
        lambda: boxes({1: "cat", 2: "unknown"}, [1, 2]), "means unknown", UNKNOWN_ID, "cat", "unknown"
    ),
    "ids that are no categories": of_boxes(
        lambda: boxes({1: "cat", 2: "dog"}, [1, 0]),
        "expected category ids of the references, or -1 for unknown, got 0",
        UNKNOWN_ID | NAMES,
        "cat",
        names=["dog", "cat"],
    ),
    "classes without names": of_boxes(
        labels_without_names,
        "since the references have no names",
        NAMES,
        "cat",
        places=("pred", "labels"),
        more={"images": "images"},
        names=["cat", "dog"],
    ),
    "ids that may mean other classes": of_boxes(
        coco_of_yolo, "expected the names of the classes", NAMES, "cat", places=("p.json", "data.yaml")
    ),
    "files by class": of_boxes(
        class_files,
        "expected the name of a class of the references",
        NAMES,
        "cat",
        places=("pred", "voc"),
        names=["cat", "dog", "elk"],
    ),
    "an image without a mask": of_maps("000_mask.png, got none", IMAGES_ALONE | LEAVE_OUT, rest=["one mask"]),
    "data without masks": of_maps("expected masks", IMAGES_ALONE, rest=["no mask"]),
    "a map without an image": of_maps("009.tiff: expected an image of that name", LEAVE_OUT, rest=["009.tiff"]),
    "several problems": of_maps("(the first of 2 problems)", LEAVE_OUT, rest=["009.tiff", "008.tiff"]),
    "a mask of two values": of_maps(
        "expected a mask of 0 and one other value",
        {"mask_threshold", "ignore_value", "regions"},
        values=(128, 255),
        ignore_value=128,
    ),
    "a map of another size": of_maps("expected 8 × 8 pixels", {"resize"}, size=4),
}
NOTES = {"images", "known_classes", "clusters", "unknown_below", "max_detections"}  # choices that notes alone offer


def alternatives(cure: Cure, values: Mapping[str, Any]) -> Iterator[Cure]:
    """The cure with each of its values, or with those that the user knows."""
    columns = cure.choices.get("columns", {})
    flat = {**{name: value for name, value in cure.choices.items() if name != "columns"}, **columns}
    each = [[*value] or [values[name]] if isinstance(value, Or) else [value] for name, value in flat.items()]
    for one in product(*each):
        chosen = dict(zip(flat, one))
        of_columns = {name: chosen.pop(name) for name in columns}
        yield Cure(cure.reason, {**chosen, **({"columns": of_columns} if of_columns else {})})


def by_command(case: Case, run: Run) -> None:
    """Add the flags that the command names."""
    code, output, errors = run(*case.arguments)
    assert (code, output) == (2, "")
    assert case.message in errors
    for way in re.findall(r"[;.] [^;]*, use ([^;]*)", errors.strip()):
        for flags in way.split(" or "):
            flag, *words = shlex.split(flags)
            if words and words[0].isupper():  # a placeholder
                value = case.values[flag[2:].replace("-", "_")]
                words = [*map(str, value if isinstance(value, list) else [value])]
            code, _, errors = run(*with_flags(case.arguments, [flag, *words]))
            assert code == (2 if flag == "--list-problems" else 0), (flags, errors)


def with_flags(arguments: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Arguments with flags, in place of those that are there."""
    changed = [*arguments]
    if flags[0] in changed:
        at = changed.index(flags[0])
        end = next((i for i in range(at + 1, len(changed)) if changed[i].startswith("--")), len(changed))
        changed[at:end] = []
    return [*changed, *flags]


def by_python(case: Case) -> None:
    """Evaluate the arguments that Python names."""
    with pytest.raises((ValueError, TypeError)) as raised:
        compute(case, {})
    assert case.message in str(raised.value)
    assert choices_of(raised.value) == case.cures
    for cure in cures_of(raised.value):
        assert f"; {cure.reason}, {in_python(cure)}" in str(raised.value)
        for one in alternatives(cure, case.values):
            arguments = in_python(one).removeprefix("use ").replace(" and ", ", ")
            assert compute(case, eval(f"dict({arguments})"))


def compute(case: Case, more: Mapping[str, Any]) -> dict[str, Any]:
    """The results of each model, read and computed in Python; choices are of the reader, the metric, or both."""
    metric, choices = metric_class(case.metric), {**case.choices, **more}
    options = {name: value for name, value in choices.items() if name in metric.options}
    shared = READERS[task_of(case.metric)].options if task_of(case.metric) in READERS else ()
    of_reader = {name: value for name, value in choices.items() if name in shared or name not in options}
    stated = {name: options[name] for name in ("in_value", "out_value") if name in options}
    reading = read(case.metric, *case.inputs, **of_reader, **({"stated": stated} if stated else {}))
    options = {**reading.options, **options}
    if isinstance(reading, BoxReading):
        options["known_classes"] = class_ids(choices["known_classes"], reading.classes)
        options["unknown_class_id"] = choices.get("unknown_class_id")
        options = class_options(options, *reading.detections.values())
    return {name: metric(**options).compute(**columns) for name, columns in reading.models.items()}


def by_page(case: Case) -> None:
    """Tick, choose and enter what the page names, where it does not guess."""
    before, face = request(case.metric, case.files), form.in_form(case.metric)
    seen = pickle.loads(pickle.dumps(worker.look(before)))  # as a page has it from its worker
    for text in [seen.error, *seen.notes]:
        assert not re.search(r"--[a-z]", spelled(text, face))
    for cure in cures_of(seen.error):
        assert case.message in seen.error
        for one in [] if face(cure).startswith("in Python") else alternatives(cure, case.values):
            changed = before
            for step in face(one).split(" and "):
                changed = after(step, changed)
            assert worker.look(changed).error == "", face(one)
            assert worker.compute(changed, False)


def after(step: str, before: Request) -> Request:
    """A request after a step in the words of a page."""
    (label,) = re.findall("“(.*)”", step)
    value = "".join(re.findall("(?:choose|enter) (.*) under", step))
    options = {one.label: one for one in form.options_of(before.metric).values()}
    for name, (words, ticked) in subject_of(before.metric).form.choices.items():
        if label == words:
            return replace(before, choices={name: ticked})
    if label.startswith(form.LEAVE_OUT):
        return replace(before, leave_out=True)
    if label == form.BY_POSITION:
        return replace(before, by_position=True)
    if label in options:
        chosen = options[label].parsed([value] if options[label].choices else value)
        return replace(before, options={**before.options, options[label].name: chosen})
    columns = {label_of(before.metric, column): column.name for column in layout_of(before.metric).columns}
    return replace(before, wishes={columns[label]: [value]})


@pytest.mark.parametrize("door", ["command", "python", "page"])
@pytest.mark.parametrize("name", CASES)
def test_a_cure_works_as_it_is_spelled(name: str, door: str, run: Run) -> None:
    case = CASES[name]
    case.write()
    if door == "command":
        by_command(case, run)
    elif door == "python":
        by_python(case)
    elif case.inputs:
        by_page(case)


def test_no_room_below_the_commands_names_a_flag() -> None:
    """By the source: no text in a message holds a flag."""
    package = Path(openworld_metrics.__file__).parent
    named = {
        f"{path.relative_to(package)}:{part.lineno} {part.value}"
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in ("command", "cluster")
        for part in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and "\n" not in part.value
        if re.search(r"(?<![\w(:-])--([a-z]|$)", part.value) and part.value.strip() != "--"
    }
    assert named == set()


def test_each_cure_of_the_readers_is_tried() -> None:
    """By the source: each name of a choice is one of a case."""
    folder = Path(openworld_metrics.reading.__file__).parent
    named = {
        key.value
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Cure"
        for key in getattr(node.args[1], "keys", ())
    }
    assert named
    assert named - NOTES == {name for case in CASES.values() for name in case.cures}
