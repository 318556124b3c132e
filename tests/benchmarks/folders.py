"""Anomaly maps from a folder, beside reading the same files and computing from the arrays: 1,000 of 256 × 256.

python -m tests.benchmarks.folders [IMAGES]    prints the table
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image

from openworld_metrics import AnomalySuite
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.benchmarks.measure import best_times

IMAGES, SIDE = 1_000, 256
HEADER = ["| work | ours | reading the files | computing from arrays | ours / both |", "|---|---|---|---|---|"]


def write_files(folder: Path, images: int) -> tuple[np.ndarray, np.ndarray]:
    """Random maps as .tiff and, for every second image, a mask as .png with one defect; returned as arrays, too."""
    rng = np.random.default_rng(0)
    maps = rng.random((images, SIDE, SIDE), dtype=np.float32)
    masks = np.zeros(maps.shape, dtype=bool)
    for i, (row, column) in enumerate(rng.integers(0, SIDE - 40, (images, 2)).tolist()):
        if i % 2:
            masks[i, row : row + 30, column : column + 40] = True
    maps += np.float32(0.3) * masks
    for name in ("maps", "masks"):
        (folder / name).mkdir()
    for i, (score_map, mask) in enumerate(zip(maps, masks)):
        tifffile.imwrite(folder / "maps" / f"{i:04}.tiff", score_map)
        if mask.any():
            Image.fromarray(mask).convert("L").save(folder / "masks" / f"{i:04}.png")
    return maps, masks


def main(images: int = IMAGES) -> None:
    """Write the files to a temporary folder, and measure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        maps, masks = write_files(folder, images)

        def read() -> None:
            for path in sorted((folder / "maps").iterdir()):
                tifffile.imread(path)
            for path in sorted((folder / "masks").iterdir()):
                with Image.open(path) as image:
                    np.asarray(image)

        times, _ = best_times(
            {
                "ours": lambda: evaluate_anomaly_folder(folder / "maps", folder / "masks"),
                "read": read,
                "compute": lambda: AnomalySuite().compute(predictions=maps, references=masks),
            }
        )
        ours, reading, computing = (times[name] for name in ("ours", "read", "compute"))
        ratio = ours / (reading + computing)
        cells = f"{ours:.2f} s | {reading:.2f} s | {computing:.2f} s | {ratio:.2f}"
        print(*HEADER, f"| anomaly maps, {images:,} .tiff of {SIDE} × {SIDE} | {cells} |", sep="\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
