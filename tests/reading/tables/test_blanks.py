"""Tables between blanks, and first lines that are rows: the columns of the same table with commas."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import read
from openworld_metrics.reading.reading import Reading
from openworld_metrics.reading.tables.csv import Csv, separators
from openworld_metrics.reading.tables.files import TEXTS, read_table
from openworld_metrics.reading.tables.header import Header, reads_as
from tests.conftest import Run
from tests.examples import many, seeds
from tests.reading.page import read_page

KINDS = (
    lambda rng, i: f"{rng.random():.4f}",
    lambda rng, i: str(rng.randint(-3, 3)),
    lambda rng, i: f"utt_{i:04}",
    lambda rng, i: rng.choice(("cat", "dog")),
    lambda rng, i: f"{rng.random():e}",
)


def lists(text: str, **how: Any) -> dict[str, list[Any]]:
    csv = Csv(text.encode(), **how)
    return {"headless": [csv.headless]} | {name: csv.table[name].to_pylist() for name in csv.names}


@many
@given(seed=seeds)
def test_blanks_are_commas(seed: int) -> None:
    """Any number of blanks and tabs, before and behind, with names or without, in lines of any end."""
    rng = Random(seed)
    kinds = [KINDS[0], *rng.choices(KINDS, k=rng.randint(1, 3))]
    rows = [[kind(rng, i) for kind in kinds] for i in range(rng.randint(3, 9))]
    rows = [[f"n_{chr(97 + i)}" for i in range(len(kinds))], *rows] if rng.random() < 0.5 else rows
    end = rng.choice(("\n", "\r\n"))

    def blank(least: int) -> str:
        return "".join(rng.choices(" \t" if len(kinds) < 2 else " ", k=rng.randint(least, 3)))

    text = end.join(blank(0) + blank(1).join(row) + blank(0) for row in rows)
    expected = error = None
    try:
        expected = lists("\n".join(map(",".join, rows)))
    except ValueError as raised:
        error = str(raised)
    if error is not None:
        with pytest.raises(ValueError, match="which may be either"):
            lists(text, by_blanks=True)
        return
    assert lists(text, by_blanks=True) == expected


@many
@given(seed=seeds)
def test_a_header_above_numbers_is_one_and_without_it_nothing_is_lost(seed: int) -> None:
    """Files of names and scores keep every row, with a header or without."""
    rng = Random(seed)
    rows = [
        [f"clip_{i:03}.wav", f"{rng.random()}", rng.choice(("bonafide", "spoof"))] for i in range(rng.randint(4, 9))
    ]
    rows[-1][2] = rows[0][2]
    order = rng.sample(range(3), 3)
    cut = [[row[i] for i in order] for row in rows]
    names = [["file", "score", "key"][i] for i in order]
    mark = rng.choice((",", "\t", ";", " "))
    bare = Csv("\n".join(map(mark.join, cut)).encode(), by_blanks=True)
    full = Csv("\n".join(map(mark.join, [names, *cut])).encode(), by_blanks=True)
    assert (bare.headless, full.headless) == (True, False)
    assert (bare.names, full.names) == (["0", "1", "2"], names)
    assert bare.table.to_pydict() == dict(zip("012", full.table.to_pydict().values()))


@pytest.mark.parametrize(
    ("first", "below", "expected"),
    [
        (["image", "label"], [["a_1.png", "cat"]], Header.NAMES),
        (["cat", "dog"], [["cat", "dog"], ["bird", "cat"]], Header.ROW),
        (["cat", "0.5"], [["dog", "0.7"], ["cat", "0.2"]], Header.ROW),
        (["cat", "0.5"], [["dog", "0.7"]], Header.EITHER),
        (["auc", "0.05"], [["0.9", "0.7"]], Header.EITHER),  # of two thresholds
        (["id", "0", "1"], [["a", "0.7", "0.3"]], Header.NAMES),
        (["score", "in_distribution"], [["0.5", "in distribution"], ["0.7", "ood"]], Header.NAMES),
        (["known", "file"], [["unknown", "x"], ["known", "y"]], Header.NAMES),
        (["score", "label"], [["0.5", "a"], ["score", "label"], ["0.7", "b"]], Header.NAMES),  # two files in one
        (["LA_0079", "LA_T_11", "-", "-", "bonafide"], [["LA_0080", "LA_T_12", "-", "A01", "spoof"]], Header.ROW),
        (["top1.score"], [["0.5"], ["0.7"]], Header.NAMES),
    ],
)
def test_first_lines(first: list[str], below: list[list[str]], expected: Header) -> None:
    assert reads_as(first, below) is expected


@pytest.mark.parametrize("suffix", TEXTS)
def test_columns_by_position_and_by_what_they_hold(suffix: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / f"scores{suffix}"
    path.write_text("-1 0.25\n 1   0.75\n-1 -0.5\n1 0.125\n")
    expected = {"predictions": [0.25, 0.75, -0.5, 0.125], "references": [-1, 1, -1, 1]}
    own = read("ood_bench", path)
    assert {name: np.asarray(column).tolist() for name, column in own.columns.items()} == expected
    assert own.guesses == ["predictions is 1", "references is 0"]
    chosen = read("ood_bench", path, columns={"predictions": "1", "references": "0"})
    assert chosen.columns["predictions"].tolist() == expected["predictions"]
    flags = ["--in-value=-1", "--out-value", "1", "--metrics", "auroc"]
    for places in (
        [path],
        [path, "--predictions", "1"],
        ["--predictions", f"{path}:1", "--references", f"{path}:0"],
        [path, "--predictions", f"{path}:1", "--references", "0"],
    ):
        code, output, errors = run("compute", "ood_bench", *places, *flags)
        assert (code, output) == (0, '{"auroc": 0.75}\n'), errors
    places = ["--predictions", f"{path}:-1", "--references", f"{path}:0"]
    assert json.loads(run("compute", "ood_bench", *places, *flags)[1]) == {"auroc": 0.25}
    path.write_text("-1 0.25\n1 0.75\n-1 nan\n1 0.125\n1\n")
    assert "expected 2 values in line 5, as in the first, got 1: '1'" in run("compute", "ood_bench", path)[2]
    path.write_text("-1 0.25\n1 0.75\n\n-1 nan\n1 0.125\n")
    code, _, errors = run("compute", "ood_bench", path, *flags)
    assert code == 2
    assert ": 1, row 3: this cell is empty or NaN" in errors
    assert json.loads(run("compute", "ood_bench", path, *flags, "--leave-out")[1]) == {"auroc": 0.5}


def test_words_between_blanks(tmp_path: Path) -> None:
    for first in ("utt score key\n", "# utt score key\n", ""):
        path = tmp_path / "x.txt"
        path.write_text(f"{first}u_1 0.5 bonafide\nu_2 0.75 spoof\nu_3 0.25 bonafide\n")
        reading = read("ood_bench", path)
        assert reading.columns["predictions"].tolist() == [0.5, 0.75, 0.25]
        assert reading.columns["references"].tolist() == [0, 1, 0]
        assert reading.samples == ["u_1", "u_2", "u_3"]
    path.write_text('"a b" 0.5\n"c d" 0.25\n')
    assert read_table(path, ["1"]).arrays["0"].tolist() == ["a b", "c d"]


def test_logits_between_blanks_are_a_matrix(tmp_path: Path) -> None:
    logits = np.random.default_rng(0).normal(size=(6, 3))
    np.savetxt(tmp_path / "logits.txt", logits)
    assert np.array_equal(read_table(tmp_path / "logits.txt", by_column=True).arrays["logits"], logits)


@pytest.mark.parametrize(
    ("text", "between"),
    [(b"a b\nc d", ","), (b"1 2\n3 4", " "), (b"1 ,5\n2 ,6", ","), (b"1 0,5\n2 0,25", " "), (b"25 %\n30 %", ",")],
)
def test_blanks_in_a_csv(text: bytes, between: str) -> None:
    """Words of a single column have blanks, too: there, only numbers are cut."""
    assert separators(text).between == between


def test_words_and_blanks_in_a_csv(tmp_path: Path, run: Run) -> None:
    """They are one column of words; the error says where lines are cut at blanks."""
    by_names = ["--label-from-name", "normal|anomaly"]
    for path in (tmp_path / "x.txt", tmp_path / "x.csv"):
        path.write_text("normal_1 0.5\nanomaly_2 0.75\n")
        code, _, errors = run("compute", "ood_bench", path, *by_names)
        assert code == (2 if path.suffix == ".csv" else 0)
    text = "; lines are cut at blanks in a .txt, .scores, .lst or .dat, and in a .csv at commas, semicolons or tabs; "
    assert text in errors


def test_a_first_line_that_may_be_either(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "x.csv"
    path.write_text("cat,0.5\ndog,0.25\nbird,0.75\n")
    code, _, errors = run("compute", "ood_bench", path)
    assert code == 2
    assert errors.endswith(
        "x.csv: expected names or values in the first line, got cat, 0.5, which may be either: choose columns by "
        "position, such as 0, if it is a row, or by name, such as cat, if it is names, or put a line of names above\n"
    )
    assert read_table(path, ["1"]).arrays["1"].tolist() == [0.5, 0.25, 0.75]
    assert read_table(path, ["0.5"]).arrays["0.5"].tolist() == [0.25, 0.75]


@many
@given(seed=seeds)
def test_pages_read_the_same(seed: int) -> None:
    """Columns, guesses, notes and errors of read, for tables of all forms."""
    rng = Random(seed)
    known, unknown = rng.choice(
        (("bonafide", "spoof"), ("target", "nontarget"), ("0", "1"), ("-1", "1"), ("up", "down"))
    )
    rows = [[f"u_{i}", f"{rng.random():.3f}", rng.choice((known, unknown))] for i in range(rng.randint(4, 12))]
    order = rng.sample(range(3), rng.choice((2, 3)))
    mark, header = rng.choice((" ", "\t", ",", "  ")), rng.choice(([], [["utt", "score", "key"]]))
    text = "\n".join(mark.join(row[place] for place in order) for row in [*header, *rows])
    with TemporaryDirectory() as folder:
        if rng.random() < 0.2:
            path, chosen = Path(folder, "x.json"), {"predictions": "all.score", "references": "all.key"}
            columns = {"score": [float(row[1]) for row in rows], "key": [row[2] for row in rows]}
            path.write_text(json.dumps({"name": "x", "all": columns}))
        else:
            path, chosen = Path(folder, f"x{rng.choice(TEXTS)}"), {}
            path.write_text(text)
        wishes = {name: [own] for name, own in chosen.items()}
        outcomes = [
            outcome(door, folder)
            for door in (
                lambda: read("ood_bench", path, columns=chosen),
                lambda: read_page("ood_bench", [[path]], wishes),
            )
        ]
    assert outcomes[0] == outcomes[1]


def outcome(door: Callable[[], Reading], folder: str) -> Any:
    """What a door reads, or its error without the folder."""
    try:
        reading = door()
    except (ValueError, TypeError) as error:
        return str(error).replace(f"{folder}/", "")
    columns = {name: np.asarray(column).tolist() for name, column in reading.columns.items()}
    return columns, reading.guesses, reading.notes, reading.census
