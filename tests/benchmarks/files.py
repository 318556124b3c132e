"""Reading detection data, apart from computing on it: COCO's JSON and YOLO's folders, 5,000 images of 100 × 8 boxes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
from PIL import Image
from pycocotools.coco import COCO

from demo import writers
from openworld_metrics import reading
from openworld_metrics.reading import Dataset, Detections
from tests.benchmarks.measure import Call, Peer, Work

IMAGES, FOUND, TRUE, CLASSES = 5_000, 100, 8, 80
WIDTH, HEIGHT = 640, 480


def made() -> Detections:
    """Random boxes, with as many digits as a detector's."""
    rng = np.random.default_rng(0)

    def boxes(count: int) -> np.ndarray:
        corners = rng.random((count, 2, 2), dtype=np.float32) * [WIDTH, HEIGHT]
        return np.sort(corners, axis=1).reshape(count, 4)

    names = [f"{i:06}" for i in range(IMAGES)]
    true = [
        {"boxes": boxes(TRUE), "labels": rng.integers(0, CLASSES, TRUE), "ignored": np.zeros(TRUE, dtype=np.int64)}
        for _ in names
    ]
    found = [
        {"boxes": boxes(FOUND), "scores": rng.random(FOUND), "labels": rng.integers(0, CLASSES, FOUND)} for _ in names
    ]
    classes = {i: f"class {i}" for i in range(CLASSES)}
    sizes = [(WIDTH, HEIGHT)] * IMAGES
    return Detections(Dataset(names, true, classes, [None] * IMAGES, [*sizes], list(range(IMAGES))), found)


def by_pycocotools(annotations: Path, results: Path | None = None) -> COCO:
    """What pycocotools reads before it evaluates: annotations, or annotations and results."""
    with redirect_stdout(StringIO()):
        truth = COCO(str(annotations))
        return truth if results is None else truth.loadRes(str(results))


def as_ultralytics(folder: Path) -> list[np.ndarray]:
    """The lines of label files as Ultralytics reads them (verify_image_label), without its checks."""
    lines = [[line.split() for line in path.read_text().strip().splitlines()] for path in sorted(folder.glob("*.txt"))]
    return [np.array(rows, dtype=np.float32) for rows in lines]


def works() -> Iterator[Callable[[], Work]]:
    """Files in a temporary folder, and what reads them."""
    with tempfile.TemporaryDirectory() as name:
        folder, data = Path(name), made()
        writers.write_coco(data.dataset, folder / "instances.json")
        writers.write_coco_results(data, folder / "results.json")
        writers.write_yolo(data.dataset, folder / "labels")
        writers.write_yolo_predictions(data, folder / "found")
        (folder / "images").mkdir()
        Image.new("RGB", (WIDTH, HEIGHT)).save(picture := folder / "images" / "000000.jpg")
        for other in data.dataset.names[1:]:
            (folder / "images" / f"{other}.jpg").write_bytes(picture.read_bytes())
        instances, results = folder / "instances.json", folder / "results.json"
        table: dict[str, tuple[Call, str, Call]] = {
            f"COCO annotations, {IMAGES:,} × {TRUE} boxes": (
                lambda: reading.read_references(instances),
                "pycocotools COCO",
                lambda: by_pycocotools(instances),
            ),
            f"COCO annotations and results, {IMAGES:,} × {FOUND} boxes": (
                lambda: reading.read_detections(results, instances),
                "pycocotools COCO and loadRes",
                lambda: by_pycocotools(instances, results),
            ),
            f"YOLO labels, {IMAGES:,} × {TRUE} boxes, and sizes of the images": (
                lambda: reading.read_references(folder / "labels"),
                "lines as Ultralytics reads them, no sizes",
                lambda: as_ultralytics(folder / "labels"),
            ),
            f"YOLO labels and predictions, {IMAGES:,} × {FOUND} boxes": (
                lambda: reading.read_detections(folder / "found", folder / "labels"),
                "lines as Ultralytics reads them, no sizes",
                lambda: (as_ultralytics(folder / "labels"), as_ultralytics(folder / "found")),
            ),
        }
        for work, (ours, peer, theirs) in table.items():
            yield lambda: Work(work, ours, None, {peer: Peer(theirs)})  # noqa: B023 (called at once)
