"""Several OOD sets against the same known samples: OpenOOD's worked example, laws, files, folders, errors."""

from __future__ import annotations

import json
import math
import re
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import openworld_metrics as om
from openworld_metrics.reading.rows.score_files import Scores, read_scores, score_files
from openworld_metrics.suites import SUITE_METRICS, evaluate_ood
from tests.conftest import Run
from tests.examples import few, seeds

# OpenOOD's confidences, higher for the known: DEFINITIONS §3, whose numbers came from its own code at 3c35632
KNOWN: dict[str, Any] = {"conf": [0.9, 0.8, 0.7, 0.3], "pred": [0, 1, 2, 0], "label": [0, 1, 1, 0]}
SHIFTED: dict[str, Any] = {"conf": [0.6, 0.5], "pred": [1, 1], "label": [1, 0]}
SETS = {"near/cifar100": [0.6, 0.4, 0.2], "near/tin": [0.85, 0.1], "far/mnist": [0.2, 0.1, 0.05, 0.35]}
# FPR@95, AUROC, AUPR_IN, AUPR_OUT, ACC, in percent, as its table prints them
COLUMNS = ("fpr95tpr", "auroc", "aupr_in_trapezoid", "aupr_out_trapezoid", "closed_set_accuracy")
PRINTED = {
    "near/cifar100": (25, 83.3333, 90.8333, 76.3889, 75),
    "near/tin": (75, 62.5, 76.6667, 66.25, 75),
    "near": (50, 72.9167, 83.75, 71.3194, 75),
    "far/mnist": (25, 93.75, 94.375, 94.375, 75),
    "far": (25, 93.75, 94.375, 94.375, 75),
}
FULL_SPECTRUM = {
    "near/cifar100": (50, 80.5556, 90.8135, 69.4444, 66.6667),
    "near/tin": (83.3333, 58.3333, 78.8095, 61.3095, 66.6667),
    "near": (66.6667, 69.4444, 84.8115, 65.3770, 66.6667),
    "far": (16.6667, 95.8333, 97.4206, 94.375, 66.6667),
}


def as_scores(columns: dict[str, Any]) -> Scores:
    return Scores(-np.asarray(columns["conf"]), columns["pred"], columns["label"])


def rows(results: dict[str, Any]) -> dict[str, dict[str, float]]:
    groups = results["groups"]
    return dict(zip(groups["group"], (dict(zip(groups, row)) for row in zip(*groups.values()))))


@pytest.mark.parametrize(
    ("full_spectrum", "printed"), [([], PRINTED), ([SHIFTED], FULL_SPECTRUM)], ids=["ood", "fsood"]
)
def test_openoods_table(full_spectrum: list[Any], printed: dict[str, tuple[float, ...]]) -> None:
    sets = {name: -np.asarray(conf) for name, conf in SETS.items()}
    shifted = list(map(as_scores, full_spectrum))
    results = evaluate_ood(as_scores(KNOWN), sets, full_spectrum=shifted, metrics=COLUMNS[:-1])
    assert list(results) == [*COLUMNS, "groups"]
    assert results["groups"]["group"] == ["far", "far/mnist", "near", "near/cifar100", "near/tin"]
    for name, percents in printed.items():
        row = rows(results)[name]
        assert [round(100 * row[key], 4) for key in COLUMNS] == list(percents), name


def drawn(seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    names = ["far/mnist", "near/b", "near/a", "alone", "far/deep/one", "far/deep/two"]
    return rng.integers(0, 30, 40) / 8, {name: rng.integers(5, 40, rng.integers(1, 30)) / 8 for name in names}


@pytest.mark.parametrize("seed", range(5))
def test_each_row_is_that_of_its_set_alone(seed: int) -> None:
    known, sets = drawn(seed)
    names = [*SUITE_METRICS, "detect_acc", "tpr5fpr", "tpr"]
    results = evaluate_ood(known, sets, metrics=names, threshold=2.0)
    metric = om.OODBench(metrics=names, threshold=2.0)
    alone = {name: metric.compute(predictions=(known, scores)) for name, scores in sets.items()}
    members = {
        "far": ["far/mnist", "far/deep/one", "far/deep/two"],
        "far/deep": ["far/deep/one", "far/deep/two"],
        "near": ["near/a", "near/b"],
    }
    found = rows(results)
    assert list(found) == sorted([*sets, *members])
    assert evaluate_ood(known[::-1], dict(reversed(sets.items())), metrics=names, threshold=2.0) == results
    for key in names:
        assert all(found[name][key] == alone[name][key] for name in sets)
        for group, inside in members.items():
            assert found[group][key] == math.fsum(alone[name][key] for name in inside) / len(inside)
        assert results[key] == math.fsum(alone[name][key] for name in sets) / len(sets)


def test_tensors_stay_on_their_device() -> None:
    torch = pytest.importorskip("torch")
    from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

    known, sets = drawn(1)
    expected = evaluate_ood(known, sets)
    with EmulatedCuda() as device:
        on_it = {name: EmulatedCudaTensor(torch.tensor(scores)) for name, scores in sets.items()}
        assert evaluate_ood(EmulatedCudaTensor(torch.tensor(known)), on_it) == expected
        assert device.transferred < 600


@pytest.mark.parametrize(
    ("known", "sets", "options", "message"),
    [
        ([0.1], {}, {}, "unknown: expected at least one set, got none"),
        ([0.1], {"": [0.2]}, {}, "unknown: expected names such as near/cifar100, got ''"),
        ([0.1], {"near//a": [0.2]}, {}, "unknown: expected names such as near/cifar100, got 'near//a'"),
        ([0.1], {"near": [0.2], "near/a": [0.2]}, {}, "expected a name of a set or of a group, got 'near' for both"),
        ([0.1], {"near/a": []}, {}, "near/a: expected at least one score, got none"),
        ([], {"near/a": [0.1]}, {}, "known: expected at least one score, got none"),
        ([0.1], {"near/a": [0.1, math.nan]}, {}, "near/a: expected no NaN, got NaN at position 1"),
        ([0.1], {"a": [0.1]}, {"full_spectrum": [[math.nan]]}, "full_spectrum: expected no NaN"),
        ([0.1], {"a": [0.1]}, {"metrics": ["aurok"]}, "metrics: unknown metric 'aurok'"),
        ([0.1], {"a": [0.1]}, {"metrics": []}, "metrics: expected at least one name"),
        (
            Scores([0.1], [0], [-1]),
            {"a": [0.1]},
            {},
            "references: expected class ids of at least 0, got -1 among known",
        ),
        (
            Scores([0.1], [0, 1], [1]),
            {"a": [0.1]},
            {},
            "expected columns of one length, got 2 predictions, 1 references",
        ),
    ],
)
def test_errors(known: Any, sets: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate_ood(known, sets, **options)


def save_openood(folder: Path, places: dict[str, str]) -> None:
    """The files that OpenOOD's evaluator writes; unknown samples have the label −1."""
    sets = {"cifar10": KNOWN, "cinic10": SHIFTED}
    sets.update(
        {name: {"conf": conf, "pred": [0] * len(conf), "label": [-1] * len(conf)} for name, conf in SETS.items()}
    )
    for name, columns in sets.items():
        path = folder / f"{places.get(name, name.rpartition('/')[2])}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {key: np.asarray(column) for key, column in columns.items()}
        np.savez(path, **arrays)


def test_columns_of_a_file(tmp_path: Path) -> None:
    """The column scores, OpenOOD's, the one that is named, the only one, or the only one of scores."""
    scores = [0.5, 0.25, -1.0]
    np.save(tmp_path / "a.npy", scores)
    np.savez(tmp_path / "a.npz", other=[1.0], scores=scores, conf=[9.0])
    (tmp_path / "a.csv").write_text("msp,energy\n0.5,1\n0.25,2\n-1,3\n")
    (tmp_path / "a.json").write_text(json.dumps(scores))
    pd.DataFrame({"image": ["a", "b", "c"], "msp": scores, "label": [0, 1, 1]}).to_parquet(tmp_path / "image.parquet")
    np.savez(tmp_path / "openood.npz", conf=-np.asarray(scores), pred=[0, 1, 2], label=[0, 1, 1])
    for name in ("a.npy", "a.npz", "a.csv:msp", "a.json", "image.parquet", "openood.npz", "openood.npz:conf"):
        assert read_scores(tmp_path / name).scores.tolist() == scores, name
    read = read_scores(tmp_path / "openood.npz")
    assert (read.predictions.tolist(), read.references.tolist()) == ([0, 1, 2], [0, 1, 1])
    assert read_scores(tmp_path / "a.npz").predictions is None


def save_as(kind: str, folder: Path, columns: dict[str, np.ndarray]) -> str:
    """A file of columns, in the format of a suffix."""
    path, lists = folder / f"{len([*folder.iterdir()])}.{kind}", {key: x.tolist() for key, x in columns.items()}
    records = [dict(zip(lists, row)) for row in zip(*lists.values())]
    if kind == "npz":
        arrays: dict[str, Any] = columns
        np.savez(path, **arrays)
    elif kind in ("csv", "tsv"):
        pd.DataFrame(columns).to_csv(path, index=False, sep="," if kind == "csv" else "\t")
    elif kind == "parquet":
        pd.DataFrame(columns).to_parquet(path, index=False)
    elif kind == "json":
        path.write_text(json.dumps(lists if len(records) % 2 else records))
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        import torch

        torch.save({key: torch.from_numpy(x) for key, x in columns.items()}, path)
    return str(path)


@few
@given(seed=seeds)
def test_a_column_has_one_direction_in_every_format(seed: int) -> None:
    rng = np.random.default_rng(seed)
    name = str(rng.choice(["scores", "conf", "confidence", "Max_Softmax", "react conf", "energy", "uncertainty"]))
    kind = "f8" if rng.random() < 0.5 else "i8"
    sides = []
    for _ in range(2):
        size = int(rng.integers(3, 9))
        side = {name: (rng.permutation(9)[:size] - 4).astype(kind)}
        if seed % 3:
            side |= {"pred": rng.integers(0, 3, size), "label": rng.integers(0, 3, size)}
        sides.append(side)
    place = f":{rng.choice(['', '', '-', '+'])}{name}" if seed % 2 or name == "energy" else ""
    flip = bool(rng.random() < 0.3)
    signed, said = place[1:2] in ("-", "+"), name not in ("scores", "energy", "uncertainty")
    lone = seed % 3 == 0 or place or name in ("scores", "conf") or kind == "f8"
    higher_is_known = place[1:2] == "-" or (not signed and (flip or name == "conf"))

    def outcome(kinds: tuple[str, str]) -> Any:
        with TemporaryDirectory() as folder:
            places = [f"{save_as(kind, Path(folder), side)}{place}" for kind, side in zip(kinds, sides)]
            try:
                known, unknown = (read_scores(place, flip=flip) for place in places)
            except ValueError as error:
                return re.sub(r"\S*/\d\.\w+", "FILE", str(error), count=1)
            assert known.negated == unknown.negated == ("conf" if name == "conf" and not (flip or signed) else "")
            return evaluate_ood(known, {"a": unknown})

    kinds = ("npz", "csv", "tsv", "parquet", "json", "jsonl", *["pt"] * (find_spec("torch") is not None))
    expected = outcome(("npz", "npz"))
    assert all(outcome((kind, kind)) == expected == outcome((kind, "npz")) for kind in kinds)
    if not lone:
        assert expected.startswith("FILE: expected a column scores, got ")
    elif said and name != "conf" and not (signed or flip):
        assert f"got {name}, whose name says confidence: write -{name} to negate it" in expected
    else:
        known, unknown = ((-side[name] if higher_is_known else side[name]).astype(float) for side in sides)
        classes = (sides[0]["pred"], sides[0]["label"]) if seed % 3 else ()
        assert expected == evaluate_ood(Scores(known, *classes), {"a": unknown})


def test_two_formats_do_not_mix_directions(run: Run, tmp_path: Path) -> None:
    for name, conf in (("k", [3.0, 2.0]), ("u", [-3.0, -4.0])):
        np.savez(tmp_path / f"{name}.npz", conf=conf)
        (tmp_path / f"{name}.csv").write_text("conf\n" + "\n".join(map(str, conf)))
        (tmp_path / f"{name}.tsv").write_text("confidence\n" + "\n".join(map(str, conf)))
    for known, unknown, flip, expected in (
        ("k.npz", "u.csv", [], 1.0),
        ("k.csv", "u.npz", ["--flip"], 1.0),
        ("k.csv:+conf", "u.npz:+conf", ["--flip"], 0.0),
        ("k.npz:-conf", "u.tsv", ["--flip"], 1.0),
        ("k.csv", "u.tsv:-confidence", [], 1.0),
    ):
        call = ["--known", known, "--unknown", f"x={unknown}", "--metrics", "auroc", *flip]
        code, output, errors = run("ood", *call)
        assert (code, json.loads(output)["auroc"]) == (0, expected)
        unsaid = [place for place in (known, unknown) if place in ("k.npz", "k.csv", "u.npz", "u.csv")]
        assert errors.startswith(f"openworld-metrics: note: conf of {unsaid[0]} " if unsaid and not flip else "")
        assert bool(errors) == bool(unsaid and not flip)
    code, output, errors = run("ood", "--known", "k.tsv", "--unknown", "u.tsv")
    assert (code, output) == (2, "")
    assert "k.tsv: expected scores that are higher for unknown samples, got confidence, whose name says" in errors
    assert "--flip" in errors


def test_a_column_that_is_guessed_is_said(run: Run, tmp_path: Path) -> None:
    """The commands read a file of each side as `compute` and pages read both together."""
    for name, scores in (("id", "a,0.5\nb,0.25\nc,0"), ("ood", "d,0.75\ne,0.375\nf,1")):
        (tmp_path / f"{name}.csv").write_text(f"image,msp\n{scores}\n")
    _, both, _ = run("compute", "ood_bench", "id.csv", "ood.csv")
    code, output, errors = run("ood", "--known", "id.csv", "--unknown", "ood.csv")
    assert (code, json.loads(output)["auroc"]) == (0, json.loads(both)["auroc"])
    assert "note: scores are msp of id.csv, ood.csv; FILE:COLUMN chooses another column" in errors
    code, output, errors = run("threshold", "--known", "id.csv", "--fpr", "0.4")
    assert (code, json.loads(output)["threshold"]) == (0, 0.3)  # between 0.25 and 0.5
    assert "note: scores are msp of id.csv;" in errors
    assert run("ood", "--known", "id.csv:msp", "--unknown", "ood.csv:msp")[2] == ""


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("a.npz", {"a": [0.1], "b": [0.1]}, "a.npz: expected a column scores, got a, b"),
        ("a.npz:conf", {"a": [0.1], "b": [0.1]}, "a.npz: expected a column conf, got a, b"),
        ("a.npz", {"conf": [math.nan]}, "a.npz: conf, row 1: this cell is empty or NaN"),
        ("a.npz", {"scores": [[0.1]]}, r"a.npz: scores: expected scores of shape \(N,\), got shape \(1, 1\)"),
        ("a.npz", {"conf": [0.1], "pred": [0.5], "label": [0]}, "a.npz: pred: expected integers, got 0.5"),
        (
            "a.npz",
            {"conf": [0.1], "pred": [1, 2], "label": [0]},
            "a.npz: expected columns of one length, got 1 conf, 2",
        ),
        ("b.npz", {}, "b.npz: No such file"),
        ("b.pkl", {}, "b.pkl: expected a file ending in"),
    ],
)
def test_errors_of_files(name: str, columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **columns)
    with pytest.raises(ValueError, match=message):
        read_scores(tmp_path / name)


def test_names_in_folders(tmp_path: Path) -> None:
    save_openood(tmp_path / "flat", {})
    assert [*score_files(tmp_path / "flat", tmp_path / "flat" / "cifar10.npz")] == [
        "csid/cinic10",
        "far/mnist",
        "near/cifar100",
        "near/tin",
    ]
    deep = {"near/cifar100": "nearood/cifar100", "near/tin": "nearood/tin", "far/mnist": "farood/mnist"}
    save_openood(tmp_path / "deep", deep)
    files = score_files(tmp_path / "deep", tmp_path / "deep" / "cifar10.npz")
    assert [*files] == ["csid/cinic10", "farood/mnist", "nearood/cifar100", "nearood/tin"]
    assert [*score_files(tmp_path / "flat", "scores.npz")][:2] == ["cifar10", "cifar100"]  # no benchmark of OpenOOD's
    for name in ("lines.jsonl", "tabs.tsv", "notes.txt"):
        (tmp_path / "deep" / name).touch()
    assert {*score_files(tmp_path / "deep", tmp_path / "deep" / "cifar10.npz")} - {*files} == {"lines", "tabs"}
    (tmp_path / "flat" / "tin.npy").touch()
    with pytest.raises(ValueError, match=r"expected one file of near/tin, got tin\.npy and tin\.npz"):
        score_files(tmp_path / "flat", tmp_path / "flat" / "cifar10.npz")
    with pytest.raises(ValueError, match=r"expected files of scores .* got none"):
        score_files(tmp_path / "none", "cifar10.npz")


BY_NAME = [part for name in SETS for part in ("--unknown", f"{name}=scores/{name.rpartition('/')[2]}.npz")]


def negated(file: str, more: int) -> str:
    """What commands say of OpenOOD's files."""
    return (
        f"openworld-metrics: note: conf of {file} and {more} more is a confidence, higher for known samples, and is "
        "negated here; FILE:+conf takes it as it is\n"
    )


@pytest.mark.parametrize("named", [True, False], ids=["named", "a folder"])
def test_the_command(named: bool, run: Run, tmp_path: Path) -> None:
    save_openood(tmp_path / "scores", {})
    places = BY_NAME if named else ["--unknown", "scores"]
    code, output, errors = run("ood", "--known", "scores/cifar10.npz", *places, "--save", "results.json")
    assert code == 0
    expected = evaluate_ood(as_scores(KNOWN), {name: -np.asarray(conf) for name, conf in SETS.items()})
    saved = json.loads((tmp_path / "results.json").read_text())
    assert saved.pop("kinds").keys() == expected.keys() - {"groups"}
    assert saved.pop("options").keys() == {"metrics"}
    assert saved.pop("signature").startswith("ood_bench|v")
    left = {"kind": "sets", "reason": "of known classes", "number": 1, "names": ["scores/cinic10.npz"]}
    census = {"used": {"sets": 3}, "left_out": [left]}
    assert saved.pop("census", None) == (None if named else census)
    assert json.loads(output) == saved == expected
    left_out = "left out scores/cinic10.npz, of known classes; --full-spectrum FILE adds them to the known samples"
    assert errors == ("" if named else f"openworld-metrics: warning: {left_out}\n") + negated("scores/cifar10.npz", 3)


def test_the_table_of_the_command(run: Run, tmp_path: Path) -> None:
    save_openood(tmp_path / "scores", {})
    options = ("--metrics", "fpr95tpr,auroc", "--percent", "--format", "text")
    known = ("--known", "scores/cifar10.npz", "--full-spectrum", "scores/cinic10.npz")
    code, output, errors = run("ood", *known, "--unknown", "scores", *options)
    assert (code, errors) == (0, negated("scores/cifar10.npz", 4))
    assert output == (
        "               fpr95tpr  auroc  closed_set_accuracy\n"
        "far               16.67  95.83                66.67\n"
        "far/mnist         16.67  95.83                66.67\n"
        "near              66.67  69.44                66.67\n"
        "near/cifar100     50.00  80.56                66.67\n"
        "near/tin          83.33  58.33                66.67\n"
        "mean              50.00  78.24                66.67\n"
    )


KNOWN_FILE = ["--known", "scores/cifar10.npz"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (BY_NAME, "Missing option '--known'"),
        (KNOWN_FILE, "Missing option '--unknown'"),
        ([*KNOWN_FILE, *BY_NAME, "--unknown", "scores"], "far/mnist once, got it twice"),
        ([*KNOWN_FILE, "--unknown", "-"], "expected --unknown NAME=- for standard input"),
        ([*KNOWN_FILE, *BY_NAME, "--percent", "--format", "json"], "expected --percent with a table"),
        ([*KNOWN_FILE, *BY_NAME, "--save", "a.txt"], "expected a file ending in .json"),
        ([*KNOWN_FILE, "--unknown", "b=a.json", "--save", "a.json"], "expected another file to write to, got one that"),
        ([*KNOWN_FILE, "--unknown", "empty"], "empty: expected files of scores"),
    ],
)
def test_errors_of_the_command(arguments: list[str], message: str, run: Run, tmp_path: Path) -> None:
    """Wrong values of each flag are of tests/command/test_wrong_values.py."""
    save_openood(tmp_path / "scores", {})
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.json").write_text("[0.1, 0.2]")
    code, output, errors = run("ood", *arguments)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert message in errors


def test_standard_input_and_a_name_without_a_group(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "known.npy", [0.1, 0.2])
    np.save(tmp_path / "mnist.npy", [0.3])
    places = ("--known", "known.npy", "--unknown", "mnist.npy", "--unknown", "piped=-")
    code, output, errors = run("ood", *places, "--metrics", "auroc", stdin="[0.0, 0.3]")
    assert (code, errors) == (0, "")
    assert json.loads(output) == {"auroc": 0.75, "groups": {"group": ["mnist", "piped"], "auroc": [1.0, 0.5]}}


def test_sets_in_one_file_are_named_by_their_columns(run: Run, tmp_path: Path) -> None:
    np.savez(tmp_path / "energy.npz", cifar=[0.1, 0.2], tin=[0.3], near=[0.0, 0.3])
    np.savez(tmp_path / "svhn.npz", scores=[0.15])
    sets = ("energy.npz:tin", "energy.npz:near", "named=energy.npz:near", "svhn.npz:scores")
    call = ["ood", "--known", "energy.npz:cifar", "--metrics", "auroc, fpr95tpr", "--threshold", "0.2"]
    code, output, errors = run(*call, *(part for one in sets for part in ("--unknown", one)))
    assert (code, errors) == (0, "openworld-metrics: warning: --threshold changes none of the results\n")
    results = json.loads(output)["groups"]
    assert results["group"] == ["named", "near", "svhn", "tin"]
    assert results["auroc"] == [0.5, 0.5, 0.5, 1.0]


def test_a_path_in_another_spelling_is_the_same_file(run: Run, tmp_path: Path) -> None:
    np.savez(tmp_path / "known.npz", conf=[0.9, 0.8], other=[0.0, 1.0])
    np.savez(tmp_path / "far.npz", conf=[0.1, 0.2])
    for here, column in (("./", ""), (".//", ":conf"), (f"{tmp_path}//", ": conf"), ("", ":conf ")):
        call = ["--known", f"{here}known.npz{column}", "--unknown", f"{here}far.npz{column}", "--metrics", "auroc"]
        code, output, errors = run("ood", *call)
        assert (code, errors) == (0, negated(f"{here}known.npz{column.rstrip()}", 1))
        assert json.loads(output) == {"auroc": 1.0, "groups": {"group": ["far"], "auroc": [1.0]}}
    call = ["--known", "./known.npz", "--unknown", "./known.npz:other", "--metrics", "auroc"]
    assert json.loads(run("ood", *call)[1])["groups"]["group"] == ["other"]


def test_a_column_of_lists(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table({"scores": [[0.1, 0.2], [0.3, 0.4]]})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a.parquet: scores: expected .*\(2, 2\)"):
        read_scores(tmp_path / "a.parquet")


@pytest.mark.parametrize("seed", range(3))
def test_intervals(seed: int) -> None:
    """They are those of groups that share the known samples, and the numbers beside them are the same as without."""
    known, sets = drawn(seed)
    options: dict[str, Any] = {"confidence_level": 0.9, "n_resamples": 50, "random_state": seed}
    results = evaluate_ood(known, sets, **options)
    plain = evaluate_ood(known, sets)
    assert {key: value for key, value in results["groups"].items() if key in plain["groups"]} == plain["groups"]
    assert {key: results[key] for key in SUITE_METRICS} == {key: plain[key] for key in SUITE_METRICS}
    scores = np.concatenate([known, *sets.values()])
    groups = [None] * len(known) + [name for name, unknown in sets.items() for _ in unknown]
    labels = [0 if group is None else 1 for group in groups]
    metric = om.OODBench(metrics=SUITE_METRICS, **options)
    assert results == metric.compute(predictions=scores, references=labels, groups=groups)
    for key in SUITE_METRICS:
        assert results[f"{key}_low"] <= results[key] <= results[f"{key}_high"]


def test_intervals_and_percent_in_a_pipe(run: Run, tmp_path: Path) -> None:
    save_openood(tmp_path / "scores", {})
    arguments = [*KNOWN_FILE, *BY_NAME, "--metrics", "auroc"]
    intervals = ["--confidence-level", "0.9", "--n-resamples", "50", "--random-state", "3"]
    _, output, _ = run("ood", *arguments, *intervals)
    assert json.loads(output)["auroc_low"] < json.loads(output)["auroc"]
    _, output, _ = run("ood", *arguments, *intervals, "--percent")
    assert re.search(r"near/tin +62\.50 \[\d+\.\d\d, \d+\.\d\d\]", output), output
