"""Lines of YOLO: read all at once as line by line, and with key points only if a data.yaml says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from openworld_metrics import reading
from openworld_metrics.reading.boxes import yolo_lines
from openworld_metrics.reading.boxes.yolo_lines import read_texts
from tests.reading.boxes.test_malformed import write

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
    """Read by their `kpt_shape`, and refused without: they never pass for polygons."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        points, end = int(rng.integers(1, 18)), [0.5] * int(rng.integers(2))
        rows = [pose(rng, points, values) for _ in range(rng.integers(1, 9))]
        for _, numbers in rows if end and values == 3 else []:
            numbers[2::3] = rng.random(points).round(2).tolist()
        expected = np.asarray([[float(f"{x:.6g}") for x in box + end] for box, _ in rows])
        texts = [Text(written(box + numbers + end)) for box, numbers in rows]
        known = np.concatenate(tables(*texts, confidence=bool(end), key_points=points * values))
        np.testing.assert_array_equal(known, expected)
        with pytest.raises(ValueError, match="key points"):
            tables(*texts, confidence=bool(end))


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
    (boxes,) = tables(Text("0 .5 .5 .1 .1 .5 .5 .9 .9 .05 .9"))  # only one of three points would be near the box
    np.testing.assert_allclose(boxes[:, 1:5], [[0.475, 0.5, 0.85, 0.8]])


def test_lines_of_an_odd_length() -> None:
    with pytest.raises(ValueError, match=r"0.txt:1: expected class cx cy w h, got 14 numbers; key points need a data"):
        tables(Text(POSE_3, "1 .5 .5 .2 .2"))
    with pytest.raises(ValueError, match=r"0.txt:1: expected class cx cy w h confidence, got 15 numbers"):
        tables(Text("0 .1 .1 .2 .2 .3 .3 .1 .2 .2 .2 .1 .3 .9 1"), confidence=True)  # a polygon with a track's id


def test_a_data_yaml_tells(tmp_path: Path) -> None:
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


def read_lines(path: Path, confidence: bool = False) -> np.ndarray:
    return read_texts([path], confidence=confidence).tables[0]


LINES = ["0 0.25 0.5 0.125 1e-3", "12 0.33333333333333331 0.1 0.2 0.30000000000000004"]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(LINES),
        "\n".join(LINES) + "\n\n",
        "\r\n".join(LINES) + "\r\n",
        "\r".join(LINES),
        "\ufeff" + "\n".join(LINES),
        "\n\n" + " \n".join(LINES).replace(" ", "  "),
        "\t".join(LINES[0].split()) + "\x1c" + LINES[1],
        "\n".join(LINES).replace("0.", "+.").replace("12 ", "1_2. "),
    ],
)
def test_lines_written_in_any_way(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(text.encode())
    assert read_lines(path).tolist() == [[float(cell) for cell in line.split()] for line in LINES]


@pytest.mark.parametrize(("cells", "left"), [("", 1), (" 0.9", 2)])
def test_a_label_that_is_written_twice_is_one(cells: str, left: int, tmp_path: Path) -> None:
    """As Ultralytics reads them; equal predictions stay."""
    path = tmp_path / "x.txt"
    path.write_text(f"{LINES[0]}{cells}\n" * 2)
    tables, repeated = read_texts([path], confidence=bool(cells))
    assert (len(tables[0]), len(repeated)) == (left, 2 - left)


def test_minus_zero(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    for zeros in ("-0 -0.0", "-0.0 -0", "-0e-05 -0", "0 -0"):
        path.write_text(f"0 {zeros} 0.5 0.5")
        signs = [cell.startswith("-") for cell in zeros.split()]
        assert np.signbit(read_lines(path)[0, 1:3]).tolist() == signs


@pytest.mark.parametrize("seed", range(5))
def test_random_lines(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, path = np.random.default_rng(seed), tmp_path / "x.txt"
    rows = np.column_stack([rng.integers(0, 99, 50), rng.random((50, 5))])
    path.write_text("".join(f"{int(row[0])} {' '.join(map(str, row[1:]))}\n" for row in rows.tolist()))
    assert read_lines(path, confidence=True).tolist() == rows.tolist()
    monkeypatch.setattr(yolo_lines, "_plain_table", lambda *_: None)
    assert read_lines(path, confidence=True).tolist() == rows.tolist()
