"""Groups on the pages of ranks, maps and boxes, and boxes of several detectors beside each other."""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics.pages.controls import shown
from openworld_metrics.pages.inputs import read_sources
from openworld_metrics.pages.limits import RefusedError
from openworld_metrics.pages.looking import look
from openworld_metrics.pages.runner import Runner, explain
from tests.apps.test_pairing import MAPS, MASKS, packed, save

Load = Callable[..., Any]
Table = np.ndarray
DETECTORS = ("one", "two")
IMAGES = ("train/a", "train/c", "val/a", "val/b")
CLASSES = {"known_classes": (0, 1, 2), "unknown_class_id": 999}


def runner_of(name: str, root: Path) -> Runner:
    page = importlib.import_module(f"openworld_metrics.pages.metrics.{name}").PAGE
    return Runner(page, root / "metrics" / name)


def show(runner: Runner, files: Any, made_of: Mapping[str, list[str]] | None = None, **options: Any) -> Any:
    page = runner.page
    held = [shown(option, {**runner.defaults, **options}[option.name]) for option in page.options]
    chosen = [(made_of or {}).get(column.name, []) for column in page.columns]
    return runner.show([None] * len(page.sources), files, chosen, "automatic", held)


def called(code: str, root: Path) -> Any:
    """What the Python of a page gives, in the folder of the files."""
    names: dict[str, Any] = {}
    exec(code.replace('load("metrics/', f'load("{root}/metrics/'), names)
    return names["results"]


@pytest.mark.parametrize("name", ["accuracyk", "autkc"])
def test_groups_of_ranks(name: str, load: Load, root: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores, classes = rng.normal(size=(40, 5)), rng.integers(0, 5, 40)
    groups = ["near/x"] * 10 + [None] * 5 + ["near/y"] * 15 + ["far"] * 10
    columns = {f"class {i}": scores[:, i] for i in range(5)}
    table = pd.DataFrame({**columns, "references": classes, "data set / group": groups})
    table.to_parquet(tmp_path / "mine.parquet")
    found = show(runner_of(name, root), [[tmp_path / "mine.parquet"]], k_list=(1, 3))
    expected = load(name).compute(predictions=scores, references=classes, groups=groups, k_list=(1, 3))
    assert json.loads(found.json) == expected
    assert [*expected["groups"]["group"]] == ["far", "near", "near/x", "near/y"]
    assert all(f"| {row} |" in found.tables[0] for row in ("far", "near", "near/x", "near/y", "mean"))


def categories(folder: Path) -> tuple[list[list[Path]], list[int], list[str]]:
    """As MVTec lies on disk: two categories, masks of the defects alone; the order of the maps, and their groups."""
    names = ["nut/test/good/0", "nut/test/cut/0", "bottle/test/good/0", "bottle/test/bent/0"]
    for name, score_map, mask in zip(names, MAPS, MASKS):
        save(folder / "predictions" / f"{name}.png", score_map)
        if mask.any():
            save(folder / "references" / f"{name.replace('test', 'ground_truth')}_mask.png", mask)
    order = sorted(range(4), key=names.__getitem__)
    return [[packed(folder, side)] for side in ("predictions", "references")], order, ["bottle", "bottle", "nut", "nut"]


def test_categories_of_maps(root: Path, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From folders in one archive, and from an archive for each; folders that have no normal image are none."""
    runner = runner_of("anomaly_suite", root)
    files, order, groups = categories(tmp_path)
    expected = load("anomaly_suite").compute(predictions=MAPS[order], references=MASKS[order], groups=groups)
    found = show(runner, files)
    assert json.loads(found.json) == expected
    monkeypatch.chdir(tmp_path)
    assert called(found.call, root) == expected
    assert "groups" not in json.loads(show(runner, files, {"groups": ["no groups"]}).json)
    apart = []
    for side in ("predictions", "references"):  # the names are those of both, which detectors would have
        for name in ("bottle", "nut"):
            for i, path in enumerate(sorted((tmp_path / side / name).rglob("*.png"))):
                one = MAPS[order[2 * (name == "nut") + i]] if side == "predictions" else MASKS[1]
                stem = path.stem.removesuffix("_mask") + ("" if "good" in path.parts else "d")
                save(tmp_path / "apart" / side / name / f"{stem}.png", one)
        apart.append([packed(tmp_path / "apart" / side, name) for name in ("bottle", "nut")])
    assert json.loads(show(runner, apart).json)["groups"] == expected["groups"]
    (tmp_path / "predictions" / "nut" / "test" / "good" / "0.png").unlink()
    files[0] = [packed(tmp_path, "predictions")]
    assert "groups" not in json.loads(show(runner, files).json)


def scenes() -> tuple[dict[str, dict[str, Table]], dict[str, Table]]:
    """YOLO's lines of two detectors and of the objects, by image; one image without objects, one without a file."""
    rng = np.random.default_rng(1)
    true = {image: _lines(rng, rng.integers(0, 5, 3)) for image in IMAGES}
    true["val/b"] = np.zeros((0, 5))
    found: dict[str, dict[str, Table]] = {}
    for detector in DETECTORS:
        found[detector] = {}
        for image, rows in true.items():
            moved = np.clip(rows[:, 1:] + rng.normal(0, 0.02, (len(rows), 4)), 0, 1).round(3)
            classes = np.where(rows[:, 0] > 2, 999, rows[:, 0]) if detector == "one" else rng.integers(0, 3, len(rows))
            kept = np.column_stack([classes, moved, rng.uniform(size=len(rows)).round(3)])
            wrong = _lines(rng, np.asarray([1]))
            found[detector][image] = np.vstack([kept, np.column_stack([wrong, [0.3]])])
    del found["two"]["train/c"]
    return found, true


def _lines(rng: np.random.Generator, classes: Any) -> Table:
    count = len(classes)
    return np.column_stack(
        [classes, rng.uniform(0.3, 0.7, (count, 2)).round(3), rng.uniform(0.2, 0.4, (count, 2)).round(3)]
    )


def yolo_archives(folder: Path) -> list[list[Path]]:
    """An archive of each detector, and one of the references, each with folders of labels."""
    found, true = scenes()
    for place, images in {**{f"predictions/{name}": found[name] for name in found}, "references/all": true}.items():
        for image, rows in images.items():
            path = folder / place / "labels" / f"{image}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(" ".join([str(int(row[0])), *map(repr, row[1:].tolist())]) + "\n" for row in rows))
    return [[packed(folder / "predictions", name) for name in found], [packed(folder / "references", "all")]]


def tables(folder: Path) -> list[list[Path]]:
    """The same as two tables; the columns detector and dataset say what the folders do."""
    found, true = scenes()
    sides: list[list[pd.DataFrame]] = [[], []]
    for detector, side, images in [*((name, 0, found[name]) for name in found), ("", 1, true)]:
        for image, rows in images.items():
            names = ["class", "cx", "cy", "w", "h", "confidence"][: rows.shape[1]]
            frame = pd.DataFrame(rows, columns=names).astype({"class": int})
            more = {"detector": detector} if detector else {}
            sides[side].append(frame.assign(image=image, dataset=image.split("/")[0], **more))
    for name, frames in zip(("found", "true"), sides):
        pd.concat(frames).to_csv(folder / f"{name}.csv", index=False)
    return [[folder / "found.csv"], [folder / "true.csv"]]


def _pixels(row: Table) -> list[float]:
    return [1000 * (row[1] - row[3] / 2), 1000 * (row[2] - row[4] / 2), 1000 * row[3], 1000 * row[4]]


def coco(folder: Path) -> list[list[Path]]:
    """The same as COCO's annotations, and a file of results for each detector."""
    found, true = scenes()
    ids = {image: 7 + i for i, image in enumerate(IMAGES)}
    rows = [(image, row) for image in IMAGES for row in true[image]]
    entries = [
        dict(image_id=ids[image], category_id=int(row[0]), bbox=_pixels(row), id=i)
        for i, (image, row) in enumerate(rows)
    ]
    images = [dict(id=ids[image], file_name=f"{image}.jpg", width=1000, height=1000) for image in IMAGES]
    content = {"images": images, "annotations": entries, "categories": [dict(id=i, name=str(i)) for i in range(5)]}
    (folder / "true.json").write_text(json.dumps(content))
    for name, by_image in found.items():
        listed = [(image, row) for image in IMAGES for row in by_image.get(image, ())]
        results = [
            dict(image_id=ids[image], category_id=int(row[0]), bbox=_pixels(row), score=row[5]) for image, row in listed
        ]
        (folder / f"{name}.json").write_text(json.dumps(results))
    return [[folder / f"{name}.json" for name in found], [folder / "true.json"]]


def expected_of_boxes(load: Load, box_format: str = "cxcywh") -> dict[str, Any]:
    found, true = scenes()

    def boxes(rows: Table) -> Table:
        corners = rows[:, 1:5] if box_format == "cxcywh" else np.asarray([*map(_pixels, rows)]).reshape(-1, 4)
        return np.column_stack([corners, rows[:, 5:], rows[:, :1]])

    references, groups = [boxes(true[image]) for image in IMAGES], [image.split("/")[0] for image in IMAGES]
    none = np.zeros((0, 6))
    return {
        name: load("openset_detection").compute(
            predictions=[boxes(by_image.get(image, none)) for image in IMAGES],
            references=references,
            groups=groups,
            box_format=box_format,
            **CLASSES,
        )
        for name, by_image in found.items()
    }


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
    expected = expected_of_boxes(load, box_format)
    found = show(runner, files, box_format=box_format, **CLASSES)
    assert json.loads(found.json) == expected
    assert [line.split(" |")[0] for line in found.tables[0].splitlines()[2:]] == ["| one", "| two"]
    assert [trace.name for trace in found.figures[2].data if "two" in trace.name] == ["U-Recall, two"]
    seen = look(runner.page, read_sources(runner.page, [None, None], files), {})
    assert seen.options.get("box_format", box_format) == box_format
    assert {name: seen.options[name] for name in CLASSES} == CLASSES
    assert "Images with references and no predictions of two: 1 (train/c)." in seen.html
    monkeypatch.chdir(tmp_path)
    if write is yolo_archives:
        shutil.move(tmp_path / "references" / "all" / "labels", tmp_path / "references" / "labels")
        (tmp_path / "references" / "all").rmdir()
    assert called(found.call, root) == expected


def test_another_detector_in_the_viewer(root: Path, tmp_path: Path) -> None:
    """The same image of the other detector: its boxes, and the same objects."""
    runner = runner_of("openset_detection", root)
    page, files = runner.page, yolo_archives(tmp_path)
    held = [
        shown(option, {**runner.defaults, **CLASSES, "box_format": "cxcywh"}[option.name]) for option in page.options
    ]
    done = runner.run([None, None], files, [[]] * len(page.columns), "automatic", held)
    assert [*done.given["one"].names] == [*done.given["two"].names]
    image = [*done.given["one"].names].index("train/c") + 1
    pictures = {name: runner.picture(done, name, image) for name in DETECTORS}
    drawn = {name: {trace.name.split("  ")[-1] for trace in figure.data} for name, figure in pictures.items()}
    assert drawn["two"] == {"missed object"} != drawn["one"]


def wrong_form(folder: Path) -> Any:
    return [yolo_archives(folder)[0], coco(folder)[1]]


def crowds(folder: Path) -> Any:
    files = coco(folder)
    content = json.loads(files[1][0].read_text())
    content["annotations"][0]["iscrowd"] = 1
    files[1][0].write_text(json.dumps(content))
    return files


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
        (wrong_form, "expected predictions and references in one form, got cxcywh and xywh"),
        (crowds, "true.json: expected objects that count, got 1 crowds"),
        (swapped, "expected COCO's results, got true.json, which holds none"),
        (of_other_images, "expected results of images of the annotations, got 99"),
        (without_a_name, "detector: expected a name for each row, got none in row 4"),
        (of_two_groups, "dataset: expected one value for all rows of an image, got train and test for train/a"),
    ],
)
def test_what_is_wrong_is_said(write: Callable[[Path], Any], message: str, root: Path, tmp_path: Path) -> None:
    with pytest.raises((ValueError, RefusedError)) as raised:
        show(runner_of("openset_detection", root), write(tmp_path), **CLASSES)
    assert message in explain(raised.value)
    assert str(tmp_path) not in explain(raised.value)
