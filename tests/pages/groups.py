"""Files whose columns or folders say groups and detectors, and the metric's columns that they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.pages.data.test_pairing import MAPS, MASKS, packed, save

Table = np.ndarray
Columns = dict[str, Any]
DETECTORS = ("one", "two")
IMAGES = ("train/a", "train/c", "val/a", "val/b")
CLASSES: dict[str, Any] = {"known_classes": (0, 1, 2), "unknown_class_id": 999}


def ranks_of_groups(folder: Path) -> tuple[list[list[Path]], dict[str, Columns]]:
    """Scores of five classes in a table, some rows of which are in no group."""
    rng = np.random.default_rng(0)
    scores, classes = rng.normal(size=(40, 5)), rng.integers(0, 5, 40)
    groups = ["near/x"] * 10 + [None] * 5 + ["near/y"] * 15 + ["far"] * 10
    columns = {f"class {i}": scores[:, i] for i in range(5)}
    table = pd.DataFrame({**columns, "references": classes, "data set / group": groups})
    table.to_parquet(folder / "mine.parquet")
    return [[folder / "mine.parquet"]], {"": {"predictions": scores, "references": classes, "groups": groups}}


def categories(folder: Path) -> tuple[list[list[Path]], list[int], list[str]]:
    """As MVTec lies on disk: two categories, masks of the defects alone; the order of the maps, and their groups."""
    names = ["nut/test/good/0", "nut/test/cut/0", "bottle/test/good/0", "bottle/test/bent/0"]
    for name, score_map, mask in zip(names, MAPS, MASKS):
        save(folder / "predictions" / f"{name}.png", score_map)
        if mask.any():
            save(folder / "references" / f"{name.replace('test', 'ground_truth')}_mask.png", mask)
    order = sorted(range(4), key=names.__getitem__)
    return [[packed(folder, side)] for side in ("predictions", "references")], order, ["bottle", "bottle", "nut", "nut"]


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


def columns_of_boxes(box_format: str = "cxcywh") -> dict[str, Columns]:
    """The columns and options of each detector."""
    found, true = scenes()

    def boxes(rows: Table) -> Table:
        corners = rows[:, 1:5] if box_format == "cxcywh" else np.asarray([*map(_pixels, rows)]).reshape(-1, 4)
        return np.column_stack([corners, rows[:, 5:], rows[:, :1]])

    none = np.zeros((0, 6))
    same = dict(references=[boxes(true[image]) for image in IMAGES], groups=[image.split("/")[0] for image in IMAGES])
    return {
        name: dict(
            predictions=[boxes(by_image.get(image, none)) for image in IMAGES], box_format=box_format, **same, **CLASSES
        )
        for name, by_image in found.items()
    }


def maps_of_categories(folder: Path) -> tuple[list[list[Path]], dict[str, Columns]]:
    """`categories`, and the metric's columns."""
    files, order, groups = categories(folder)
    return files, {"": {"predictions": MAPS[order], "references": MASKS[order], "groups": groups}}


def boxes_of_two_detectors(folder: Path) -> tuple[list[list[Path]], dict[str, Columns]]:
    """`yolo_archives`, and the metric's columns of each detector."""
    return yolo_archives(folder), columns_of_boxes()
