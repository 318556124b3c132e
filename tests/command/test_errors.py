"""Whatever is wrong with a file or an option of the command line is one line on standard error, and exit code 2."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conftest import Run, without_position

# a place of predictions of accuracyk, and what is wrong with it
PLACES = {
    "folder.npy": "folder.npy: Is a directory",
    "x.pkl": "x.pkl: expected a file ending in .csv",
    "pickled.npy": "pickled.npy: expected numbers as .*, got objects",
    "pickled.npz": "pickled.npz: Object arrays cannot",
    "pickle.npz": "pickle.npz: File is not a zip file",
    "array.npz": "array.npz: File is not a zip",
    "broken.npy": "broken.npy: ",
    "broken.npz": "broken.npz: ",
    "broken.csv": "broken.csv: ",
    "broken.parquet": "broken.parquet: .*Parquet",
    "broken.json": "broken.json: expected JSON, got other text at line 1",
    "empty.npy": "empty.npy: expected numbers as",
    "empty.npz": "empty.npz: File is not a zip file",
    "empty.csv": "empty.csv: expected comma-separated .*, got",
    "empty.parquet": "empty.parquet: .* 0 bytes",
    "empty.json": "empty.json: expected JSON, got",
    "half.npy": "half.npy: ",
    "half.npz": "half.npz: File is not a zip file",
    "half.parquet": "half.parquet: ",
    "utf16.csv": "utf16.csv: expected UTF-8 text, got the byte 0xff at position 0",
    "twice.parquet:a": "twice.parquet: expected columns of different names, got 2 named 'a'",
    "good.csv:a,": "good.csv:a,: expected FILE:COLUMN,COLUMN, got",
    "structs.parquet": "structs.parquet: predictions: expected numbers, got {'y': 1} at position 0",
    "words.parquet": "words.parquet: predictions: expected class ids, as references are, got 'a'",
    "large.json": "large.json: Exceeds the limit",
    "deep.json": "deep.json: expected fewer nested lists",
    "link.npy": "link.npy: Too many levels of symbolic",
    "pandas.csv": "pandas.csv: expected names or values in .*, got 0,1,2, .* as in FILE:0,1,2, or put a line of nam",
    "pair.csv:0,1": "pair.csv: expected names or values in .*, got 0,1, which may be either: put a line of names",
    "either.csv:0": "either.csv: expected names or values in .*, got 1,0, which may be either: put a line of names",
    "either.csv:2": "expected a column 2, got 0, 1",
    "gaps.csv:a,b": "gaps.csv: a, line 3: this cell is empty or NaN. Fill it in, or leave the row out",
    "gaps.parquet": "gaps.parquet: predictions: expected no missing values in lists, got 1",
    "good.csv": "good.csv: expected a column predictions, got a, b; name others as in FILE:COLUMN,COLUMN",
    "good.csv:c": "good.csv:c: expected a column c, got",
    "text.csv:a,b": "text.csv:a,b: predictions: expected class ids, as references are, got 'a'",
    "-": "-: expected JSON or comma-separated values, got",
    "\x1b]0;title\x07\u202e.npy": "openworld-metrics: \\\\x1b\\]0;title\\\\x07\\\\u202e.npy: No such file or directory",
}
# a place of scores of ood_bench, beside a column label
PAIRS = {
    "cells.csv:word": "word, line 4: 'n/k' is not a number; to leave out 1 of 3 rows, use --leave-out",
    "cells.csv:blank": "cells.csv: blank, line 3 and 1 more: this cell is empty or NaN; to leave out 2 of 3 rows",
    "null.json:score": "null.json: score, row 2: this cell is empty or NaN; to leave out 1 of 2 rows",
    "long.parquet:gap": "long.parquet: gap: expected no missing values, got 1, the first at position 15000",
    "long.parquet:score": "long.parquet: score, row 6809: this cell is empty or NaN.*, counted from row 8192",
}
WRONG = {
    "no such command": (["conpute"], "got 'conpute'; did you mean 'compute'?"),
    "no such flag": (["compute", "openauc", "--refs", "x.npy"], "No such option"),
    "no such file": (["compute", "accuracyk", "--predictions", "none.npy"], "none.npy: No such file or directory"),
    "flipped bits": (
        ["compute", "accuracyk", "--predictions", "flipped.parquet", "--references", "flipped.parquet"],
        "flipped.parquet: .*CRC checksum",
    ),
    "NaN in json": (["compute", "autkc", "--predictions", "nan.json"], "predictions: expected no NaN, got NaN at"),
    "a folder to save to": (["compute", "accuracyk", "--save", "folder.json"], "'folder.json' is a directory"),
    "what is read to save to": (
        ["compute", "accuracyk", "--predictions", "nan.json", "--save", "nan.json"],
        "nan.json: expected another file to write to, got one that is read",
    ),
    "a link to what is read": (
        ["compute", "accuracyk", "--predictions", "nan.json:a", "--references", "good.npy", "--save", "other.json"],
        "other.json: expected another file to write to, got one that is read",
    ),
    "a column of openauc": (
        ["compute", "openauc", "--predictions", "good.csv:a,b"],
        "open_scores: openauc needs the columns predictions, references, open_scores; got no open_scores",
    ),
    "Latin-1": (
        ["compute", "ood_bench", "--predictions", "latin.csv:0", "--references", "latin.csv:1", "--groups", "l.csv:g"],
        "l.csv: g: expected UTF-8 text, got b'caf\\\\xe9' at position 1",
    ),
    "a bad line": (
        ["compute", "ood_bench", "--predictions", "bad.jsonl:score"],
        "bad.jsonl: expected JSON in each line, got other text in line 3",
    ),
    "lengths": (
        ["compute", "accuracyk", "--predictions", "good.parquet", "--references", "good.npy"],
        "expected columns of one length, got 2 predictions, 3 references",
    ),
    "an option of evaluate": (["compute", "accuracyk", "--option", "num_process=2"], "accuracyk takes k_list, .*, got"),
    "nested too deep": (["compute", "autkc", "--option", "ties=" + "(" * 9999], "ties: expected one of"),
    "another deep one": (["compute", "autkc", "--option", "ties=" + "-" * 99999 + "1"], "ties: expected one of"),
    "no value": (["compute", "accuracyk", "--option", "k_list"], "expected KEY=VALUE, got 'k_list'"),
    "a bad value": (
        ["compute", "accuracyk", "--predictions", "good.parquet", "--references", "-", "--option", "k_list=9"],
        "k_list: expected an int of at least 1 and at most 2, got 9",
    ),
    "an unwritable file": (
        ["compute", "accuracyk", "--predictions", "good.csv:a,b", "--references", "-", "--save", "no/such/folder.json"],
        "no/such: No such file or directory",
    ),
    "an unknown picture": (
        ["compute", "accuracyk", "--predictions", "good.csv:a,b", "--references", "-", "--plot", "x.docx"],
        "x.docx: expected a file ending in .*.png",
    ),
    "no ending": (["compute", "accuracyk", "--plot", "x"], "x: expected a file ending in .*.png"),
    "a place for a picture": (["compute", "accuracyk", "--plot", "no/such/x.png"], "no/such: No such file or"),
    "a long option": (["compute", "accuracyk", "--option", "k" * 100_000 + "=1"], "accuracyk takes k_list.* … .*k'$"),
}


@pytest.fixture
def bad_files(tmp_path: Path) -> None:
    np.save(tmp_path / "pickled.npy", np.asarray([{}, None]), allow_pickle=True)
    np.savez(tmp_path / "pickled.npz", predictions=np.asarray([{}, None]))
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps({"predictions": [1, 2, 3]}))
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "other.json").symlink_to("nan.json")
    for ending in ("npy", "npz", "csv", "parquet", "json", "pt"):
        (tmp_path / f"broken.{ending}").write_bytes(b"nonsense\n1,2,3")
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "gaps.csv").write_text("a,b\n1,2\n,4\n")
    (tmp_path / "good.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "text.csv").write_text("a,b\na,b\nc,d\n")
    pq.write_table(pa.table({"predictions": [[1, 2], [None, 3], [4, 5]]}), tmp_path / "gaps.parquet")
    pq.write_table(pa.table({"predictions": [[1, 2], [2, 3]]}), tmp_path / "good.parquet")
    np.save(tmp_path / "good.npy", np.arange(3))
    np.savez(tmp_path / "good.npz", np.arange(3))
    (tmp_path / "array.npz").write_bytes((tmp_path / "good.npy").read_bytes())
    numbers = np.arange(3000) / 8
    pq.write_table(
        pa.table({"x": numbers}),
        tmp_path / "flipped.parquet",
        use_dictionary=False,
        compression="none",
        write_page_checksum=True,
    )
    content = (tmp_path / "flipped.parquet").read_bytes()
    (tmp_path / "flipped.parquet").write_bytes(content.replace(numbers[1000].tobytes(), numbers[2000].tobytes(), 1))
    for ending in ("npy", "npz", "csv", "parquet", "json"):
        (tmp_path / f"empty.{ending}").touch()
    for ending in ("npy", "npz", "parquet"):
        whole = (tmp_path / f"good.{ending}").read_bytes()
        (tmp_path / f"half.{ending}").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "utf16.csv").write_text("a,b\n1,2\n", encoding="utf-16")
    (tmp_path / "either.csv").write_text("1,0\n2,0\n4,1\n")
    (tmp_path / "cells.csv").write_text("word,blank,label\n0.1,0.5,0\n0.2,,1\nn/k,nan,1\n")
    (tmp_path / "na.csv").write_text("score,rate,label\n0.1,0.1,0\nNA,nan,1\n")
    (tmp_path / "null.json").write_text('[{"score": 0.1, "label": 0}, {"score": null, "label": 1}]')
    (tmp_path / "bad.jsonl").write_text('{"score": 0.1}\n\n{"score": 0.2\n')
    (tmp_path / "latin.csv").write_text("0.5,0\n0.1,1\n")
    (tmp_path / "l.csv").write_bytes(b"g\ntea\ncaf\xe9\n")
    scores = np.arange(20_000) / 20_000
    table = {"gap": pa.array(scores, mask=scores == 0.75), "score": np.where(scores == 0.75, np.nan, scores)}
    pq.write_table(pa.table({**table, "label": np.arange(20_000) % 2}), tmp_path / "long.parquet")
    (tmp_path / "halves.csv").write_text("0.5,0\n0.7,1\n")
    (tmp_path / "pandas.csv").write_text("0,1,2\n0.2,0.7,0.1\n0.3,0.6,0.1\n")
    (tmp_path / "pair.csv").write_text("0,1\n0.2,0.8\n0.3,0.7\n")
    (tmp_path / "nan.json").write_text("[[NaN, 1.0, 2.0], [0, 0, 1], [0, 0, 1]]")
    (tmp_path / "large.json").write_text("9" * 5000)
    (tmp_path / "deep.json").write_text("[" * 200_000)
    (tmp_path / "link.npy").symlink_to("link.npy")
    pq.write_table(pa.table([pa.array([1, 2, 3])] * 2, names=["a", "a"]), tmp_path / "twice.parquet")
    pq.write_table(pa.table({"x": [{"y": 1}, {"y": 2}, {"y": 3}]}), tmp_path / "structs.parquet")
    pq.write_table(pa.table({"x": pa.array(["a", "b", "a"]).dictionary_encode()}), tmp_path / "words.parquet")


def assert_one_line(failed: tuple[int, str, str], pattern: str) -> None:
    code, output, errors = failed
    errors = without_position(errors)
    assert (code, output) == (2, ""), errors
    assert errors.count("\n") == 1
    assert errors.startswith("openworld-metrics: ")
    assert len(errors) <= 501
    assert errors[:-1].isprintable()
    with pytest.raises(ValueError, match=pattern):
        raise ValueError(errors)


@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize("place", PLACES)
def test_a_place_that_cannot_be_read_is_one_line(place: str, run: Run) -> None:
    failed = run("compute", "accuracyk", "--predictions", place, "--references", "good.npy")
    assert_one_line(failed, PLACES[place])


@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize("place", PAIRS)
def test_a_cell_that_cannot_be_read_is_one_line(place: str, run: Run) -> None:
    labels = f"{place.partition(':')[0]}:label"
    assert_one_line(run("compute", "ood_bench", "--predictions", place, "--references", labels), PAIRS[place])


@pytest.mark.usefixtures("bad_files")
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_one_line(wrong: str, run: Run) -> None:
    arguments, pattern = WRONG[wrong]
    needs_references = "--predictions" in arguments and "--references" not in arguments
    more = ["--references", "good.npy"] if needs_references else []
    assert_one_line(run(*arguments, *more, stdin="[1, 2]"), pattern)


@pytest.mark.usefixtures("bad_files")
def test_pt_files_are_never_unpickled(run: Run, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"predictions": Path("x")}, tmp_path / "pickled.pt")
    for name in ("pickled", "broken"):
        failed = run("compute", "accuracyk", "--predictions", f"{name}.pt", "--references", "good.npy")
        assert_one_line(failed, f"{name}.pt: expected tensors, or a dict of tensors")


@pytest.mark.parametrize("header", ["{'descr': '|S0', 'shape': (-1,)", "{'descr': '<f8', 'shape': (-2,)"])
def test_a_header_that_would_end_the_process(header: str, run: Run, tmp_path: Path) -> None:
    text = f"{header}, 'fortran_order': False, }}".ljust(117) + "\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(16))
    code, _, errors = run("compute", "ood_bench", "--predictions", "x.npy", "--references", "x.npy")
    assert code == 2
    assert "x.npy: expected numbers as numpy.save writes them" in errors
