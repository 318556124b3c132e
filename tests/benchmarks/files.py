"""Reading detection data, apart from computing on it: COCO's JSON and YOLO's folders, 5,000 images of 100 × 8 boxes.

python -m tests.benchmarks.files    prints the table, and writes it into the README
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from openworld_metrics import formats
from openworld_metrics.formats import Dataset, Detections
from tests.benchmarks.measure import best_times
from tests.benchmarks.table import write

IMAGES, FOUND, TRUE, CLASSES = 5_000, 100, 8, 80
WIDTH, HEIGHT = 640, 480
HEADER = ["| work | ours | of it, the parser alone |", "|---|---|---|"]


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


def main() -> None:
    """Write the files to a temporary folder, read them, and write the table."""
    with tempfile.TemporaryDirectory() as name:
        folder, data = Path(name), made()
        formats.write_coco(data.dataset, folder / "instances.json")
        formats.write_coco_results(data, folder / "results.json")
        formats.write_yolo(data.dataset, folder / "labels")
        formats.write_yolo_predictions(data, folder / "found")
        (folder / "images").mkdir()
        Image.new("RGB", (WIDTH, HEIGHT)).save(picture := folder / "images" / "000000.jpg")
        for other in data.dataset.names[1:]:
            (folder / "images" / f"{other}.jpg").write_bytes(picture.read_bytes())
        works: dict[str, tuple[Callable[[], object], Callable[[], object] | None]] = {
            f"COCO annotations, {IMAGES:,} × {TRUE} boxes": (
                lambda: formats.read_coco(folder / "instances.json"),
                lambda: json.loads((folder / "instances.json").read_text()),
            ),
            f"COCO results, {IMAGES:,} × {FOUND} boxes": (
                lambda: formats.read_coco_results(folder / "results.json", data.dataset),
                lambda: json.loads((folder / "results.json").read_text()),
            ),
            f"YOLO labels, {IMAGES:,} × {TRUE} boxes, and sizes of the images": (
                lambda: formats.read_yolo(folder / "labels"),
                None,
            ),
            f"YOLO predictions, {IMAGES:,} × {FOUND} boxes": (
                lambda: formats.read_yolo_predictions(folder / "found", data.dataset),
                None,
            ),
        }
        lines = list(HEADER)
        for work, (ours, parser) in works.items():
            times, _ = best_times({"ours": ours, **({} if parser is None else {"parser": parser})})
            alone = f"{times['parser']:.2f} s" if parser else ""
            lines.append(f"| {work} | {times['ours']:.2f} s | {alone} |")
            print(lines[-1], flush=True)
    write("files", lines)


if __name__ == "__main__":
    main()
