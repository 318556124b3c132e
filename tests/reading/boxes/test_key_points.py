"""Lines of YOLO with key points are their boxes, or are refused; they never pass for polygons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from openworld_metrics import reading
from openworld_metrics.reading.boxes.yolo_lines import read_texts

POSE_2 = "0 .5 .5 .2 .2 .45 .45 .55 .45 .5 .5 .45 .55 .55 .55"
POSE_3 = "0 .5 .5 .2 .2 .45 .45 2 .55 .45 1 0 0 0"
BOTH = r"expected a box or a polygon, got lines of {} numbers, which may be polygons as well as boxes with key points"


class Text:
    """A text file in memory."""

    def __init__(self, *rows: str) -> None:
        self.text, self.name = "\n".join(rows), ""

    def __str__(self) -> str:
        return self.name

    def read_bytes(self) -> bytes:
        return self.text.encode()


def tables(*texts: Text, confidence: bool = False, key_points: int | None = None) -> list[np.ndarray]:
    for i, text in enumerate(texts):
        text.name = f"{i}.txt"
    return read_texts(texts, confidence=confidence, key_points=key_points)[0]


def pose(rng: np.random.Generator, points: int, values: int) -> tuple[list[float], list[float]]:
    """A box in the image, and key points that are mostly in it; some are not labelled."""
    size = rng.uniform(0.02, 0.9, 2)
    centre = size / 2 + rng.random(2) * (1 - size)
    x, y = (centre[:, None] + (rng.random((2, points)) - 0.5) * size[:, None] * 1.1).clip(0, 1)
    seen = rng.integers(0, 3, points)
    columns = np.where(seen > 0, [x, y, seen], 0).T[:, :values]
    return [float(rng.integers(3)), *centre, *size], columns.ravel().tolist()


def written(row: list[float]) -> str:
    return " ".join(f"{number:.6g}" for number in row)


@pytest.mark.parametrize("values", [2, 3])
def test_random_key_points(values: int) -> None:
    refused = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        points, end = int(rng.integers(1, 18)), [0.5] * int(rng.integers(2))
        rows = [pose(rng, points, values) for _ in range(rng.integers(1, 9))]
        more = [[f"{score:.2f}" for score in rng.random(points)] if end and values == 3 else None for _ in rows]
        for (_, numbers), scores in zip(rows, more):
            if scores is not None:
                numbers[2::3] = [float(score) for score in scores]
        expected = np.asarray([[float(f"{x:.6g}") for x in box + end] for box, _ in rows])
        texts = [Text(written(box + numbers + end)) for box, numbers in rows]
        known = np.concatenate(tables(*texts, confidence=bool(end), key_points=points * values))
        np.testing.assert_array_equal(known, expected)
        try:
            read = tables(*texts, confidence=bool(end))
        except ValueError as error:
            refused += "key points" in str(error)
            continue
        np.testing.assert_array_equal(np.concatenate(read), expected)
    assert refused == 200 if values == 2 else refused < 150


@pytest.mark.parametrize("seed", range(3))
def test_random_polygons(seed: int) -> None:
    """Polygons of different lengths, rectangles, and some anywhere in the image are told from key points."""
    rng = np.random.default_rng(seed)
    for rows in (
        [rng.random(2 * corners) for corners in rng.permutation([3, 5, 7, 8])],
        [
            (rng.random(2)[None] + np.outer([0, 1, 1, 0], a) + np.outer([0, 0, 1, 1], b)).ravel() / 4
            for a, b in rng.random((5, 2, 2))
        ],
        [rng.random(8) for _ in range(40)],
    ):
        corners = [np.asarray(row).reshape(-1, 2) for row in rows]
        bounds = [[*(c.min(0) + c.max(0)) / 2, *(c.max(0) - c.min(0))] for c in corners]
        for end in ([], [0.5]):
            texts = [Text(" ".join(map(repr, [1, *c.ravel().tolist(), *end]))) for c in corners]
            read = np.concatenate(tables(*texts, confidence=bool(end)))
            np.testing.assert_allclose(read[:, 1:5], bounds, atol=1e-12)


def test_lines_that_may_be_both() -> None:
    with pytest.raises(
        ValueError, match=rf"^0.txt:2: {BOTH.format(15)}; for key points, use a data.yaml with their kpt_"
    ):
        tables(Text("1 .5 .5 .2 .2", POSE_2))
    with pytest.raises(ValueError, match=rf"^1.txt:1: {BOTH.format(16)}; .* write boxes: class cx cy w h confidence$"):
        tables(Text("1 .5 .5 .2 .2 .9"), Text(f"{POSE_2} .9"), confidence=True)
    small = "0 .45 .45 .55 .45 .55 .56 .45 .55"  # four corners, not of a rectangle, or a box with two key points
    with pytest.raises(ValueError, match=BOTH.format(9)):
        tables(Text(small))


def test_key_points_by_their_visibility() -> None:
    assert tables(Text(POSE_3, "1 .5 .5 .2 .2"))[0].tolist() == [[0, 0.5, 0.5, 0.2, 0.2], [1, 0.5, 0.5, 0.2, 0.2]]
    even = f"{POSE_3} .5 .5 2"
    assert tables(Text(even))[0].tolist() == [[0, 0.5, 0.5, 0.2, 0.2]]
    predicted = even.replace(" 2", " .9").replace(" 0 0 0", " .4 .4 .1").removesuffix(" .5 .5 .9")
    assert tables(Text(f"{predicted} .8"), confidence=True)[0].tolist() == [[0, 0.5, 0.5, 0.2, 0.2, 0.8]]
    with pytest.raises(ValueError, match=r"0.txt:1: expected class cx cy w h confidence, got 15 numbers"):
        tables(Text("0 .1 .1 .2 .2 .3 .3 .1 .2 .2 .2 .1 .3 .9 1"), confidence=True)  # a polygon with a track's id


def test_a_data_yaml_tells(tmp_path: Path) -> None:
    from tests.reading.boxes.test_malformed import write

    write(tmp_path, {"images/a.png": "", "labels/a.txt": POSE_2, "found/a.txt": f"{POSE_2} .9"})
    data = "val: images\nnames: [cat]\nkpt_shape: [5, 2]"
    write(tmp_path, {"data.yaml": data})
    read = reading.read_detections(tmp_path / "found", tmp_path / "data.yaml")
    for boxes in (read.dataset.references[0], read.predictions[0]):
        np.testing.assert_allclose(boxes["boxes"], [[3.2, 3.2, 4.8, 4.8]])
    with pytest.raises(ValueError, match=rf"labels/a.txt:1: {BOTH.format(15)}"):
        reading.read_references(tmp_path / "labels")
    write(tmp_path, {"data.yaml": data.replace("5", "4")})
    with pytest.raises(
        ValueError, match=r"a.txt:1: expected class cx cy w h and 8 numbers of key points, got 15 numbers"
    ):
        reading.read_references(tmp_path / "data.yaml")
