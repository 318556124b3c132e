"""The page, the command and Python read the same tables: the same columns, names, census, guesses and errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics import read
from openworld_metrics.faces.page.form import in_form
from openworld_metrics.faces.page.worker import look
from openworld_metrics.loading import METRICS, metric_class
from openworld_metrics.reading.columns.cells import number_at_end, stem
from openworld_metrics.reading.columns.meaning import Meaning
from openworld_metrics.reading.columns.metrics import layout_of
from openworld_metrics.reading.cures import sentence_of, spelled
from openworld_metrics.reading.read import takes
from openworld_metrics.reading.tables import files
from tests.conftest import Run
from tests.reading.page import read_page, request


class Case(NamedTuple):
    """Files of a metric by name, the columns that they hold, or the error that they give, and choices."""

    metric: str
    files: Mapping[str, Any]
    expected: Mapping[str, Any] | str
    guesses: str = ""
    choices: Mapping[str, Any] = {}
    options: Mapping[str, Any] = {}


TABLE = "msp,label\n0.9,0\n0.2,1\n0.7,0\n0.8,1\n"
SCORES, LABELS = [0.9, 0.2, 0.7, 0.8], [0, 1, 0, 1]
OOD = {"predictions": SCORES, "references": LABELS}
LOGITS = [[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.1, 0.1, 0.8]]
NAMED = "cat,dog,fox,true_class\n" + "".join(
    f"{','.join(map(str, row))},{word}\n" for row, word in zip(LOGITS, ("cat", "dog", "fox", "cat"))
)
TOPK = {"predictions": LOGITS, "references": [0, 1, 2, 0]}
OPEN = {**TOPK, "references": [0, 1, 2, -1], "open_scores": [0.1, 0.4, 0.2, 0.9]}
OPEN_TABLE = "\n".join(
    f"{line},{more}"
    for line, more in zip(NAMED.replace("fox,cat", "fox,elk").splitlines(), ("open_score", 0.1, 0.4, 0.2, 0.9))
).replace("0.1,0.1,0.8,cat", "0.1,0.1,0.8,unknown")

OF_NAMED = {"predictions": [[2, 1], [0, 3], [1, 1]], "references": [0, 1, -1], "open_scores": [0.5] * 3}
OPEN_LOGITS = "cat,dog,true_class,{}\n2,1,cat,0.5\n0,3,dog,0.5\n1,1,unknown,0.5\n"
MAPS, MASKS = [[[0.5, 0.25], [1.0, 0.0]], [[0.5, 0.5], [0.0, 0.0]]], [[[0, 0], [1, 0]], [[0, 0], [0, 0]]]
TRUE: dict[str, list[Any]] = {"boxes": [[0.0, 0.0, 4.0, 4.0]], "labels": [0]}
FOUND: dict[str, list[Any]] = {
    "boxes": [*TRUE["boxes"], [5.0, 5.0, 9.0, 9.0]],
    "labels": [0, -1],
    "scores": [0.5, 0.25],
}

CASES = {
    "a table": Case("ood_bench", {"x.csv": TABLE}, OOD),
    "tabs and decimal commas": Case("ood_bench", {"x.tsv": TABLE.replace(",", "\t").replace(".", ",")}, OOD),
    "words for labels": Case("ood_bench", {"x.csv": "msp,set\n0.9,ID\n0.2,ood\n0.7,in-distribution\n0.8,OOD\n"}, OOD),
    "names of classes and a word for unknown": Case(
        "ood_bench",
        {"x.csv": "msp,label\n0.9,cat\n0.2,unknown\n0.7,dog\n0.8,unknown\n"},
        OOD,
        "references are names of classes, and 'unknown' marks unknown samples",
    ),
    "a name of a class beside a word for known": Case(
        "ood_bench", {"x.csv": "msp,label\n0.9,id\n0.2,ood\n0.7,idd\n0.8,ood\n"}, "label, line 4: 'idd' is not a label"
    ),
    "true and false": Case("ood_bench", {"x.csv": "msp,is_ood\n0.9,false\n0.2,true\n0.7,false\n0.8,true\n"}, OOD),
    "the only column of two values": Case(
        "ood_bench", {"x.csv": "msp,a,b,c\n0.9,0,1,5\n0.2,1,1,5\n0.7,0,1,6\n0.8,1,1,7\n"}, OOD, "references is a"
    ),
    "percent": Case("ood_bench", {"x.csv": "msp,label\n90%,0\n20 %,1\n70%,0\n80%,1\n"}, OOD),
    "a confidence": Case(
        "ood_bench",
        {"x.csv": TABLE.replace("msp", "max_softmax")},
        {**OOD, "predictions": [-score for score in SCORES]},
        "predictions is -max_softmax",
    ),
    "a minus": Case(
        "ood_bench",
        {"x.csv": TABLE},
        {**OOD, "predictions": [-score for score in SCORES]},
        choices={"columns": {"predictions": ["-msp"]}},
    ),
    "two sides by names": Case(
        "ood_bench",
        {"id.csv": "score\n0.9\n0.7\n", "ood.csv": "score\n0.2\n0.8\n0.4\n"},
        {"predictions": [0.9, 0.7, 0.2, 0.8, 0.4], "references": [0, 0, 1, 1, 1]},
        "id.csv holds known samples, ood unknown ones, by their names",
    ),
    "two sides of arrays": Case(
        "ood_bench",
        {"known.npy": [0.9, 0.7], "unknown_svhn.npy": [0.2, 0.8, 0.4]},
        {"predictions": [0.9, 0.7, 0.2, 0.8, 0.4], "references": [0, 0, 1, 1, 1]},
        "known.npy holds known samples",
    ),
    "two sides, one by its name": Case(
        "ood_bench",
        {"id.csv": "score\n0.9\n", "x.csv": "score\n0.2\n"},
        {"predictions": [0.9, 0.2], "references": [0, 1]},
        "id.csv holds known samples, x unknown ones",
    ),
    "two sides by OpenOOD's benchmark": Case(
        "ood_bench",
        {"CIFAR10.csv": "score\n0.9\n0.7\n", "svhn.csv": "score\n0.2\n0.8\n0.4\n"},
        {"predictions": [0.9, 0.7, 0.2, 0.8, 0.4], "references": [0, 0, 1, 1, 1]},
        "CIFAR10.csv holds known samples, svhn unknown ones, by their names",
    ),
    "a folder for each side": Case(
        "ood_bench",
        {"x.zip": {"id/a.csv": "score\n0.9\n0.7\n", "ood/b.csv": "score\n0.2\n", "ood/c.csv": "score\n0.8\n"}},
        {"predictions": [0.9, 0.7, 0.2, 0.8], "references": [0, 0, 1, 1], "groups": [None, None, "b", "c"]},
        "a.csv holds known samples, b, c unknown ones, by their names",
    ),
    "folders of one length, whose rows may be the same": Case(
        "ood_bench",
        {"x.zip": {"in/labels.csv": "0\n1\n1\n", "out/scores.csv": "0.9\n0.2\n0.8\n"}},
        {"predictions": [0.9, 0.2, 0.8], "references": [0, 1, 1]},
    ),
    "a folder for each side, with files of one name": Case(
        "ood_bench",
        {"x.zip": {f"{folder}/a.csv": f"score\n{score}\n" for folder, score in (("known", 0.9), ("svhn", "0.2\n0.4"))}},
        {"predictions": [0.9, 0.2, 0.4], "references": [0, 1, 1]},
        "known/a.csv holds known samples, svhn/a unknown ones, by their names",
    ),
    "two sides that do not say which": Case(
        "ood_bench",
        {"a.csv": "score\n0.9\n0.7\n", "b.csv": "score\n0.2\n0.8\n0.4\n"},
        "a.csv, b.csv: expected names that say which file holds known samples",
    ),
    "known rows with a set": Case(
        "ood_bench",
        {"x.csv": "msp,label,dataset\n0.9,0,cifar10\n0.2,1,svhn\n0.7,0,cifar10\n0.8,1,texture\n"},
        {**OOD, "groups": [None, "svhn", None, "texture"]},
        "samples of cifar10 are known, and belong to every group",
    ),
    "known rows of a set of unknown ones": Case(
        "ood_bench",
        {"x.csv": "msp,label,dataset\n0.9,0,cifar10\n0.2,1,svhn\n0.7,0,svhn\n0.8,1,svhn\n"},
        {**OOD, "groups": [None, "svhn", "svhn", "svhn"]},
    ),
    "both sides beside labels": Case(
        "ood_bench", {"x.npz": {"score": SCORES, "label": LABELS, "scores_in": [0.5], "scores_out": [1.0, 2.0]}}, OOD
    ),
    "counts": Case(
        "ood_bench", {"x.csv": "msp,label,count\n0.9,0,2\n0.2,1,1\n0.7,0,1\n0.8,1,3\n"}, {**OOD, "counts": [2, 1, 1, 3]}
    ),
    "names of classes": Case(
        "accuracyk", {"x.csv": NAMED}, TOPK, "references are names of the columns of class scores"
    ),
    "names of classes, one unknown": Case("openauc", {"x.csv": OPEN_TABLE}, OPEN),
    "logits of named classes beside open scores": Case(
        "openauc", {"x.csv": OPEN_LOGITS.format("open_score")}, OF_NAMED, "predictions is cat and dog"
    ),
    "logits of named classes beside scores of another name": Case(
        "openauc", {"x.csv": OPEN_LOGITS.format("s")}, "name the columns of predictions"
    ),
    "logits of named classes beside scores that are chosen": Case(
        "openauc", {"x.csv": OPEN_LOGITS.format("s")}, OF_NAMED, choices={"columns": {"open_scores": ["s"]}}
    ),
    "ids of classes, unknown below 0": Case(
        "ood_bench",
        {"x.csv": "msp,label\n0.9,0\n0.2,-1\n0.7,3\n0.8,-1\n"},
        OOD,
        "references are class ids, of which those below 0 are unknown",
    ),
    "a name that is no class": Case(
        "accuracyk",
        {"x.csv": NAMED.replace("fox\n", "elk\n")},
        "references: expected names of the columns of scores, cat, dog, fox, or a word for unknown, got 'elk'",
    ),
    "scores of classes beside others": Case(
        "accuracyk",
        {"x.csv": "age,cat,dog,true_class\n7,0.5,0.2,cat\n8,0.1,0.4,dog\n"},
        "name the columns of predictions",
    ),
    "scores of classes that are chosen": Case(
        "accuracyk",
        {"x.csv": "age,cat,dog,true_class\n7,0.5,0.2,cat\n8,0.1,0.4,dog\n"},
        {"predictions": [[0.5, 0.2], [0.1, 0.4]], "references": [0, 1]},
        choices={"columns": {"predictions": ["cat", "dog"]}},
    ),
    "scores of classes beside the predicted one": Case(
        "accuracyk",
        {"x.csv": "pred,logit_0,logit_1,label\n0,0.5,0.25,0\n1,0.25,0.5,0\n"},
        {"predictions": [[0.5, 0.25], [0.25, 0.5]], "references": [0, 0]},
        "predictions is logit_0 … logit_1",
    ),
    "scores of classes without one": Case(
        "accuracyk",
        {"x.csv": "p_1,p_2,p_4,label\n0.5,0.2,0.3,0\n0.1,0.4,0.5,1\n"},
        "predictions: no column looks like it; to pick one of p_1, p_2, p_4, label, use",
    ),
    "classes from 1": Case(
        "accuracyk",
        {
            "x.csv": "p_1,p_2,p_3,label\n"
            + "".join(f"{','.join(map(str, row))},{1 + i % 3}\n" for i, row in enumerate(LOGITS))
        },
        TOPK,
        "references count classes from 1",
    ),
    "logits and labels": Case("accuracyk", {"x.npz": {"logits": LOGITS, "labels": [0, 1, 2, 0]}}, TOPK),
    "arrays of two files": Case("accuracyk", {"logits.npy": LOGITS, "labels.npy": [0, 1, 2, 0]}, TOPK),
    "records": Case(
        "ood_bench", {"x.jsonl": "".join(json.dumps(dict(msp=s, label=t)) + "\n" for s, t in zip(SCORES, LABELS))}, OOD
    ),
    "parquet": Case("ood_bench", {"x.parquet": {"msp": SCORES, "label": LABELS}}, OOD),
    "a row to leave out": Case(
        "ood_bench",
        {"x.csv": TABLE + "?,1\n"},
        "x.csv: msp, line 6: '?' is not a number; to leave out 1 of 5 rows",
    ),
    "a row that is left out": Case("ood_bench", {"x.csv": TABLE + "?,1\n"}, OOD, choices={"leave_out": True}),
    "a record that is left out": Case(
        "ood_bench",
        {"x.json": json.dumps({"msp": [*SCORES, None], "label": [*LABELS, 1]})},
        OOD,
        "Left out 1 of 5 rows that could not be read: row 5.",
        choices={"leave_out": True},
    ),
    "a first row without names": Case("ood_bench", {"x.csv": "0.9,cat\n0.2,ood\n"}, "expected names or values"),
    "a first row of words for the sides": Case(
        "ood_bench", {"x.csv": "0.9,id\n0.2,ood\n"}, {"predictions": [0.9, 0.2], "references": [0, 1]}
    ),
    "an unknown ending": Case("ood_bench", {"x.pkl": "?"}, "x.pkl: expected a file ending in .csv, .tsv"),
    "two columns of one name": Case(
        "ood_bench", {"x.csv": "a,a,label\n1,2,0\n"}, "expected columns of different names"
    ),
    "names of classes, for the curve of top-k": Case("autkc", {"x.csv": NAMED}, TOPK),
    "names of classes, for the mean of classes": Case("macro_open_f", {"x.csv": OPEN_TABLE}, OPEN),
    "names of classes, for all samples": Case("micro_open_f", {"x.csv": OPEN_TABLE}, OPEN),
    "tensors": Case("ood_bench", {"x.pt": {"msp": SCORES, "label": LABELS}}, OOD),
    "maps and masks in an archive of arrays": Case(
        "anomaly_suite", {"x.npz": {"maps": MAPS, "masks": MASKS}}, {"predictions": MAPS, "references": MASKS}
    ),
    "maps and masks in arrays": Case(
        "anomaly_suite", {"maps.npy": MAPS, "masks.npy": MASKS}, {"predictions": MAPS, "references": MASKS}
    ),
    "boxes in a table": Case(
        "openset_detection",
        {"x.parquet": {"predictions": [FOUND], "references": [TRUE]}},
        {"predictions": [FOUND], "references": [TRUE]},
        "Guessed: known classes 0 (predicted by the detector); if",
    ),
    "an archive": Case("ood_bench", {"x.zip": {"x.csv": TABLE}}, OOD),
}


def save_tensors(path: Path, content: Mapping[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    torch.save({name: torch.tensor(column, dtype=torch.float64) for name, column in content.items()}, path)


WRITERS: dict[str, Callable[[Path, Any], object]] = {
    ".npy": lambda path, content: np.save(path, content),
    ".npz": lambda path, content: np.savez(path, allow_pickle=False, **dict(content)),
    ".parquet": lambda path, content: pd.DataFrame(content).to_parquet(path),
    ".pt": save_tensors,
}


def write(path: Path, content: Any) -> None:
    if path.suffix == ".zip":
        import zipfile

        with zipfile.ZipFile(path, "w") as archive:
            for name, text in content.items():
                archive.writestr(name, text)
    else:
        WRITERS.get(path.suffix, Path.write_text)(path, content)


def plain(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(column, dtype=object).tolist() for name, column in columns.items()}


@pytest.mark.parametrize("name", CASES)
def test_three_doors(name: str, run: Run, tmp_path: Path) -> None:
    case, paths = CASES[name], []
    for file, content in case.files.items():
        write(Path(file), content)
        paths.append(Path(file))
    chosen = dict(case.choices.get("columns", {}))
    leave_out = bool(case.choices.get("leave_out"))
    arguments = [f"--{column.replace('_', '-')}={','.join(names)}" for column, names in chosen.items()]
    options = [part for name, value in case.options.items() for part in ("--option", f"{name}={json.dumps(value)}")]
    command = ["compute", case.metric, *map(str, paths), *arguments, *options, *["--leave-out"] * leave_out]
    if isinstance(case.expected, str):
        with pytest.raises((ValueError, TypeError)) as raised:
            read(case.metric, paths, **case.choices)
        with pytest.raises((ValueError, TypeError)) as on_page:
            read_page(case.metric, [paths], chosen, leave_out=leave_out)
        assert case.expected in str(raised.value)
        assert case.expected in str(on_page.value)
        code, output, errors = run(*command)
        assert (code, output) == (2, "")
        assert case.expected in errors
        return
    reading = read(case.metric, paths, **case.choices)
    held = read_page(case.metric, [paths], chosen, leave_out=leave_out)
    assert plain(reading.columns) == plain(case.expected)
    assert [*reading.models] == [*held.models]
    assert plain(held.columns) == plain(case.expected)
    for field in ("guesses", "notes", "samples", "census", "contents"):
        assert getattr(held, field) == getattr(reading, field), field
    assert case.guesses in "; ".join((*reading.guesses, *reading.notes))
    code, output, errors = run(*command)
    assert code == 0, errors
    implied = {**reading.options, **case.options}
    assert json.loads(output) == metric_class(case.metric)(**implied).compute(**reading.columns)
    for sentence in (*reading.guesses, *reading.notes):
        assert sentence_of(sentence).removesuffix(".") in errors  # each door spells the cure in its way


def test_cases_have_every_metric_and_format() -> None:
    assert {case.metric for case in CASES.values()} == {*METRICS}
    assert {Path(file).suffix for case in CASES.values() for file in case.files} > {*files.NAMED}


def test_the_census_of_rows_adds_up(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for number in range(50):
        size = int(rng.integers(6, 30))
        wrong = rng.random(size) < 0.3
        wrong[:4] = False
        cells = ["?" if bad else f"{score:.3f}" for bad, score in zip(wrong, rng.random(size))]
        rows = "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells))
        path = tmp_path / f"{number}.csv"
        path.write_text(f"score,label\n{rows}")
        reading = read("ood_bench", path, leave_out=True)
        assert reading.census.there("rows") == size
        assert len(reading.columns["predictions"]) == reading.census.used["rows"] == size - np.count_nonzero(wrong)
        assert sum(map(len, reading.census.left_out.values())) == np.count_nonzero(wrong)


@pytest.mark.parametrize("metric", METRICS)
def test_no_input_and_no_place(metric: str) -> None:
    """Errors say what `read` takes, and name the input."""
    with pytest.raises(ValueError, match=f"inputs: expected a file, .* for .*references.* of {metric}; got none"):
        read(metric)
    for columns in ({}, {"references": None}):
        with pytest.raises(ValueError, match="got none"):
            read(metric, columns=columns)
    for wrong in (3, [3], None, 0.5):
        came = 3 if wrong == [3] else wrong
        with pytest.raises(TypeError, match=f"inputs: expected a file, .*, or a list of them, got {came}"):
            read(metric, wrong)


def test_sides_that_are_chosen_where_names_do_not_say_them(tmp_path: Path) -> None:
    paths = [tmp_path / "cifar10.csv", tmp_path / "cifar100.csv"]
    for path, scores in zip(paths, ("0.5\n0.25\n", "0.75\n1\n2\n")):
        path.write_text(f"score\n{scores}")
    seen = look(request("ood_bench", [paths]))
    assert seen.error.startswith("cifar10.csv, cifar100.csv: expected names that say which file holds known samples")
    assert spelled(seen.error, in_form("ood_bench")).endswith(
        "to say which is which, choose a column under “In-distribution scores” and choose a column under “OOD scores”"
    )
    chosen = {"in-distribution scores": ["score"], "OOD scores": ["cifar100: score"]}
    assert {name: own[0] in seen.offers[name] for name, own in chosen.items()} == dict.fromkeys(chosen, True)
    for reading in (read("ood_bench", paths, columns=chosen), read_page("ood_bench", [paths], chosen)):
        assert [side.tolist() for side in reading.columns["predictions"]] == [[0.5, 0.25], [0.75, 1, 2]]


@pytest.mark.parametrize(
    ("ids", "read_as", "kind"),
    [([0, 1], "scores", "f"), ([0.0, 1.0], "class ids", "i"), ([0.0, 0.5], "class ids", "f")],
)
def test_whole_numbers_are_read_as_chosen(ids: list[float], read_as: str, kind: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", pred=ids, label=[0, 1])
    reading = read("openauc", tmp_path / "x.npz", read_as=read_as, columns={"open_scores": "pred"})
    predictions = reading.columns["predictions"]
    assert (predictions.dtype.kind, predictions.tolist()) == (kind, ids)


def test_a_column_of_a_matrix(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, both=np.column_stack([LABELS, SCORES]), label=LABELS)
    assert plain(read("ood_bench", path, columns={"predictions": "both[:, 1]"}).columns) == OOD
    with pytest.raises(ValueError, match=r"predictions: expected names of columns, got both\[:, 2\]; there are both, "):
        read("ood_bench", path, columns={"predictions": "both[:, 2]"})


def test_a_confidence_needs_a_sign_on_either_side(tmp_path: Path) -> None:
    for name in ("id", "ood"):
        (tmp_path / f"{name}.csv").write_text("conf,n\n0.25,1\n0.75,2\n")
    known, unknown = (f"{tmp_path / name}.csv:" for name in ("id", "ood"))
    sides = ("in-distribution scores", "OOD scores")
    with pytest.raises(ValueError, match=r"ood.csv:conf: expected scores that are higher .*, got conf"):
        read("ood_bench", columns=dict(zip(sides, (f"{known}-conf", f"{unknown}conf"))))
    signed = read("ood_bench", columns=dict(zip(sides, (f"{known}-conf", f"{unknown}+conf")))).columns["predictions"]
    assert [side.tolist() for side in signed] == [[-0.25, -0.75], [0.25, 0.75]]


def test_blank_ends_of_sides_are_no_scores(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("scores_in,scores_out\n0.5,1\n0.25,\n")
    known, unknown = read("ood_bench", tmp_path / "x.csv").columns["predictions"]
    assert (known.tolist(), unknown.tolist()) == ([0.5, 0.25], [1])


def test_an_error_in_a_batch_says_from_which_row_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BATCH", 2)
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"msp": [*SCORES[:3], float("nan")], "label": LABELS}), path)
    reading = read("ood_bench", columns={"predictions": f"{path}:msp", "references": f"{path}:label"})
    with pytest.raises(ValueError, match=r"x\.parquet: .*msp, row 2: this cell is empty or NaN.*, counted from row 2"):
        list(reading.batches())


def test_a_sign_keeps_the_type(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", conf=np.asarray(SCORES, np.float32), label=LABELS)
    read_scores = read("ood_bench", tmp_path / "x.npz").columns["predictions"]
    assert read_scores.dtype == np.float32
    assert np.array_equal(read_scores, -np.asarray(SCORES, np.float32))


def test_a_sign_that_is_needed(tmp_path: Path, run: Run) -> None:
    """The command says it as the page does, and --flip cures it; not of labels that mean something else."""
    labels = np.arange(200) % 2
    frame = pd.DataFrame({"energy": np.random.default_rng(0).normal(-labels), "label": labels})
    frame.to_csv(tmp_path / "scores.csv", index=False)
    _, output, errors = run("compute", "ood_bench", tmp_path / "scores.csv")
    assert "below 0.5; if higher scores mean in-distribution here, use --flip" in errors
    _, flipped, errors = run("compute", "ood_bench", tmp_path / "scores.csv", "--flip")
    assert "--flip" not in errors
    assert json.loads(flipped)["auroc"] == pytest.approx(1 - json.loads(output)["auroc"])
    others = ("--option", "in_value=1", "--option", "out_value=0")
    assert "--flip" not in run("compute", "ood_bench", tmp_path / "scores.csv", *others)[2]


@pytest.mark.parametrize("metric", METRICS)
def test_what_a_reader_takes(metric: str) -> None:
    """Every column with every name is said by `describe`, the guide and Python."""
    text = takes(metric)
    for column in layout_of(metric).columns:
        assert f"`{column.name}`" in text
        assert all(name in text for name in column.names)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_of_places_by_their_values(suffix: str, tmp_path: Path) -> None:
    """A file without the name of a column after it: the only scores, and the only labels, in any format."""
    path = tmp_path / f"x.{suffix}"
    frame = pd.DataFrame({"image": ["a", "b", "c", "d"], "msp": SCORES, "ood?": LABELS, "size": [9, 9, 8, 7]})
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    assert plain(read("ood_bench", columns=dict.fromkeys(OOD, path)).columns) == OOD
    two = frame.assign(energy=SCORES)
    two.to_parquet(path) if suffix == "parquet" else two.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"expected a column predictions, got image, msp, .*, energy; name others"):
        read("ood_bench", columns=dict.fromkeys(OOD, path))


@pytest.mark.parametrize("character", ["1", "_", " "])
def test_names_of_a_hundred_thousand_characters(character: str, tmp_path: Path) -> None:
    """The number at the end of a name is sought in its end alone: a search of all of it took minutes."""
    name = character * 100_000 + "x"
    (tmp_path / "x.csv").write_text(TABLE.replace("msp", name))
    assert plain(read("ood_bench", tmp_path / "x.csv").columns) == OOD
    assert (stem(f"{name}_12]"), number_at_end(f"{name}_12]")) == (name, 12)
    assert stem("1" * 19) == "1"


def test_known_samples_with_class_ids_are_in_every_group() -> None:
    columns = {
        "predictions": np.asarray([0.1, 0.2, 0.3, 0.8, 0.9]),
        "references": np.asarray([0, 1, 2, -1, -1]),
        "groups": np.asarray(["id", "id", "id", "near", "far"], dtype=object),
    }
    assert Meaning.of(layout_of("ood_bench"), [], [columns]).shared == {"id"}


@pytest.mark.parametrize(("labels", "agree"), [("0,1,0", True), ("1,1,0", False), ("1,0,0", False), ("0,1", False)])
def test_labels_of_files_that_lie_side_by_side(labels: str, agree: bool, tmp_path: Path) -> None:
    """They are models of the same samples, whatever the files are called, only if they have the same labels."""
    for name, own in (("id", "0,1,0"), ("ood", labels)):
        lines = "".join(f"0.{row},{label}\n" for row, label in enumerate(own.split(",")))
        (tmp_path / f"{name}.csv").write_text(f"msp,label\n{lines}")
    files = [tmp_path / "id.csv", tmp_path / "ood.csv"]
    if agree:
        assert [*read("ood_bench", files).models] == ["id: msp", "ood: msp"]
        return
    with pytest.raises(ValueError, match=r"ood\.csv: label: expected the labels that id\.csv has"):
        read("ood_bench", files)
    if len(labels) == 5:
        assert read("ood_bench", files, columns={"references": "label"}).models["ood: msp"]["references"].tolist() == [
            0,
            1,
            0,
        ]


def test_classes_from_one_beside_columns_from_zero_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("class_1,class_2,label\n0.9,0.1,1\n0.2,0.8,3\n")
    with pytest.raises(ValueError, match="since the first column of scores, class_1, is class 0, got 1 to 3"):
        plain(read("accuracyk", tmp_path / "x.csv").columns)


def test_a_long_cell_is_quoted_in_part(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(f"msp,label\n0.1,0\n{'x' * 100},1\n0.3,1\n")
    with pytest.raises(ValueError, match=f"line 3: '{'x' * 60}' is"):
        read("ood_bench", tmp_path / "x.csv")
