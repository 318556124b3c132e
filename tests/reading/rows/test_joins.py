"""Rows of several files meet by their names: at every door, in any order, or there is an error or a note."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics import compare, read
from openworld_metrics.command.columns import OWN
from openworld_metrics.loading import METRICS, metric_class
from openworld_metrics.reading.rows.joins import Sheet, joined, names_rows, order_by_key, row_names
from openworld_metrics.reading.tables import files
from openworld_metrics.reading.tables.files import Table
from tests import cases
from tests.conftest import POSITION, Run
from tests.reading.page import read_page

SCORES, LABELS = [0.1, 0.25, 0.2, 0.5, 0.3, 0.6, 0.4, 0.7], [0, 1] * 4
NAMES = [f"im{i}.png" for i in range(8)]
ORDER = [5, 2, 7, 0, 3, 6, 1, 4]


# the header of the names in each of three files, and the names of n rows
KEYS: Mapping[str, tuple[tuple[str, str, str], Callable[[np.random.Generator, int], Sequence[Any]]]] = {
    "words": (("image", "image", "image"), lambda rng, n: [f"im{i}.png" for i in rng.permutation(n)]),
    "words under other headers": (
        ("a", "file name", "c"),
        lambda rng, n: [f"im{i}" for i in rng.permutation(10 * n)[:n]],
    ),
    "numbers": (("id", "id", "id"), lambda rng, n: [int(i) for i in rng.permutation(10 * n)[:n]]),
    "numbers that are words in part": (
        ("id", "ids", "ID"),
        lambda rng, n: [f"{i:04}" for i in rng.permutation(10 * n)[:n]],
    ),
    "numbers under other headers": (("id", "image_id", ""), lambda rng, n: [int(i) for i in rng.permutation(n)]),
    "an index": (("", "", "Unnamed: 0"), lambda rng, n: [int(i) for i in rng.permutation(n)]),
    "dates": (("t", "t", "t"), lambda rng, n: [f"2024-01-{day + 1:02}" for day in rng.permutation(n)]),
    "a blank": (("name", "name", "name"), lambda rng, n: ["", *(f"x{i}" for i in range(1, n))]),
}


WRITERS: Mapping[str, Callable[[Path, Mapping[str, Any]], object]] = {
    ".json": lambda path, lists: path.write_text(json.dumps(lists)),
    ".parquet": lambda path, lists: pq.write_table(pa.table(lists), path),
}


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("metric", METRICS)
def test_rows_of_files_in_any_order(metric: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The results of rows that are joined are those of the rows side by side; another name in one file is an error."""
    monkeypatch.setattr(files, "BATCH", 3)
    headers, draw = KEYS[kind]
    for seed in range(3):
        rng = np.random.default_rng([seed, METRICS.index(metric)])
        columns, options = cases.draw(metric, seed)
        columns = {name: cases.as_lists(column) for name, column in columns.items()}
        n = len(columns["references"])
        if n > 28 and kind == "dates":
            continue
        names = draw(rng, n)
        places, order, last_order, last = dict[str, str](), np.arange(n), np.arange(n), Path()
        for place, (column, values) in enumerate(columns.items()):
            last_order, last = rng.permutation(n), tmp_path / f"{column}{[*WRITERS][int(rng.integers(2))]}"
            order = last_order if column == "references" else order
            rows = [values[int(row)] for row in last_order]
            WRITERS[last.suffix](last, {headers[place % 3]: [names[int(row)] for row in last_order], column: rows})
            places[column] = f"{last}:{column}"
        reading = read(metric, columns=places)
        assert len(reading.notes) >= 1
        assert all(note.startswith("rows joined by ") for note in reading.notes), reading.notes
        in_order = {name: [own[int(row)] for row in order] for name, own in columns.items()}
        expected = metric_class(metric)(**options).compute(**in_order)
        assert metric_class(metric)(**options).compute(**reading.columns) == expected
        if reading.is_streamed:
            metric_in_batches = metric_class(metric)(**options)
            for _, batch in reading.batches():
                metric_in_batches.add_batch(**batch)
            assert metric_in_batches.compute() == expected
        wrong = [names[int(row)] for row in last_order]
        wrong[int(rng.integers(n))] = "another" if isinstance(names[0], str) else 10_000
        WRITERS[last.suffix](
            last, {headers[(len(columns) - 1) % 3]: wrong, column: [values[int(row)] for row in last_order]}
        )
        with pytest.raises(ValueError, match=r"expected in .* the .* names of .*; to take rows as they stand, use by"):
            read(metric, columns=places)
        assert read(metric, columns=places, by_position=True).notes == []


@pytest.mark.parametrize("metric", METRICS)
def test_files_and_pages_in_any_order(metric: str, tmp_path: Path) -> None:
    """The same without flags, in Python and on a page, where the first file has the order of the results."""
    for seed in range(3):
        rng = np.random.default_rng([seed, METRICS.index(metric)])
        columns, options = cases.draw(metric, seed)
        lists = {name: cases.as_lists(column) for name, column in columns.items()}
        n = len(lists["references"])
        paths, orders = [], []
        for column, values in sorted(lists.items()):
            orders.append(rng.permutation(n).tolist())
            paths.append(tmp_path / f"{column}.json")
            rows = {"image": [f"im{row}" for row in orders[-1]], column: [values[row] for row in orders[-1]]}
            paths[-1].write_text(json.dumps(rows))
        in_order = {name: np.asarray(values, object)[orders[0]].tolist() for name, values in lists.items()}
        choices: dict[str, Any] = {"columns": {name: name for name in lists}, "read_as": "automatic"}
        expected = metric_class(metric)(**options).compute(**in_order)
        for reading in (read(metric, paths, **choices), read_page(metric, [paths], {name: [name] for name in lists})):
            assert reading.notes == ["rows joined by image"]
            assert metric_class(metric)(**options).compute(**reading.columns) == expected
        rows = json.loads(paths[-1].read_text())
        rows["image"][int(rng.integers(n))] = "another"
        paths[-1].write_text(json.dumps(rows))
        message = r"expected in image the .* names of image in "
        with pytest.raises(ValueError, match=message):
            read(metric, paths, **choices)
        with pytest.raises(ValueError, match=message):
            read_page(metric, [paths])


@pytest.mark.parametrize("metric", METRICS)
def test_models_in_any_order(metric: str, run: Run, tmp_path: Path) -> None:
    """The comparison of two models, and the numbers of one, do not depend on the order of any file."""
    rng = np.random.default_rng(METRICS.index(metric))
    columns, options = cases.draw(metric, 3)
    lists = {name: cases.as_lists(column) for name, column in columns.items()}
    n = len(lists["references"])
    more = [part for key, value in options.items() for part in ("--option", f"{key}={listed(value)}")]
    models = {name: values for name, values in lists.items() if name in OWN}
    other = rng.permutation(n).tolist()
    files = {f"first-{name}": values for name, values in models.items()}
    files |= {f"second-{name}": [values[row] for row in other] for name, values in models.items()}
    files |= {name: values for name, values in lists.items() if name not in OWN}
    printed = []
    for is_moved in (False, True):
        flags = []
        for name, values in files.items():
            order = rng.permutation(n).tolist() if is_moved else [*range(n)]
            Path(f"{name}.json").write_text(
                json.dumps({"id": [7 * row for row in order], "x": [values[row] for row in order]})
            )
            flags += [f"--{name.replace('_', '-')}", f"{name}.json:x"]
        code, output, errors = run("compare", metric, *flags, *more, "--n-resamples", "20")
        assert (code, errors) == (0, "openworld-metrics: note: rows joined by id\n"), errors
        pairs = [flags[start : start + 2] for start in range(0, len(flags), 2)]
        ours = [part.replace("--first-", "--") for pair in pairs if "--second-" not in pair[0] for part in pair]
        code, numbers, errors = run("compute", metric, *ours, *more)
        assert (code, "rows joined by id" in errors) == (0, True), errors
        printed.append((output, numbers))
    assert printed[0] == printed[1]


def listed(value: Any) -> Any:
    return [*value] if isinstance(value, (list, tuple)) else value


def frame(order: Sequence[int] = range(8), **columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"image": NAMES, **columns}).iloc[[*order]]


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two files with a column image, in different orders: an AUROC of 0.875 by name, of 0.125 by position."""
    monkeypatch.chdir(tmp_path)
    frame(label=LABELS).to_csv("labels.csv", index=False)
    frame(ORDER, score=SCORES).to_csv("scores.csv", index=False)
    frame(score=SCORES, label=LABELS).to_csv("both.csv", index=False)
    frame(ORDER, score=SCORES, label=LABELS).to_csv("b.csv", index=False)
    frame(score=SCORES).replace("im3.png", "im9.png").to_csv("other.csv", index=False)
    return tmp_path


FLAGS = ("--predictions", "scores.csv:score", "--references", "labels.csv:label")
OOD = ("compute", "ood_bench", "--metrics", "auroc")
MISSING = "no 'im9.png' (8 there, 8 here, 7 in both); to take rows as they stand, use "


@pytest.mark.usefixtures("two")
class TestPublicReports:
    """The situations 1 to 7 of two files and of pictures that public reports have."""

    def test_flags_and_files(self, run: Run) -> None:
        for arguments in (FLAGS, ("scores.csv", "labels.csv"), ("labels.csv", "scores.csv")):
            code, output, errors = run(*OOD, *arguments)
            assert (code, json.loads(output)) == (0, {"auroc": 0.875})
            assert errors.splitlines()[-1] == "openworld-metrics: note: rows joined by image"
        code, output, errors = run(*OOD, *FLAGS, "--by-position")
        assert (code, json.loads(output)) == (0, {"auroc": 0.125})
        assert "joined" not in errors

    def test_a_model_compared_with_itself(self, run: Run) -> None:
        flags = ("--first-predictions", "both.csv:score", "--second-predictions", "b.csv:score")
        for arguments in ((*flags, "--references", "both.csv:label"), ("both.csv", "b.csv")):
            code, output, errors = run("compare", "ood_bench", "--metrics", "auroc", *arguments)
            assert (code, json.loads(output)["difference"]) == (0, [0.0])
            assert "rows joined by image" in errors

    def test_a_row_that_one_file_lacks(self, run: Run) -> None:
        for arguments in (("other.csv", "labels.csv"), ("--predictions", "other.csv:score", *FLAGS[2:])):
            code, output, errors = run(*OOD, *arguments)
            assert (code, output) == (2, "")
            assert MISSING.replace("im9", "im9" if "labels.csv: expected" in errors else "im3") in errors
            assert run(*OOD, *arguments, "--by-position")[0] == 0  # the cure works

    def test_series_in_other_orders(self) -> None:
        columns = {"predictions": frame(ORDER, score=SCORES).score, "references": frame(label=LABELS).label}
        metric = metric_class("ood_bench")(metrics="auroc")
        for call in (metric.compute, metric.add_batch):
            with pytest.raises(ValueError, match="references: expected its index in the order of that of predictions"):
                call(**columns)
        cured = columns["references"].loc[columns["predictions"].index]
        assert metric.compute(predictions=columns["predictions"], references=cured) == {"auroc": 0.875}
        by_position = {name: column.reset_index(drop=True) for name, column in columns.items()}
        assert metric.compute(**by_position) == {"auroc": 0.125}
        with pytest.raises(ValueError, match="second_predictions: expected its index in the order of that of first_"):
            compare("ood_bench", columns["predictions"], frame(score=SCORES).score, references=LABELS)

    def test_a_threshold(self, run: Run) -> None:
        thresholds = []
        for more in ((), ("--by-position",)):
            code, output, errors = run("threshold", *FLAGS, "--tpr", "0.75", *more)
            assert (code, "rows joined by image" in errors) == (0, not more)
            thresholds.append(json.loads(output)["threshold"])
        assert thresholds == [0.41, 0.11]

    def test_a_page(self, two: Path) -> None:
        reading = read_page("ood_bench", [[two / "scores.csv", two / "labels.csv"]])
        assert reading.notes == ["rows joined by image"]
        assert metric_class("ood_bench")(metrics="auroc").compute(**reading.columns) == {"auroc": 0.875}
        with pytest.raises(ValueError, match=r"no 'im3.png'|no 'im9.png'"):
            read_page("ood_bench", [[two / "other.csv", two / "labels.csv"]])


@pytest.mark.usefixtures("two")
def test_groups_and_counts_of_other_files(run: Run) -> None:
    groups = ["near", "far", "near", "near", "far", "far", "far", "near"]
    frame([3, 0, 1, 2, 7, 6, 5, 4], set=groups, n=range(1, 9)).to_json("more.json", orient="records")
    more = ("--groups", "more.json:set", "--counts", "more.json:n")
    code, output, errors = run(*OOD, *FLAGS, *more)
    expected = metric_class("ood_bench")(metrics="auroc").compute(
        predictions=SCORES, references=LABELS, groups=groups, counts=[*range(1, 9)]
    )
    assert (code, json.loads(output)) == (0, expected)
    assert errors == "openworld-metrics: note: rows joined by image\n"


def table(**columns: Any) -> Table:
    return Table({name.replace("_", " ").strip(): np.asarray(column) for name, column in columns.items()})


def join(*tables: Table, **how: Any) -> tuple[list[Table], list[str]]:
    return joined([Sheet(f"{place}.csv", each) for place, each in enumerate(tables)], **how)[:2]


NUMBERS = np.asarray([30, 10, 20, 50])
WORDS = np.asarray(["c", "a", "b", "e"])
X = np.asarray([0.5, 0.25, 1.0, 2.0])
MOVED = [2, 0, 3, 1]
AGAIN = [2, 0, 1, 3]


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [
        (table(id=NUMBERS), table(id=NUMBERS[MOVED]), "rows joined by id"),
        (table(id=NUMBERS), table(id=NUMBERS[MOVED].astype(float)), "rows joined by id"),
        (table(id=NUMBERS), table(id=NUMBERS[MOVED].astype(str)), "rows joined by id"),
        (table(a=WORDS), table(b=WORDS[MOVED]), "rows joined by a of 0.csv and b of 1.csv"),
        (
            table(image=WORDS, id=range(4)),
            table(image=WORDS[MOVED], id=range(4)),
            "rows joined by image, not by id, which would join them otherwise",
        ),
        (table(image=WORDS, other=WORDS[AGAIN]), table(image=WORDS[MOVED]), "rows joined by image, not by other of"),
        (table(image=WORDS, rank=range(1, 5)), table(image=WORDS[MOVED], rank=[3, 1, 2, 4]), "rows joined by image"),
        (table(id=[3, 0, 1, 2]), table(index=np.asarray([3, 0, 1, 2])[MOVED]), "rows joined by id of 0.csv and index"),
    ],
)
def test_keys(first: Table, second: Table, note: str) -> None:
    first, second = (each._replace(arrays={**each.arrays, "x": x}) for each, x in ((first, X), (second, X[MOVED])))
    (one, other), notes = join(first, second)
    assert other.arrays["x"].tolist() == one.arrays["x"].tolist() == X.tolist()
    assert [said[: len(note)] for said in notes] == [note]
    (one, other), again = join(first, second, first=1)
    assert other.arrays["x"].tolist() == one.arrays["x"].tolist() == X[MOVED].tolist()
    assert len(again) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (table(x=X), table(y=X[MOVED])),  # no names at all
        (table(score=X), table(score=X[MOVED])),  # fractions
        (table(label=[0, 1]), table(label=[1, 0])),
        (table(label=["cat", "dog"]), table(pred=["dog", "cat"])),
        (table(top1=[3, 7, 5]), table(y=[7, 5, 3])),  # ids of classes
        (table(cat=X[:2], dog=X[:2], true=["cat", "dog"]), table(own=["dog", "cat"])),  # words that are headers
        (table(set=["id", "ood"]), table(kind=["ood", "id"])),
        (table(n=[0.5, 1.0]), table(n=[1.0, 0.5])),
        (table(score=["0.5", "?", "0.25", "1.5"]), table(energy=["?", "0.5", "1.5", "0.25"])),
        (table(flag=[True, False]), table(flag=[False, True])),
        (table(image=WORDS), table(x=X)),  # names on one side
        (table(Unnamed=[0, 1, 2, 3], image=WORDS), table(x=X)),
        (table(id=range(4)), table(image_id=NUMBERS)),  # a new index says no more than the position
        (table(model=["a"] * 4), table(model=["b"] * 4)),
        (table(area=[3, 5, 8, 9]), table(area=[30, 50, 80, 90])),
    ],
)
def test_no_key(first: Table, second: Table) -> None:
    (one, other), notes = join(first, second)
    assert (one.arrays, other.arrays) == (first.arrays, second.arrays)
    assert notes == [f"rows of 0.csv and 1.csv {POSITION}"]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            table(image=WORDS),
            table(image=["c", "a", "b", "x"]),
            "1.csv: expected in image the 4 names of image in 0.csv",
        ),
        (
            table(image=WORDS),
            table(image=["c", "a", "b", "x"]),
            r"got no 'e' \(4 there, 4 here, 3 in both\); to take rows",
        ),
        (table(image=WORDS), table(image=[*WORDS, "x"]), r"got 'x' too \(4 there, 5 here, 4 in both\)"),
        (table(image=WORDS), table(image=["c", "a", "b", "b"]), "each once, got 'b' 2 times;"),
        (table(image=["c", "a", "b", "b"]), table(image=WORDS), "each once, got 'b' 2 times in 0.csv;"),
        (table(image=WORDS), table(path=[f"val/{word}" for word in WORDS]), "got no 'c'"),
        (table(text=WORDS), table(text=["v", "w", "x", "y"]), "got no 'c'"),
        (table(a=WORDS), table(b=["c", "a", "x", "y"]), "expected in b the 4 names of a in 0.csv"),
        (table(id=range(4)), table(id=range(1, 5)), r"got no 0 \(4 there, 4 here, 3 in both\)"),
        (table(id=range(4)), table(id=WORDS), "got no 0"),
        (table(id=NUMBERS), table(image_id=[1, 2, 3, 5]), "got no 30"),
        (
            table(rank=[1, 2, 3, 4]),
            table(rank=[2, 1, 3, 4]),
            "rank row by row as in 0.csv, a running number, got 2 for 1",
        ),
        (
            table(video=["a", "a", "b", "b"]),
            table(video=["a", "b", "a", "b"]),
            "1.csv: expected video row by row as in 0.csv, whose names repeat and so cannot join rows, got 'b' for 'a' "
            "in row 2, in another order; to take rows as they stand",
        ),
        (table(video=["a", "a", "b", "b"]), table(video=["a", "a", "c", "c"]), "got 'c' for 'b' in row 3; to take"),
        (table(kind=["a", "a", "b", "b"]), table(kind=["a", "b", "a", "b"]), "expected kind row by row"),
        (
            table(image=WORDS, path=WORDS[AGAIN]),
            table(image=WORDS, path=WORDS),
            "1.csv: expected one way to join its rows with those of 0.csv, got two that differ, image and path",
        ),
        (table(image=WORDS, id=NUMBERS[AGAIN]), table(image=WORDS, id=NUMBERS), "got two that differ, image and id"),
    ],
)
def test_errors(first: Table, second: Table, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        join(first, second)


def test_three_tables() -> None:
    """A table without names is joined by position with others only if these have one order."""
    bare = table(x=X)
    named, moved = table(image=WORDS, y=X), table(image=WORDS[MOVED], z=X[MOVED])
    tables, notes = join(bare, named, table(image=WORDS, z=X))
    assert [each.arrays.keys() for each in tables] == [{"x"}, {"image", "y"}, {"z"}]
    assert notes == ["rows joined by image", f"rows of 0.csv and 1.csv {POSITION}"]
    with pytest.raises(
        ValueError, match=r"0.csv: expected a column that names its rows, since 1.csv and 2.csv name the"
    ):
        join(bare, named, moved)
    by_id = table(id=NUMBERS[AGAIN], w=X[AGAIN])
    (one, other, third), notes = join(moved, table(image=WORDS, id=NUMBERS, y=X), by_id)
    assert one.arrays["z"].tolist() == other.arrays["y"].tolist() == third.arrays["w"].tolist()
    assert notes == ["rows joined by image", "rows joined by id"]


def test_lines_of_rows_in_another_order(tmp_path: Path, run: Run) -> None:
    """An error names the line in the file, and so does the note on a row that is left out."""
    frame(label=LABELS).to_csv(tmp_path / "labels.csv", index=False)
    frame(ORDER, score=["?" if score == 0.7 else score for score in SCORES]).to_csv(
        tmp_path / "scores.csv", index=False
    )
    line = ORDER.index(7) + 2
    with pytest.raises(ValueError, match=rf"scores.csv: score, line {line}: '\?' is not a number"):
        read("ood_bench", [tmp_path / "labels.csv", tmp_path / "scores.csv"])
    code, output, errors = run(*OOD, "labels.csv", "scores.csv", "--leave-out")
    assert code == 0
    assert f"Left out 1 of 8 rows that could not be read: line {line}." in errors
    assert json.loads(output) == metric_class("ood_bench")(metrics="auroc").compute(
        predictions=SCORES[:7], references=LABELS[:7]
    )


def test_models_whose_references_have_no_names(two: Path, run: Run) -> None:
    """Two files in different orders cannot both have the order of a third."""
    np.save("labels.npy", LABELS)
    flags = [
        "--first-predictions",
        "both.csv:score",
        "--second-predictions",
        "b.csv:score",
        "--references",
        "labels.npy",
    ]
    code, _, errors = run("compare", "ood_bench", *flags)
    assert code == 2
    assert "b.csv: expected the rows in the order of both.csv, since the references do not name theirs" in errors
    assert run("compare", "ood_bench", *flags, "--by-position")[0] == 0
    code, output, errors = run("compare", "ood_bench", *flags[:3], "both.csv:score", *flags[4:], "--metrics", "auroc")
    assert (code, json.loads(output)["difference"]) == (0, [0.0])
    assert errors == f"openworld-metrics: note: rows of both.csv and labels.npy {POSITION}\n"


def test_samples_of_two_kinds_are_not_joined(two: Path) -> None:
    """Scores of known and of unknown samples may have names of their own."""
    frame(score=SCORES).head(3).to_csv("known.csv", index=False)
    frame(score=SCORES).tail(4).to_csv("unknown.csv", index=False)
    places = {"in-distribution scores": "known.csv:score", "OOD scores": "unknown.csv:score"}
    reading = read("ood_bench", columns=places)
    assert [side.tolist() for side in reading.columns["predictions"]] == [SCORES[:3], SCORES[4:]]
    assert reading.notes == []
    assert read("ood_bench", ["known.csv", "unknown.csv"]).columns["predictions"].tolist() == SCORES[:3] + SCORES[4:]


def test_data_frames_of_two_inputs(tmp_path: Path) -> None:
    """They are joined by their index."""
    maps = [[[0.5, 0.25], [1.0, 0.0]], [[0.5, 0.5], [0.0, 0.0]]]
    masks = [[[0, 0], [1, 0]], [[0, 0], [0, 0]]]
    (tmp_path / "maps.json").write_text(json.dumps({"name": ["a", "b"], "maps": maps}))
    (tmp_path / "masks.json").write_text(json.dumps({"name": ["b", "a"], "masks": masks[::-1]}))
    reading = read("anomaly_suite", tmp_path / "maps.json", tmp_path / "masks.json")
    assert reading.notes == ["rows joined by name"]
    assert np.asarray(reading.columns["references"]).tolist() == masks
    ours = pd.DataFrame({"predictions": SCORES}, index=NAMES)
    theirs = Table({"file": np.asarray(NAMES)[ORDER], "references": np.asarray(LABELS)[ORDER]})
    order, note = order_by_key(
        Sheet("0", Table({**ours}, {"": lambda: np.asarray(ours.index)})), Sheet("1", theirs)
    ) or ([], "")
    assert note == "rows joined by the unnamed first column of 0 and file of 1"
    assert np.asarray(ORDER)[order].tolist() == [*range(8)]


def test_a_streamed_file_in_the_order_of_the_other_stays_streamed(tmp_path: Path) -> None:
    for name, own in (("same", range(8)), ("moved", ORDER)):
        pq.write_table(
            pa.Table.from_pandas(frame(own, score=SCORES), preserve_index=False), tmp_path / f"{name}.parquet"
        )
    pq.write_table(pa.Table.from_pandas(frame(label=LABELS), preserve_index=False), tmp_path / "labels.parquet")
    for name in ("same", "moved"):
        places = {"predictions": f"{tmp_path}/{name}.parquet:score", "references": f"{tmp_path}/labels.parquet:label"}
        reading = read("ood_bench", columns=places)
        assert reading.notes == ["rows joined by image"]
        column = reading.models["score"]["predictions"]
        assert (column.order is None) == (name == "same")
        assert reading.columns["predictions"].tolist() == SCORES


def test_headers_that_name_rows() -> None:
    names = ["image", "Image ID", "imageId", "file_name", "paths", "id", "uuid", "patient_id", "frame no", "sample"]
    assert [*filter(names_rows, names)] == names
    others = ["class_id", "label_name", "model_name", "score", "image_width", "num_images_found", "dataset", "pred_id"]
    assert [*filter(names_rows, [*others, "", "n", "count", "0"])] == []
    named = [name for name, *_ in row_names(table(n=WORDS, id=NUMBERS, image=WORDS, score=X))]
    assert named == ["image", "n", "id"]
