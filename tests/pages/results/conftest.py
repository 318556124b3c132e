from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def three(tmp_path: Path) -> tuple[Path, dict[str, np.ndarray]]:
    """A .csv of three detectors, with the data set of each sample."""
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [60, 90])
    columns: dict[str, Any] = {name: rng.normal(k * labels).round(3) for k, name in enumerate(("msp", "energy", "knn"))}
    columns |= {"label": labels, "dataset": np.repeat(["cifar10", "near/a", "near/b", "far/c"], [60, 30, 30, 30])}
    path = tmp_path / "scores.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([columns, *zip(*columns.values())])
    return path, columns
