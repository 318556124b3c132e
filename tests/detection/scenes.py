"""Random data sets with predictions, and the same written in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from PIL import Image

from demo.writers import write_coco, write_coco_results, write_yolo, write_yolo_predictions
from openworld_metrics.reading import Dataset, Detections

NAMES = {0: "cat", 1: "dog", 2: "cow", 3: "fox", 4: "owl"}
KNOWN = [0, 1, 2]
UNKNOWN_ID = 999
SIZES = [(64, 128), (128, 64), (256, 256)]  # powers of two: shares of them are exact
Arrays = dict[str, np.ndarray]


def scene(seed: int, images: int = 7, *, ignored: float = 0.0) -> Detections:
    """Integer boxes in the image, so that every format holds them; predictions are shifted objects and a few others."""
    rng = np.random.default_rng(seed)
    sizes = [SIZES[i] for i in rng.integers(0, len(SIZES), images)]
    references, predictions = [], []
    for number, (width, height) in enumerate(sizes):
        count = int(rng.integers(0, 6)) if number else 0  # the first image has no object
        corner = rng.integers(0, [width // 2, height // 2], (count, 2))
        boxes = np.concatenate([corner, corner + rng.integers(4, [width // 2, height // 2], (count, 2))], axis=1) * 1.0
        labels = rng.integers(0, len(NAMES), count)
        true = {"boxes": boxes, "labels": labels, "ignored": (rng.random(count) < ignored).astype(np.int64)}
        kept = rng.random(count) < 0.8
        shifted = boxes[kept] + rng.integers(-2, 3, (int(kept.sum()), 1))
        shifted = shifted.clip(0, [width, height, width, height])
        right = np.where(np.isin(labels, KNOWN), labels, UNKNOWN_ID)[kept]
        said = np.where(rng.random(len(shifted)) < 0.6, right, rng.choice([0, 1, 2, UNKNOWN_ID], len(shifted)))
        other = np.asarray([[1.0, 1, 9, 9]] if rng.random() < 0.7 else np.zeros((0, 4)))
        found = {
            "boxes": np.concatenate([shifted, other]),
            "scores": rng.permutation(64)[: len(shifted) + len(other)] / 64,
            "labels": np.concatenate([said, rng.choice([1, UNKNOWN_ID], len(other))]).astype(np.int64),
        }
        references.append(true)
        predictions.append(found)
    names = [f"{number:04}" for number in range(images)]
    dataset = Dataset(names, references, NAMES, [None] * images, [*sizes], list(range(images)))
    return Detections(dataset, predictions)


def write_images(detections: Detections, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, size in zip(detections.dataset.names, detections.dataset.sizes):
        assert size is not None
        Image.new("RGB", size, "#335577").save(folder / f"{name}.png")


def write_as_yolo(detections: Detections, folder: Path) -> dict[str, Any]:
    """Labels of images without an object are left out, as are files of images without predictions."""
    write_images(detections, folder / "images" / "val")
    write_yolo(detections.dataset, folder / "labels" / "val")
    write_yolo_predictions(detections, folder / "predictions")
    for path in folder.rglob("*.txt"):
        if not path.read_text():
            path.unlink()
    content = {"val": "images/val", "names": dict(NAMES)}
    (folder / "data.yaml").write_text(yaml.safe_dump(content))
    return {"predictions": folder / "predictions", "references": folder / "data.yaml"}


def write_as_yolo_folders(detections: Detections, folder: Path) -> dict[str, Any]:
    places = write_as_yolo(detections, folder)
    return {**places, "references": folder / "labels" / "val", "classes": NAMES}


def write_as_coco(detections: Detections, folder: Path) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    write_coco(detections.dataset, folder / "instances.json")
    write_coco_results(detections, folder / "results.json")
    return {"predictions": folder / "results.json", "references": folder / "instances.json"}


def write_as_voc(detections: Detections, folder: Path) -> dict[str, Any]:
    """Annotations as XML; predictions, for which VOC has no such format, as dicts."""
    write_images(detections, folder / "JPEGImages")
    (folder / "Annotations").mkdir()
    for name, size, boxes in zip(detections.dataset.names, detections.dataset.sizes, detections.dataset.references):
        assert size is not None
        (folder / "Annotations" / f"{name}.xml").write_text(voc(boxes, size))
    written = write_as_dicts(detections, folder)
    return {**written, "references": folder / "Annotations", "classes": NAMES}


def voc(boxes: Arrays, size: tuple[int, int]) -> str:
    objects = [
        f"<object><name>{NAMES[label]}</name><difficult>{ignored}</difficult><bndbox><xmin>{x1 + 1}</xmin>"
        f"<ymin>{y1 + 1}</ymin><xmax>{x2}</xmax><ymax>{y2}</ymax></bndbox></object>"
        for (x1, y1, x2, y2), label, ignored in zip(*(boxes[key].tolist() for key in ("boxes", "labels", "ignored")))
    ]
    shape = f"<size><width>{size[0]}</width><height>{size[1]}</height><depth>3</depth></size>"
    return "\n".join(["<annotation>", shape, *objects, "</annotation>"])


def write_as_dicts(detections: Detections, folder: Path) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    sides = {"predictions": detections.predictions, "references": detections.dataset.references}
    for side, images in sides.items():
        lists = [{key: column.tolist() for key, column in boxes.items()} for boxes in images]
        (folder / f"{side}.json").write_text(json.dumps(lists))
    return {side: folder / f"{side}.json" for side in sides}


WRITERS: dict[str, Callable[[Detections, Path], dict[str, Any]]] = {
    "YOLO data.yaml": write_as_yolo,
    "YOLO folders": write_as_yolo_folders,
    "COCO": write_as_coco,
    "VOC": write_as_voc,
    "dicts": write_as_dicts,
}


def assert_same_boxes(read: list[Arrays], expected: list[Arrays], keys: tuple[str, ...], atol: float = 0.0) -> None:
    """Whether the images hold the same boxes, each in the same order."""
    assert len(read) == len(expected)
    for ours, theirs in zip(read, expected):
        for key in keys:
            np.testing.assert_allclose(ours[key], theirs[key], rtol=0, atol=atol)
            assert ours[key].dtype == (np.float64 if key in ("boxes", "scores") else np.int64)
