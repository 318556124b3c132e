"""What is read all at once is what is read entry by entry, or line by line; what is wrong is told with its place."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics.loading import metric_class
from openworld_metrics.reading.boxes import yolo_lines as yolo_lines
from openworld_metrics.reading.boxes.coco import Entries, read_coco, read_coco_results
from openworld_metrics.reading.boxes.dataset import Dataset
from openworld_metrics.reading.boxes.yolo_lines import read_texts

ENTRY = {"image_id": 7, "category_id": 3, "bbox": [1, 2.5, 3, 4], "score": 0.5}
DATASET = Dataset(["x"], [], {}, [None], [None], [7])


def table(*entries: Any) -> Entries:
    return Entries(entries, "results", {7: 0, 2**70: 1})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"bbox": [True, 2, 3, 4]}, r"bbox to be x, y, width, height, got \[True, 2, 3, 4\]"),
        ({"bbox": [1, 2, 3]}, r"bbox to be x, y, width, height, got \[1, 2, 3\]"),
        ({"bbox": "1234"}, "bbox to be x, y, width, height, got '1234'"),
        ({"bbox": None}, "bbox to be x, y, width, height, got None"),
        ({"bbox": [1, 2, 10**400, 4]}, "bbox to be x, y, width, height, got "),
        ({"score": True}, "score to be a number, got True"),
        ({"score": "0.5"}, "score to be a number, got '0.5'"),
        ({"score": float("nan")}, "score to be a finite number, got nan"),
        ({"category_id": 1.5}, "category_id to be an integer, got 1.5"),
        ({"category_id": True}, "category_id to be an integer, got True"),
        ({"category_id": 2**63}, "category_id to be an integer, got 9223372036854775808"),
        ({"category_id": 2**53 + 1}, "category_id to be an integer, got 9007199254740993"),
        ({"image_id": 8}, "image_id to be an id of an image, got 8"),
        ({"image_id": [7]}, r"image_id to be an id of an image, got \[7\]"),
    ],
)
def test_an_entry_among_others(change: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError, match=rf"^x.json: results\[1\]: expected {expected}"):
        read_coco_results("x.json", DATASET, content=[ENTRY, {**ENTRY, **change}, {**ENTRY, **change}])


def test_columns_of_any_numbers() -> None:
    mixed = table(ENTRY, {**ENTRY, "score": 1, "category_id": 4.0, "image_id": 2**70, "bbox": [1, 2, 3, 2**70]})
    assert mixed.image.tolist() == [0, 1]
    assert mixed.numbers("score").tolist() == [0.5, 1.0]
    assert mixed.integers("category_id").tolist() == [3, 4]
    assert mixed.boxes().tolist() == [[1, 2.5, 4, 6.5], [1, 2, 4, 2.0**70]]
    assert table({**ENTRY, "category_id": -(2**53)}).integers("category_id").tolist() == [-(2**53)]
    assert table(OrderedDict(ENTRY)).boxes().tolist() == [[1, 2.5, 4, 6.5]]
    assert table().boxes().shape == (0, 4)


@pytest.mark.parametrize("other", [None, [7], "image_id", 5])
def test_entries_that_are_no_objects(other: Any) -> None:
    with pytest.raises(ValueError, match=r"^results\[1\]: expected image_id to be an id of an image, got no image_id$"):
        table(ENTRY, other)


def test_entries_that_are_tensors() -> None:
    torch = pytest.importorskip("torch")
    for other in (torch.tensor(5.0), torch.zeros(3), torch.zeros(3).to_sparse()):
        with pytest.raises(ValueError, match=r"^results\[0\]: expected image_id to be an id of an image, got no image"):
            table(other)
        with pytest.raises(ValueError, match=r"^results\[0\]: expected bbox to be x, y, width, height, got tensor"):
            table({**ENTRY, "bbox": other}).boxes()
    assert table({**ENTRY, "bbox": torch.arange(4.0)}).boxes().tolist() == [[0, 1, 2, 4]]


@pytest.mark.parametrize("depth", [900, 990, 1020, 1030, 100_000])
def test_what_is_nested_too_deep(depth: int, tmp_path: Path) -> None:
    deep, path = "[" * depth + "]" * depth, tmp_path / "x.json"
    path.write_text(f'[{{"image_id": 7, "bbox": {deep}}}]')
    with pytest.raises(ValueError, match=r"x.json: (results\[0\]: expected bbox to be|expected fewer levels)"):
        read_coco_results(path, DATASET)
    path.write_text(f'{{"images": [{{"id": {deep}}}], "categories": []}}')
    with pytest.raises(ValueError, match=r"x.json: (images\[0\]: expected an integer id|expected fewer levels)"):
        read_coco(path)


@pytest.mark.parametrize("text", ["NaN", "[\r\n1,\r\n2", "[\r1\r,]", "\ufeff[01]"])
def test_the_line_of_what_is_no_json(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode())
    line = {"N": "expected a list of results, got float", "\ufeff": ":1: "}.get(text[0], ":3: expected JSON")
    with pytest.raises(ValueError, match=line):
        read_coco_results(path, DATASET)


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


@pytest.mark.parametrize(
    "line",
    ["0 0.5,0.5 0.1 0.1", "0 [0.5 0.5 0.1 0.1]", "true 0.5 0.5 0.1 0.1", "0 0.5 0.5 0.1],[0.1", "0 0.5 0.5 0.1 null"],
)
def test_lines_of_json_are_none_of_numbers(line: str, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(f"{LINES[0]}\n{line}\n")
    with pytest.raises(ValueError, match=r"x.txt:2: expected numbers, got"):
        read_lines(path)


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


def test_columns_that_are_no_dense_tensors() -> None:
    torch = pytest.importorskip("torch")
    metric = metric_class("openset_detection")(known_classes=[0])
    for column in torch.zeros(1, 1, 6).to_sparse(), torch.zeros(1, 1, 6, device="meta"):
        with pytest.raises(TypeError, match="predictions: expected a dense tensor of numbers, got a torch"):
            metric.compute(predictions=column, references=[[]])
