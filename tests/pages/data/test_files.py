"""Files read as a page reads them: folders, choices of columns, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from openworld_metrics import read as read_files
from openworld_metrics.pages.data import read
from openworld_metrics.pages.metrics import page_of
from openworld_metrics.pages.results.call import recipe_of

TABLE = "msp,label\n0.9,id\n0.2,ood\n0.7,id\n0.8,ood\n"


def test_a_table_and_a_choice_of_columns(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(TABLE)
    columns = read_files("ood_bench", tmp_path / "scores.csv", columns={"predictions": ["-msp"]}).columns
    by_name = read_files("ood_bench", tmp_path / "scores.csv", columns={"predictions": "-msp"}).columns
    assert by_name["predictions"].tolist() == [-0.9, -0.2, -0.7, -0.8]
    assert columns["predictions"].tolist() == [-0.9, -0.2, -0.7, -0.8]
    assert columns["references"].tolist() == [0, 1, 0, 1]


def test_a_column_that_is_not_used(tmp_path: Path) -> None:
    """An empty choice is a choice: it is not guessed anew, and the page's code says it."""
    (tmp_path / "scores.csv").write_text("score,label,dataset\n0.9,id,a\n0.2,ood,b\n")
    assert read_files("ood_bench", tmp_path / "scores.csv").columns["groups"] == [None, "b"]
    assert read_files("ood_bench", tmp_path / "scores.csv", columns={"groups": []}).columns.get("groups") is None
    assert read_files("ood_bench", tmp_path / "scores.csv", columns={"groups": None}).columns.get("groups") is None
    with pytest.raises(TypeError, match=r"^references: no column looks like it. Pick one, from"):
        read_files("ood_bench", tmp_path / "scores.csv", columns={"references": []})
    reading = read(page_of("ood_bench"), [], [[tmp_path / "scores.csv"]], {"groups": []})
    recipe = recipe_of(reading, [[tmp_path / "scores.csv"]], tmp_path)
    assert recipe.choices["columns"]["groups"] == []


def test_rows_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(TABLE + "?,id\n")
    with pytest.raises(
        ValueError,
        match=r"scores.csv: msp, line 6: '\?' is not a number. Fix the file, or leave out this row of 5",
    ):
        read_files("ood_bench", str(tmp_path / "scores.csv"))
    columns = read_files("ood_bench", str(tmp_path / "scores.csv"), leave_out=True).columns
    assert columns["predictions"].tolist() == [0.9, 0.2, 0.7, 0.8]


def test_errors(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("a,b,label\n0.5,0.1,id\n0.2,0.4,ood\n")
    with pytest.raises(ValueError, match=r"^name: expected one of accuracyk, .*, got 'auroc'"):
        read_files("auroc", tmp_path / "scores.csv")
    with pytest.raises(ValueError, match=r"^expected one model, got a, b; models holds the columns of each"):
        print(read_files("ood_bench", tmp_path / "scores.csv").columns)
    assert [*read_files("ood_bench", tmp_path / "scores.csv").models] == ["a", "b"]
    with pytest.raises(ValueError, match=r"^inputs: expected at most 1, got 2"):
        read_files("ood_bench", tmp_path / "scores.csv", tmp_path / "scores.csv")
    with pytest.raises(ValueError, match=r"^columns: expected names of predictions, references, .*, got scores"):
        read_files("ood_bench", tmp_path / "scores.csv", columns={"scores": ["a"]})
    with pytest.raises(ValueError, match=r"^read_as: expected one of automatic, scores, class ids, got 'ints'"):
        read_files("ood_bench", tmp_path / "scores.csv", read_as="ints")
    with pytest.raises(
        ValueError, match=r"^predictions: expected names of columns, got c; there are a, b, label, -a, -b"
    ):
        read_files("ood_bench", tmp_path / "scores.csv", columns={"predictions": ["c"]})
