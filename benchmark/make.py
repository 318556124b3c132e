"""Write the images of the benchmark and the scores of three simple detectors, for `make benchmark-data`.

python -m benchmark.make [FOLDER]    by default this folder

data/train.parquet          digits 0 to 5 for training: sample, pixels (64 grey values 0 to 16), digit
data/known.parquet          other digits 0 to 5: sample, pixels
data/near.parquet           digits 6 to 9
data/far.parquet            generated textures
submissions/NAME.csv        a detector's scores of known, near and far: sample, score; higher is more unknown

Scores are computed from whole numbers and rounded once, so all machines write identical files.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import load_digits

NUM_KNOWN, NUM_TEXTURES, SIDE, WHITE = 6, 400, 8, 16


def main(folder: Path) -> None:
    """Write all files."""
    tables = images()
    for name, table in tables.items():
        pq.write_table(table, folder / "data" / f"{name}.parquet")
    training = tables.pop("train")
    tested = pa.concat_tables(tables.values())
    names = tested["sample"].to_pylist()
    for detector, score in DETECTORS.items():
        scores = score(pixels(training), training["digit"].to_numpy(), pixels(tested))
        lines = ["sample,score", *(f"{name},{value!r}" for name, value in zip(names, scores.tolist()))]
        (folder / "submissions" / f"{detector}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def images() -> dict[str, pa.Table]:
    """The tables train, known, near and far; train is the first half of scikit-learn's digits 0 to 5."""
    data = load_digits()
    learned, other = np.flatnonzero(data.target < NUM_KNOWN), np.flatnonzero(data.target >= NUM_KNOWN)
    train, known = np.array_split(learned, 2)
    digits = data.data.astype(np.uint8)
    tables = {name: _table("digit", rows, digits[rows]) for name, rows in {"known": known, "near": other}.items()}
    textured = np.asarray([*textures(NUM_TEXTURES)], dtype=np.uint8)
    tables["far"] = _table("texture", np.arange(NUM_TEXTURES), textured)
    labels = pa.array(data.target[train].astype(np.uint8))
    return {"train": _table("digit", train, digits[train]).append_column("digit", labels), **tables}


def _table(kind: str, numbers: np.ndarray, rows: np.ndarray) -> pa.Table:
    return pa.table(
        {
            "sample": [f"{kind}-{number:04}" for number in numbers],
            "pixels": pa.array(rows.tolist(), pa.list_(pa.uint8(), SIDE**2)),
        }
    )


def textures(number: int) -> Iterator[list[int]]:
    """Stripes, checks, slopes and speckles in turn, 64 grey values each; identical on all machines."""
    rng = random.Random(0)
    for i in range(number):
        dark, light = _up_to(rng, WHITE // 2), WHITE // 2 + _up_to(rng, WHITE // 2)
        down, right, shift, width = (_up_to(rng, 3), _up_to(rng, 3) + 1, _up_to(rng, 7), _up_to(rng, 2) + 1)
        kind = (_stripes, _checks, _slope, _speckle)[i % 4]
        places = [(row, column, down * row + right * column + shift) for row, column in np.ndindex(SIDE, SIDE)]
        values = [kind(rng, row, column, along, width) for row, column, along in places]
        yield [dark + (light - dark) * value // WHITE for value in values]


def _stripes(rng: random.Random, row: int, column: int, along: int, width: int) -> int:
    return WHITE * (along // (2 * width) % 2)


def _checks(rng: random.Random, row: int, column: int, along: int, width: int) -> int:
    return WHITE * ((row // width + column // width) % 2)


def _slope(rng: random.Random, row: int, column: int, along: int, width: int) -> int:
    return min(WHITE, along // width)


def _speckle(rng: random.Random, row: int, column: int, along: int, width: int) -> int:
    return _up_to(rng, WHITE)


def _up_to(rng: random.Random, most: int) -> int:
    """One of 0, 1 … most, by `random.random`, which Python guarantees to be reproducible."""
    return int(rng.random() * (most + 1))


def pixels(table: pa.Table) -> np.ndarray:
    """The images of a table, (N, 64) int64."""
    return np.asarray(table["pixels"].to_pylist(), dtype=np.int64)


def nearest(training: np.ndarray, digits: np.ndarray, tested: np.ndarray) -> np.ndarray:
    """Squared distance to the nearest training image, (N,)."""
    return np.asarray([((training - image) ** 2).sum(axis=1).min() for image in tested])


def template(training: np.ndarray, digits: np.ndarray, tested: np.ndarray) -> np.ndarray:
    """Squared distance to the mean image of the nearest class, (N,): Σ (n·pixel − Σ pixels of n images)² / n²."""
    distances = []
    for digit in range(NUM_KNOWN):
        images = training[digits == digit]
        distances.append(((len(images) * tested - images.sum(axis=0)) ** 2).sum(axis=1) / len(images) ** 2)
    return np.min(distances, axis=0)


def flatness(training: np.ndarray, digits: np.ndarray, tested: np.ndarray) -> np.ndarray:
    """Negative sum of the absolute differences of neighbouring pixels, (N,); it learns nothing."""
    square = tested.reshape(-1, SIDE, SIDE)
    rows, columns = (abs(np.diff(square, axis=axis)).sum(axis=(1, 2)) for axis in (1, 2))
    return -rows - columns


Detector = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
DETECTORS: dict[str, Detector] = {"nearest": nearest, "template": template, "flatness": flatness}

if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
