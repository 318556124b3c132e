"""Forms in which spreadsheets, NumPy and pandas write tables: read, or an error that says how to write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import read
from openworld_metrics.reading.tables.files import read_table
from tests.conftest import Run

SCORES, LABELS = [0.1, 0.25, 0.2, 0.5, 0.3, 0.6, 0.4, 0.7], [0, 1, 0, 1, 0, 1, 0, 1]
FRAME = pd.DataFrame({"score": SCORES, "label": LABELS})


def check_columns(path: Path) -> None:
    columns = read("ood_bench", path).columns
    assert (columns["predictions"].tolist(), columns["references"].tolist()) == (SCORES, LABELS)


@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_in_which_excel_names_the_separator(mark: str, end: str, tmp_path: Path) -> None:
    """Row 22 of reports; errors count the line, and a column of that name is a column."""
    path = tmp_path / "x.csv"
    for decimal in (".", ",") if mark != "," else (".",):
        text = FRAME.to_csv(index=False, sep=mark, decimal=decimal, lineterminator=end)
        for first in ("sep=", "\ufeffSEP=", f"{end}sep="):
            path.write_text(f"{first}{mark}{end}{text}", newline="")
            check_columns(path)
        path.write_text(f"sep={mark}{end}{text}x{mark}1{end}", newline="")
        with pytest.raises(ValueError, match=r"score, line 11: 'x' is not a number"):
            read("ood_bench", path)
    path.write_text("sep=a,label\n0.5,1\n0.25,0\n")
    assert [*read_table(path).arrays] == ["sep=a", "label"]


def test_blanks_between_values(tmp_path: Path) -> None:
    """Row 25 of reports: numpy.savetxt writes blanks."""
    table = np.column_stack([SCORES, LABELS])
    for options in ({"header": "score label"}, {"header": "score label", "comments": ""}):
        np.savetxt(tmp_path / "x.csv", table, **options)
        check_columns(tmp_path / "x.csv")
    for comments in ("# ", ""):
        np.savetxt(tmp_path / "x.csv", table, header="score,label", comments=comments, delimiter=",")
        check_columns(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("name of a sample\na b\nc d\n")  # one column of words
    assert [*read_table(tmp_path / "x.csv").arrays] == ["name of a sample"]


def test_strokes_between_values(tmp_path: Path) -> None:
    """Row 30 of reports."""
    FRAME.to_csv(tmp_path / "x.csv", index=False, sep="|")
    with pytest.raises(ValueError, match=r"expected commas, .* got \|; of pandas, to_csv\(sep=','\) writes commas"):
        read("ood_bench", tmp_path / "x.csv")
    FRAME.to_csv(tmp_path / "x.csv", index=False, sep=",")
    check_columns(tmp_path / "x.csv")


@pytest.mark.parametrize("orient", ["records", "split", "table", "columns", "index"])
def test_forms_of_pandas_json(orient: Any, tmp_path: Path, run: Run) -> None:
    """Row 28 of reports: each form of to_json, the default among them, by its name and by flags."""
    path = tmp_path / "x.json"
    FRAME.to_json(path, orient=orient)
    check_columns(path)
    places = ("--predictions", f"{path}:score", "--references", f"{path}:label", "--metrics", "auroc")
    assert json.loads(run("compute", "ood_bench", *places)[1]) == {"auroc": 0.875}
    named = FRAME.set_axis([f"{i}.png" for i in range(8)])
    named.to_json(path, orient=orient)
    if orient in ("columns", "index"):  # either may be the names of columns
        with pytest.raises(
            ValueError, match=r"x\.json: .*: expected a list, got an object; of pandas, to_json\(orient="
        ):
            read("ood_bench", path)
        named.to_json(path, orient="records")
    check_columns(path)


def test_other_forms_of_json(tmp_path: Path, run: Run) -> None:
    path, records = tmp_path / "x.json", FRAME.to_dict("records")
    for text in (
        "\n".join(map(json.dumps, records)),
        json.dumps({"data": records}),
        json.dumps({"results": records}),
        json.dumps({"score": SCORES, "label": LABELS, "auroc": 0.875, "epoch": None, "done": True, "model": "msp"}),
    ):
        path.write_text(text)
        check_columns(path)
    path.write_text('{"auroc": 0.5, "epoch": 3}')
    with pytest.raises(
        ValueError, match=r"expected columns with a value for each sample, got single values \(auroc, ep"
    ):
        read("ood_bench", path)
    path.write_text(json.dumps({"predictions": {"a": 0.5}, "label": LABELS}))
    code, _, errors = run(
        "compute", "ood_bench", "--predictions", f"{path}:predictions", "--references", f"{path}:label"
    )
    assert code == 2
    assert "x.json: predictions: expected a list, got an object" in errors


def test_single_numbers_beside_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", score=SCORES, label=LABELS, auroc=0.875)
    check_columns(tmp_path / "x.npz")
    np.savez(tmp_path / "x.npz", auroc=0.875)
    with pytest.raises(ValueError, match=r"x\.npz: expected columns with a value for each sample, got single values"):
        read("ood_bench", tmp_path / "x.npz")


def test_a_file_without_names(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of two whole numbers is of labels; else the error names the columns by their numbers, also a choice."""
    monkeypatch.chdir(tmp_path)
    for labels, code in (LABELS, 0), ([float(label) + 0.5 for label in LABELS], 2):
        Path("f.csv").write_text("".join(f"{score},{label}\n" for score, label in zip(SCORES, labels)))
        ended, output, errors = run("compute", "ood_bench", "f.csv", "--metrics", "auroc")
        assert ended == code
        assert code or json.loads(output) == {"auroc": 0.875}
    assert "; f.csv has no names in its first line: its columns are f.csv:0, f.csv:1, …; " in errors
    Path("f.csv").write_text("".join(f"{score},{label}\n" for score, label in zip(SCORES, LABELS)))
    for places in (["--predictions", "f.csv:0", "--references", "f.csv:1"], ["f.csv", "--references", "1"]):
        assert json.loads(run("compute", "ood_bench", *places, "--metrics", "auroc")[1]) == {"auroc": 0.875}


def test_a_place_in_the_file_itself(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flag beside a file names a column in it, alone or as a place."""
    monkeypatch.chdir(tmp_path)
    FRAME.assign(group=["a", "b"] * 4, other=SCORES[::-1]).to_csv("d.csv", index=False)
    for column, flag in (("group", "--groups"), ("label", "--references"), ("other", "--predictions")):
        outputs = {
            run("compute", "ood_bench", "d.csv", "--predictions", "score", flag, name, "--metrics", "auroc")[1]
            for name in (column, f"d.csv:{column}", f"./d.csv:{column}")
        }
        assert len(outputs) == 1
        assert "auroc" in outputs.pop()
