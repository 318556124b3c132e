"""Groups on the pages of ranks, maps and boxes, and boxes of several detectors beside each other."""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from openworld_metrics.pages.data import read
from openworld_metrics.pages.form.controls import shown
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.form.looking import look
from openworld_metrics.pages.runner import Runner, explain
from openworld_metrics.reading.limits import RefusedError
from tests.pages.data.test_pairing import MAPS, MASKS, packed, save
from tests.pages.groups import (
    CLASSES,
    DETECTORS,
    categories,
    coco,
    columns_of_boxes,
    ranks_of_groups,
    tables,
    yolo_archives,
)
from tests.pages.steps import numbers, yolo

Load = Callable[..., Any]


def runner_of(name: str, root: Path) -> Runner:
    page = importlib.import_module(f"openworld_metrics.pages.metrics.{name}").PAGE
    return Runner(page, root / "metrics" / name)


def show(runner: Runner, files: Any, made_of: Mapping[str, list[str]] | None = None, **options: Any) -> Any:
    values = {**runner.defaults, **options}
    held = {option.name: shown(option, values[option.name]) for option in runner.page.options}
    return runner.show(Form(files=files, made_of=made_of or {}, options=held))


def called(code: str, root: Path) -> Any:
    """What the Python of a page gives, in the folder of the files."""
    names: dict[str, Any] = {}
    exec(code.replace('load("metrics/', f'load("{root}/metrics/'), names)
    return names["results"]


@pytest.mark.parametrize("name", ["accuracyk", "autkc"])
def test_groups_of_ranks(name: str, load: Load, root: Path, tmp_path: Path) -> None:
    files, columns = ranks_of_groups(tmp_path)
    found = show(runner_of(name, root), files, k_list=(1, 3))
    expected = load(name).compute(**columns[""], k_list=(1, 3))
    assert numbers(found.json) == expected
    assert [*expected["groups"]["group"]] == ["far", "near", "near/x", "near/y"]
    assert all(f"| {row} |" in found.tables[0] for row in ("far", "near", "near/x", "near/y", "mean"))


def test_categories_of_maps(root: Path, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From folders in one archive, and from an archive for each; folders that have no normal image are none."""
    runner = runner_of("anomaly_suite", root)
    files, order, groups = categories(tmp_path)
    expected = load("anomaly_suite").compute(predictions=MAPS[order], references=MASKS[order], groups=groups)
    found = show(runner, files)
    assert numbers(found.json) == expected
    monkeypatch.chdir(tmp_path)
    assert called(found.call, root) == expected
    assert "groups" not in numbers(show(runner, files, {"groups": ["no groups"]}).json)
    apart = []
    for side in ("predictions", "references"):  # the names are those of both, which detectors would have
        for name in ("bottle", "nut"):
            for i, path in enumerate(sorted((tmp_path / side / name).rglob("*.png"))):
                one = MAPS[order[2 * (name == "nut") + i]] if side == "predictions" else MASKS[1]
                stem = path.stem.removesuffix("_mask") + ("" if "good" in path.parts else "d")
                save(tmp_path / "apart" / side / name / f"{stem}.png", one)
        apart.append([packed(tmp_path / "apart" / side, name) for name in ("bottle", "nut")])
    assert numbers(show(runner, apart).json)["groups"] == expected["groups"]
    (tmp_path / "predictions" / "nut" / "test" / "good" / "0.png").unlink()
    files[0] = [packed(tmp_path, "predictions")]
    assert "groups" not in numbers(show(runner, files).json)


@pytest.mark.parametrize(("write", "box_format"), [(yolo_archives, "cxcywh"), (tables, "cxcywh"), (coco, "xywh")])
def test_boxes_of_two_detectors(
    write: Callable[[Path], Any],
    box_format: str,
    root: Path,
    load: Load,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runner, files = runner_of("openset_detection", root), write(tmp_path)
    columns = columns_of_boxes(box_format)
    expected = {name: load("openset_detection").compute(**one) for name, one in columns.items()}
    box_format = box_format if write is tables else "xyxy"  # of the reader
    found = show(runner, files, box_format=box_format, **CLASSES)
    assert numbers(found.json) == expected
    assert [line.split(" |")[0] for line in found.tables[0].splitlines()[2:]] == ["| one", "| two"]
    assert [trace.name for trace in found.figures[3].data if "two" in trace.name] == ["U-Recall, two"]
    seen = look(read(runner.page, [], files))
    assert seen.options.get("box_format", box_format) == box_format
    assert {name: seen.options[name] for name in CLASSES} == CLASSES
    assert "Images with references but no predictions of two: 1 (train/c)." in seen.html
    monkeypatch.chdir(tmp_path)
    for path in (path for part in files for path in part if path.parent != tmp_path):
        shutil.copy(path, tmp_path)
    assert called(found.call, root) == expected


def test_another_detector_in_the_viewer(root: Path, tmp_path: Path) -> None:
    """The same image of the other detector: its boxes, and the same objects."""
    runner = runner_of("openset_detection", root)
    page, files = runner.page, yolo_archives(tmp_path)
    values = {**runner.defaults, **CLASSES}
    held = {option.name: shown(option, values[option.name]) for option in page.options}
    done = runner.run(Form(files=files, options=held))
    assert [*done.arguments["one"].names] == [*done.arguments["two"].names]
    image = [*done.arguments["one"].names].index("train/c") + 1
    pictures = {name: runner.picture(done, Form(detector=name, image=image)) for name in DETECTORS}
    drawn = {name: {trace.name.split("  ")[-1] for trace in figure.data} for name, figure in pictures.items()}
    assert drawn["two"] == {"object, not found"} != drawn["one"]


def wrong_form(folder: Path) -> Any:
    return [yolo_archives(folder)[0], coco(folder)[1]]


def two_kinds(folder: Path) -> Any:
    files = yolo(folder)
    mine = folder / "table.csv"
    mine.write_text("image,x1,y1,x2,y2,confidence,class\n1,10,10,50,50,0.9,0\n")
    return [[*files[0], mine], files[1]]


def swapped(folder: Path) -> Any:
    return coco(folder)[::-1]


def of_other_images(folder: Path) -> Any:
    files = coco(folder)
    results = [{**row, "image_id": 99} for row in json.loads(files[0][0].read_text())]
    files[0][0].write_text(json.dumps(results))
    return files


def without_a_name(folder: Path) -> Any:
    files = tables(folder)
    table = pd.read_csv(files[0][0])
    table.loc[3, "detector"] = None
    table.to_csv(files[0][0], index=False)
    return files


def of_two_groups(folder: Path) -> Any:
    files = tables(folder)
    table = pd.read_csv(files[1][0])
    table.loc[0, "dataset"] = "test"
    table.to_csv(files[1][0], index=False)
    return files


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (wrong_form, "expected the names of the classes, since ids in YOLO predictions may mean other classes"),
        (two_kinds, "table.csv: expected one of .txt, .xml, .yaml, .yml, .json, .pt, .zip, got .csv"),
        (swapped, "two.json: expected one file, got one.json too"),
        (of_other_images, "one.json: results[0]: expected image_id to be an id of an image, got 99"),
        (without_a_name, "detector: expected a name for each row, got none in row 4"),
        (of_two_groups, "dataset: expected one value for all rows of an image, got train and test for train/a"),
    ],
)
def test_what_is_wrong_is_said(write: Callable[[Path], Any], message: str, root: Path, tmp_path: Path) -> None:
    with pytest.raises((ValueError, RefusedError)) as raised:
        show(runner_of("openset_detection", root), write(tmp_path), **CLASSES)
    assert message in explain(raised.value)
    assert str(tmp_path) not in explain(raised.value)
