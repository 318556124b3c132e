"""What is done to each app, and what has to come of it: all from arrays of the tests, none from the pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from PIL import Image

from tests import cases, seed_arrays

Columns = dict[str, Any]
T_LIST = (0, 2, 0.4, 0.6, 0.8)


class Steps(NamedTuple):
    """The first example; an option to change, the way of typing it and its value; one that is wrong; files to upload.

    how: "text", "number" (beside a slider), "pick" or "tick"
    upload: writes files of the given columns; returns them for each place for files
    """

    columns: Columns
    options: Mapping[str, Any]
    change: tuple[str, str, str, Any]
    wrong: tuple[str, str, str, Any]
    upload: Callable[[Columns, Path], list[list[Path]]]
    pictures: int = 1


def _f_columns(arrays: tuple[Any, ...]) -> Columns:
    return dict(zip(("predictions", "references", "open_scores", "open_labels"), arrays))


def _openauc() -> Columns:
    known, unknown, predicted, labels = seed_arrays.OPENAUC
    return dict(
        open_set_pred_known=known,
        open_set_pred_unknown=unknown,
        close_set_pred_class=predicted,
        close_set_labels=labels,
    )


BOXES = (
    [
        [
            [10, 12, 50, 55, 0.92, 0],
            [62, 60, 100, 98, 0.81, 999],
            [108, 112, 150, 148, 0.74, 2],
            [20, 100, 55, 135, 0.45, 999],
        ],
        [[12, 20, 60, 80, 0.88, 999], [80, 22, 130, 70, 0.67, 1], [85, 90, 140, 140, 0.59, 0]],
    ],
    [
        [[10, 10, 50, 50, 0], [60, 60, 100, 100, 5], [110, 110, 150, 150, 1]],
        [[10, 20, 60, 80, 1], [80, 20, 130, 70, 1], [85, 90, 140, 140, 7], [10, 100, 50, 140, 2]],
    ],
)
_DIGITS = (
    "112110 123211 135421 124631 112321 111110",
    "111221 211122 122111 112312 111111 121112",
    "131111 311116 111138 111127 211112 171111",
    "111111 112111 141121 111111 122111 111211",
)
_MASKS = (
    "000000 000000 001100 000110 000000 000000",
    "000000 000000 000000 000000 000000 000000",
    "000000 000001 000001 000001 000000 010000",
    "000000 000000 000000 000000 000000 000000",
)


def _maps(digits: tuple[str, ...]) -> np.ndarray:
    return np.asarray([[[int(digit) for digit in row] for row in image.split()] for image in digits])


def frame(columns: Columns) -> pd.DataFrame:
    """Columns as a table; a matrix as numbered ones."""
    table: dict[str, Any] = {}
    for name, values in columns.items():
        array = np.asarray(values)
        parts = {f"{name}_{i}": array[:, i] for i in range(array.shape[1])} if array.ndim == 2 else {name: array}
        table.update(parts)
    return pd.DataFrame(table)


def as_lists(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column.tolist()
    return [as_lists(item) for item in column] if isinstance(column, (list, tuple)) else column


def npz(columns: Columns, folder: Path) -> list[list[Path]]:
    np.savez(folder / "arrays.npz", **columns)
    return [[folder / "arrays.npz"]]


def npy(columns: Columns, folder: Path) -> list[list[Path]]:
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", column)
    return [[folder / f"{name}.npy" for name in columns]]


def csv(columns: Columns, folder: Path) -> list[list[Path]]:
    frame(columns).to_csv(folder / "table.csv", index=False)
    return [[folder / "table.csv"]]


def parquet(columns: Columns, folder: Path) -> list[list[Path]]:
    frame(columns).to_parquet(folder / "table.parquet")
    return [[folder / "table.parquet"]]


def as_json(columns: Columns, folder: Path) -> list[list[Path]]:
    (folder / "data.json").write_text(json.dumps({name: as_lists(column) for name, column in columns.items()}))
    return [[folder / "data.json"]]


def yolo(folder: Path) -> list[list[Path]]:
    """BOXES as YOLO text files, of images that are 200 pixels wide and high; one has no boxes at all."""
    files = []
    sides: list[tuple[str, Any]] = [("predictions", BOXES[0]), ("references", BOXES[1])]
    for name, images in sides:
        (folder / name).mkdir()
        for i, rows in enumerate(images):
            boxes = np.asarray(rows, dtype=float)
            centre, size = (boxes[:, :2] + boxes[:, 2:4]) / 400, (boxes[:, 2:4] - boxes[:, :2]) / 200
            lines = np.column_stack([boxes[:, -1], centre, size, boxes[:, 4:-1]])
            np.savetxt(folder / name / f"image{i}.txt", lines)
        (folder / name / "nothing.txt").write_text("")
        files.append(sorted((folder / name).iterdir()))
    return files


def grey_maps(folder: Path) -> Columns:
    """Three maps and masks, written as PNG images into two folders that are named like the columns."""
    columns: Columns = {"predictions": [], "references": []}
    rng = np.random.default_rng(0)
    for name, high in (("predictions", 65536), ("references", 2)):
        (folder / name).mkdir()
        for i in range(3):
            array = rng.integers(0, high, (5 + i, 7)) * (high > 2 or i != 1)
            columns[name].append(array)
            pixels = array.astype(np.uint16) if high > 2 else (255 * array).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{i}.png")
    return columns


STEPS = {
    "accuracyk": Steps(
        {"references": seed_arrays.TOPK[0], "predictions": seed_arrays.TOPK[1]},
        {"k_list": (1, 3)},
        ("k_list", "text", "1, 2", (1, 2)),
        ("k_list", "text", "99", (99,)),
        npz,
    ),
    "autkc": Steps(
        {"references": seed_arrays.AUTKC[0], "predictions": seed_arrays.AUTKC[1]},
        {"k_list": (1, 3)},
        ("percent", "tick", "", True),
        ("k_list", "text", "two", ("two",)),
        parquet,
    ),
    "macro_open_f": Steps(
        _f_columns(seed_arrays.MICRO_F),
        {},
        ("t_list", "text", "0.5, 0.25", (0.5, 0.25)),
        ("num_classes", "text", "3", 3),
        csv,
        pictures=2,
    ),
    "micro_open_f": Steps(
        _f_columns(seed_arrays.MACRO_F),
        {"t_list": T_LIST},
        ("t_list", "text", "0.5", (0.5,)),
        ("t_list", "text", "half", ("half",)),
        as_json,
        pictures=2,
    ),
    "openauc": Steps(_openauc(), {}, ("tpr", "number", "0.5", 0.5), ("tpr", "number", "0", 0), csv, pictures=2),
    "ood_bench": Steps(
        {"predictions": seed_arrays.AUROC[0], "references": seed_arrays.AUROC[1]},
        {},
        ("metrics", "pick", "detect_acc", ("auroc", "fpr95tpr", "detect_acc")),
        ("step", "text", "0", 0),
        npy,
        pictures=3,
    ),
    "openset_detection": Steps(
        {"predictions": BOXES[0], "references": BOXES[1]},
        {"known_classes": (0, 1, 2), "unknown_class_id": 999},
        ("count_background", "tick", "", True),
        ("known_classes", "text", "0, 999", (0, 999)),
        as_json,
        pictures=4,
    ),
    "anomaly_suite": Steps(
        {"predictions": _maps(_DIGITS) / 10, "references": _maps(_MASKS)},
        {},
        ("integration_limits", "text", "0.5", (0.5,)),
        ("integration_limits", "text", "2", (2,)),
        npz,
        pictures=3,
    ),
}


def numbers(text: str) -> Any:
    """The JSON of a page without the signatures of its results."""
    results = json.loads(text)
    of_each = [results, *(value for value in results.values() if isinstance(value, dict))]
    for one in of_each:
        one.pop("signature", None)
    return results


def drawn(name: str) -> Columns:
    """Random columns that suit the options on the page when a file takes the place of the example."""
    rng = np.random.default_rng([7, *name.encode()])
    if name in ("accuracyk", "autkc"):
        return {"predictions": cases.scores(rng, 30, 6), "references": rng.integers(0, 6, 30)}
    columns: Columns = cases.draw(name, 3)[0]
    # the page has no columns for what a metric takes beside maps and masks
    return {key: value for key, value in columns.items() if key not in ("image_scores", "image_labels", "samples")}
