"""Tables of separated values: an error says the line, blank ends are no rows, and Arrow reads from its own memory."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given

from openworld_metrics import read
from openworld_metrics.reading.columns.kinds import Scores
from openworld_metrics.reading.tables.csv import Csv, Separators, separators
from openworld_metrics.reading.tables.files import read_table
from tests.conftest import Run
from tests.examples import many, seeds


def table_of(rng: Random, width: int, end: str, mark: str) -> list[str]:
    """Rows of a table, the first of names or of numbers, with cells of several lines and blank lines among them."""
    first = rng.choice(("n{}", "{}.5"))
    rows = [mark.join(map(first.format, range(width))) + end, mark.join(["0.5"] * width) + end]
    for _ in range(rng.randint(1, 6)):
        words = [rng.choice(("0.5", "1", "a b", '"x"', f'"x{end}y{mark}""z"', f'"{end}"')) for _ in range(width)]
        rows.append(mark.join(words) + end + end * rng.choice((0, 0, 1, 2)))
    return rows


@many
@given(seed=seeds)
def test_an_error_names_the_file_and_the_line(seed: int) -> None:
    rng = Random(seed)
    end, mark, width = rng.choice(("\n", "\r\n", "\r")), rng.choice((",", ";", "\t")), rng.randint(2, 4)
    rows = [rng.choice(("", "\ufeff", end, f" {end}{end}")), *table_of(rng, width, end, mark)]
    at = rng.randint(3, len(rows))
    came = rng.choice([n for n in range(1, 7) if n != width])
    rows.insert(at, mark.join(["0.25"] * came) + end)
    line = "".join(rows[:at]).replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_text("".join(rows), newline="")
        with pytest.raises(ValueError, match=r"a\.csv: expected ") as raised:
            read_table(path)
    expected = f"expected {width} values in line {line}, as in the first, got {came}: '0.25"
    assert str(raised.value).startswith(f"{path}: {expected}")


def test_a_header_that_is_not_whole_is_named() -> None:
    with pytest.raises(ValueError, match="expected a table from line 3 on, got one that is not whole"):
        Csv(b'\n\n"a,b\n1,2\n')


@many
@given(seed=seeds)
def test_blanks_at_the_end_are_no_row(seed: int) -> None:
    rng = Random(seed)
    end, mark, width = rng.choice(("\n", "\r\n", "\r")), rng.choice((",", ";", "\t")), rng.randint(2, 4)
    text = "".join(table_of(rng, width, end, mark)).rstrip(end)
    blank = "".join(end + " " * rng.randint(0, 3) for _ in range(rng.randint(1, 4)))
    assert Csv((text + blank).encode()).table.equals(Csv(text.encode()).table)


def test_a_line_of_a_blank_within_a_table_is_refused_and_in_one_column_a_value() -> None:
    with pytest.raises(ValueError, match="expected 2 values in line 3, as in the first, got 1: ' '"):
        Csv(b"a,b\n1,2\n \n3,4\n")
    assert Csv(b"a\nx\n \n").table["a"].to_pylist() == ["x", " "]


@pytest.mark.parametrize(
    ("text", "between", "decimal"),
    [
        (b"a;b", ";", "."),  # a header alone
        (b"a\tb", "\t", "."),
        (b"a", ",", "."),
        (b"a;b\n1,5;2", ";", ","),
        (b"a;b\n1,5", ",", "."),  # rows that differ in length
        (b"a,b\n1;5,2", ",", "."),
    ],
)
def test_separators(text: bytes, between: str, decimal: str) -> None:
    assert separators(text) == Separators(between, decimal)


@pytest.mark.parametrize(
    ("text", "names", "headless"),
    [
        ("score,1\n0.5,1\n", "", False),
        ("0.5,1\n0.25,0\n", "", True),
        ("0.5,1\n0.25,0\n", "0", True),
        ("0.5,1\n0.25,0\n", "score", True),  # which is not there
        ("3,5\n0.5,0.25\n", "5", False),
        ("3,5\n0.5,0.25\n", "1", True),
        ("1,0\n0.5,0.25\n", "-1", None),  # a name or a place
        ("0,1\n0.5,0.25\n", "1", None),
        ("0,1,2\n0.5,0.25,1.5\n", "1", False),
        ("0,1,2\n0.5,0.25,1.5\n", "", None),
        ("0\n1\n", "", True),
        ("0\n0.5\n", "", None),
    ],
)
def test_a_first_line_of_values(text: str, names: str, headless: bool | None) -> None:
    wanted = names.split(",") if names else []
    if headless is None:
        with pytest.raises(ValueError, match=r"in the first line, got .*, which may be either"):
            Csv(text.encode(), wanted)
    else:
        assert Csv(text.encode(), wanted).headless is headless


@pytest.mark.parametrize("length", [5, 3_000_000], ids=["a block", "a line beyond two blocks"])
def test_no_source_belongs_to_python(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sources: list[Any] = []
    read = pyarrow.csv.read_csv

    def recorded(source: Any, **options: Any) -> pa.Table:
        sources.append(source)
        return read(source, **options)

    monkeypatch.setattr(pyarrow.csv, "read_csv", recorded)
    before = pa.total_allocated_bytes()
    csv = Csv(b"score,name\n0.5," + b"a" * length)
    assert not csv.headless
    assert csv.table.column("score").to_pylist() == [0.5]
    assert len(sources) == (1 if length == 5 else 2)
    assert all(type(source) is pa.BufferReader for source in sources)
    assert pa.total_allocated_bytes() - before >= length  # the text's copy is Arrow's


@many
@given(seed=seeds)
def test_no_number_has_a_point_among_decimal_commas(seed: int) -> None:
    """A cell with a point is refused with its line where its column is used, and only there."""
    rng = Random(seed)
    mark, rows = rng.choice("\t;"), rng.randint(3, 12)
    cells = [
        [f"{rng.randrange(9)},{rng.randrange(1, 100)}" for _ in range(rows)],
        [*map(str, rng.choices(range(9), k=rows))],
    ]
    wrong, column = rng.randrange(rows), rng.randrange(2)
    cells[column][wrong] = cell = rng.choice(("1.234", "2.500", "-0.5", "1.5e3", ".5", "12.345"))
    text = "\n".join([f"a{mark}b", *map(mark.join, zip(*cells))]) + "\n"
    if "," not in "".join(map(mark.join, [*zip(*cells)][:1])):
        return  # the first row says which mark the file has
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.tsv"
        path.write_text(text)
        names = "ab"[column], "ab"[1 - column]
        message = rf"x\.tsv: {names[0]}, line {wrong + 2}: expected decimal commas, .* got '{re.escape(cell)}'"
        with pytest.raises(ValueError, match=message):
            read("ood_bench", path, columns={"predictions": names[0], "references": names[1]})
        other = Scores("predictions").take([names[1]], read_table(path)).tolist()
        assert other == [float(each.replace(",", ".")) for each in cells[1 - column]]


def test_thousands_below_decimal_commas(tmp_path: Path, run: Run) -> None:
    """Row 21 of reports; without the points it is read, as the error says."""
    text = "dist;temp;label\n987;20,5;0\n1.234;21,5;1\n990;20,5;0\n2.500;21,5;1\n"
    (tmp_path / "de.csv").write_text(text)
    command = ("compute", "ood_bench", tmp_path / "de.csv", "--predictions", "dist", "--metrics", "auroc")
    code, _, errors = run(*command)
    assert code == 2
    assert "de.csv: dist, line 3: expected decimal commas, as in the rest of the file, got '1.234'" in errors
    for cure in (text.replace(".", ""), text.replace(".", ",")):
        (tmp_path / "de.csv").write_text(cure)
        assert run(*command)[0] == 0
