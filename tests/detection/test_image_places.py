"""The order of images is that of the bytes of their sorted boxes."""

from __future__ import annotations

import numpy as np
import pytest

from openworld_metrics.detection.boxes import DetectionState, places_of_images


def content(rows: np.ndarray) -> bytes:
    """Rows in the order of their columns, of which the last counts first."""
    rows = rows + 0.0
    return b"".join(row.tobytes() for row in sorted(rows, key=lambda row: row[::-1].tolist()))


def state_of(rng: np.random.Generator, images: int, values: int) -> DetectionState:
    numbers = [rng.integers(0, 4, images) for _ in range(2)]
    tables = [(rng.integers(-1, values, (n.sum(), width)) / 2) * 1.0 for n, width in zip(numbers, (6, 5))]
    tables = [np.where(rng.random(table.shape) < 0.1, -0.0, table) for table in tables]
    rests = [rng.integers(0, 2, (n.sum(), 4)) * 2.0**-60 for n in numbers]
    return {
        "num_predictions": numbers[0],
        "num_references": numbers[1],
        "predictions": tables[0],
        "references": tables[1],
        "ignored": rng.random(len(tables[1])) < 0.3,
        "prediction_remainders": rests[0],
        "reference_remainders": rests[1],
    }


@pytest.mark.parametrize("values", [1, 2, 5, 1000])
@pytest.mark.parametrize("images", [1, 2, 20])
def test_places(images: int, values: int) -> None:
    for seed in range(20):
        state = state_of(np.random.default_rng(seed), images, values)
        tables = (
            np.column_stack([state["predictions"], state["prediction_remainders"]]),
            np.column_stack([state["references"], state["ignored"], state["reference_remainders"]]),
        )
        numbers = state["num_predictions"], state["num_references"]
        parts = [np.split(table, np.cumsum(n))[:-1] for table, n in zip(tables, numbers)]
        contents = [(content(found), content(true)) for found, true in zip(*parts)]
        order = sorted(set(contents))
        assert places_of_images(state).tolist() == [order.index(each) for each in contents]
