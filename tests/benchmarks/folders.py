"""The numbers of a folder of anomaly maps, beside a plain loop over its categories, each in a process of its own.

python -m tests.benchmarks.folders                  print the table and write it into docs/benchmarks.md
python -m tests.benchmarks.folders WAY FOLDER       one measurement, as JSON: seconds, and the peak of memory
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from tests.benchmarks.growth import memory
from tests.benchmarks.measure import in_a_process, write

CATEGORIES, IMAGES, SIDE, DEFECT = 6, 40, 320, 40  # images of each category, of which half have a defect
ROUNDS = 3
MOST = 1.3  # times the time and the memory of the plain loop
MIB = 1 << 20


def make(folder: Path) -> None:
    """Write maps and masks in the layout of MVTec AD."""
    rng = np.random.default_rng(0)
    for category in range(CATEGORIES):
        for i in range(IMAGES):
            defect = "crack" if i % 2 else "good"
            names = [folder / part / f"c{category}" for part in ("maps", "data")]
            for name in (names[0] / "test", names[1] / "test", names[1] / "ground_truth"):
                (name / defect).mkdir(parents=True, exist_ok=True)
            score_map, mask = rng.random((SIDE, SIDE), dtype=np.float32), np.zeros((SIDE, SIDE), np.uint8)
            if i % 2:
                row, column = rng.integers(0, SIDE - DEFECT, 2).tolist()
                mask[row : row + DEFECT, column : column + DEFECT] = 255
                score_map[mask > 0] += 0.5
                Image.fromarray(mask).save(names[1] / "ground_truth" / defect / f"{i:03d}_mask.png")
            np.save(names[0] / "test" / defect / f"{i:03d}.npy", score_map)
            Image.fromarray(mask).save(names[1] / "test" / defect / f"{i:03d}.png")
        (names[1] / "train" / "good").mkdir(parents=True, exist_ok=True)


def plain(folder: Path) -> float:
    """A loop over the categories, of which one is in memory: what anyone would write."""
    from openworld_metrics import AnomalySuite

    values = []
    for category in sorted((folder / "maps").iterdir()):
        metric = AnomalySuite()
        for path in sorted(category.rglob("*.npy")):
            mask = folder / "data" / category.name / "ground_truth" / path.parent.name / f"{path.stem}_mask.png"
            truth = np.asarray(Image.open(mask)) > 0 if mask.exists() else np.zeros((SIDE, SIDE), bool)
            metric.add_batch(predictions=[np.load(path)], references=[truth])
        values.append(metric.compute()["aupro@0.3"])
    return math.fsum(values) / len(values)


def suite(folder: Path) -> float:
    """`evaluate_anomaly_folder`."""
    from openworld_metrics.suites import evaluate_anomaly_folder

    return float(evaluate_anomaly_folder(folder / "maps", folder / "data")["aupro@0.3"])


def numbers(folder: Path) -> float:
    """The numbers of an answer, which are there before anything is drawn."""
    from openworld_metrics import read
    from openworld_metrics.answers.computing import compute_models
    from openworld_metrics.answers.subject import subject_of

    subject = subject_of("anomaly_suite")
    reading = read("anomaly_suite", folder / "maps", folder / "data")
    options = {**subject.metric.options, **reading.options}
    done = compute_models(subject, reading, options, intervals=False, bounded=False)
    return float(done.models["maps"].summary.results["aupro@0.3"].value)


WAYS: dict[str, Callable[[Path], float]] = {"plain": plain, "suite": suite, "numbers": numbers}


def measure(way: str, folder: str) -> dict[str, float]:
    """Seconds, the peak of the process's memory, and the value, which is the same by all ways."""
    start = time.perf_counter()
    value = WAYS[way](Path(folder))
    return {"seconds": time.perf_counter() - start, "peak": memory("VmHWM"), "value": value}


def main() -> None:
    """Measure each way in processes of their own, and write the table."""
    images = f"{CATEGORIES * IMAGES} maps of {SIDE} × {SIDE} in {CATEGORIES} categories"
    lines = [f"| {images} | time | memory (target of each ≤ {MOST}×) |", "|---|---|---|"]
    with TemporaryDirectory() as folder:
        make(Path(folder))
        runs = {way: [in_a_process("folders", way, folder) for _ in range(ROUNDS)] for way in WAYS}
    first = runs["plain"]
    for way, own in runs.items():
        assert {run["value"] for run in own} == {first[0]["value"]}, way
        seconds, peak = (min(run[name] for run in own) for name in ("seconds", "peak"))
        ratios = [seconds / min(run["seconds"] for run in first), peak / min(run["peak"] for run in first)]
        missed = " **missed**" if max(ratios) > MOST else ""
        named = (WAYS[way].__doc__ or "").partition("\n")[0].rstrip(".").partition(":")[0]
        cells = f"{seconds:.2f} s, {ratios[0]:.2f}× | {peak / MIB:,.0f} MiB, {ratios[1]:.2f}×{missed}"
        lines.append(f"| {named} | {cells} |")
        print(lines[-1], flush=True)
    write("folders", lines)


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else print(json.dumps(measure(sys.argv[1], sys.argv[2])))
