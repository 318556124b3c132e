"""Write boxes as YOLO labels or COCO's JSON with all digits; a call writes all its files or none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from openworld_metrics.reading.boxes.dataset import Boxes, Dataset, Detections, labels_of
from openworld_metrics.reading.boxes.yolo import size_of
from openworld_metrics.written.files import write_file, write_files


def write_yolo(dataset: Dataset, folder: str | Path) -> None:
    """Write the true boxes as YOLO labels: a text file for each image, with lines of class, cx, cy, w, h.

    Coordinates have all digits of a float64, while Ultralytics keeps six. Ignored objects are written too, since the
    format has no mark for them. Raises ValueError for an image without a size.
    """
    write_files(_texts(dataset, dataset.references, Path(folder)))


def write_yolo_predictions(detections: Detections, folder: str | Path) -> None:
    """Write predictions as YOLO text files with lines of class, cx, cy, w, h, confidence; see `write_yolo`."""
    write_files(_texts(detections.dataset, detections.predictions, Path(folder)))


def write_coco(dataset: Dataset, path: str | Path) -> None:
    """Write a data set's true boxes as COCO annotations, with ignored objects as crowds.

    The categories are all its classes and labels.
    """
    images = [
        {"id": key, "file_name": name if path is None else f"{name}{path.suffix}", **_size(dataset, i)}
        for i, (key, name, path) in enumerate(zip(dataset.ids, dataset.names, dataset.paths))
    ]
    labels = labels_of(dataset.references)
    names = {**{label: str(label) for label in sorted(labels)}, **dataset.classes}
    annotations = [
        {"image_id": key, "category_id": label, "bbox": box, "area": box[2] * box[3], "iscrowd": ignored}
        for key, boxes in zip(dataset.ids, dataset.references)
        for box, label, ignored in zip(_corner_and_size(boxes), boxes["labels"].tolist(), boxes["ignored"].tolist())
    ]
    for number, annotation in enumerate(annotations, 1):  # pycocotools takes an id of 0 for no match
        annotation["id"] = number
    categories = [{"id": i, "name": name} for i, name in sorted(names.items())]
    write_file(path, json.dumps({"images": images, "annotations": annotations, "categories": categories}))


def write_coco_results(detections: Detections, path: str | Path) -> None:
    """Write predictions as COCO results: image_id, of the data set, category_id, bbox and score."""
    results = [
        {"image_id": key, "category_id": label, "bbox": box, "score": score}
        for key, boxes in zip(detections.dataset.ids, detections.predictions)
        for box, label, score in zip(_corner_and_size(boxes), boxes["labels"].tolist(), boxes["scores"].tolist())
    ]
    write_file(path, json.dumps(results))


def _corner_and_size(boxes: Boxes) -> list[list[float]]:
    corners = boxes["boxes"]
    return np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1).tolist()


def _size(dataset: Dataset, place: int) -> dict[str, int]:
    size = dataset.sizes[place]
    return {} if size is None else {"width": size[0], "height": size[1]}


def _texts(dataset: Dataset, images: Sequence[Boxes], folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the text file of each image, after its folders are created, and the lines of its boxes."""
    for place, boxes in enumerate(images):
        path = folder / f"{dataset.names[place]}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        corners, size = boxes["boxes"], np.asarray(size_of(dataset, place))
        centres = (corners[:, :2] + corners[:, 2:]) / 2 / size
        extents = (corners[:, 2:] - corners[:, :2]) / size
        scores = boxes["scores"][:, None] if "scores" in boxes else np.zeros((len(corners), 0))
        rows = np.concatenate([centres, extents, scores], axis=1).tolist()
        lines = [" ".join(map(repr, [label, *row])) for label, row in zip(boxes["labels"].tolist(), rows)]
        yield path, "".join(f"{line}\n" for line in lines)
