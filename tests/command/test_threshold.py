"""openworld-metrics threshold: fitted on validation files, put back as an option; one line for whatever is wrong."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics.metric.signature import VERSION
from tests.checking import bench
from tests.command.terminal import on_terminal
from tests.conftest import Run

KNOWN = ["--known", "known.csv:score"]
GUESSED = "openworld-metrics: note: predictions is score; references is label\n"


@pytest.fixture
def scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """Files of known and unknown scores, of both with labels, and maps of normal images."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    known, unknown = np.round(rng.random(200), 2), np.round(rng.random(100) + 0.4, 2)
    for name, values in (("known", known), ("unknown", unknown), ("empty", known[:0]), ("nan", known * np.nan)):
        Path(f"{name}.csv").write_text("\n".join(["score", *map(repr, values.tolist())]) + "\n")
    rows = [f"{s!r},0" for s in known.tolist()] + [f"{s!r},1" for s in unknown.tolist()]
    Path("all.csv").write_text("\n".join(["score,label", *rows]) + "\n")
    for category in ("can", "vial"):
        Path("maps", category).mkdir(parents=True)
        for i in range(5):
            np.save(Path("maps", category, f"{i}.npy"), rng.random((4, 5)).astype(np.float32))
    return {"known": known, "unknown": unknown}


def fitted(run: Run, *arguments: str) -> dict[str, Any]:
    status, output, errors = run("threshold", *arguments, "--save", "t.json")
    assert (status, errors in ("", GUESSED)) == (0, True)
    saved: dict[str, Any] = json.loads(Path("t.json").read_text())
    assert json.loads(output) == saved
    assert saved["signature"] == f"threshold|rule:{saved['rule']}|v{VERSION}"
    return saved


def between(threshold: float, score: float, scores: Any) -> bool:
    """Whether a threshold lies strictly between a score and the next higher one."""
    return bool(score < threshold < min((s for s in scores if s > score), default=math.inf))


@pytest.mark.parametrize("fpr", [0.05, 0.2])
def test_known_scores(scores: dict[str, np.ndarray], run: Run, fpr: float) -> None:
    found = fitted(run, *KNOWN, "--fpr", str(fpr))
    known = sorted(scores["known"].tolist())
    assert between(found["threshold"], next(t for t in known if sum(s > t for s in known) / 200 <= fpr), known)
    assert found["promise"] == f"At most {100 * fpr:g} % of these known samples exceed the threshold."
    by_flags = fitted(run, "--predictions", "all.csv:score", "--references", "all.csv:label", "--fpr", str(fpr))
    same = {name: by_flags[name] for name in ("threshold", "fitted_on")}  # between those of both sides
    assert by_flags == found | same
    assert np.sum(scores["known"] > by_flags["threshold"]) == np.sum(scores["known"] > found["threshold"])
    files = {"fitted_on": {"files": ["all.csv"], "known_samples": 200}}
    assert fitted(run, "all.csv", "--fpr", str(fpr)) == by_flags | files
    names = {"predictions": "score", "references": "label"}
    flags = [word for name, column in names.items() for word in (f"--{name}", column)]
    assert fitted(run, "all.csv", *flags, "--fpr", str(fpr))["fitted_on"] == {**names, **files["fitted_on"]}


def test_names_of_sets_as_labels(scores: dict[str, np.ndarray], run: Run) -> None:
    """The error of a column of names leads to what compute, compare and threshold take."""
    rows = [f"{s!r},cifar10" for s in scores["known"].tolist()] + [f"{s!r},svhn" for s in scores["unknown"].tolist()]
    Path("sets.csv").write_text("\n".join(["score,dataset", *rows]) + "\n")
    columns = ["--predictions", "score", "--references", "dataset"]
    commands = (["threshold", "sets.csv", *columns, "--fpr", "0.2"], ["compute", "ood_bench", "sets.csv", *columns])
    for command in commands:
        code, _, errors = run(*command)
        assert code == 2
        assert "if 'cifar10' is known, use --in-value cifar10 --out-value svhn; if 'svhn' is known, use" in errors
        for other in ("svhn", "rest"):
            code, output, errors = run(*command, "--in-value", "cifar10", "--out-value", other)
            assert (code, "groups" in errors) == (0, False)
            expected = {"threshold": fitted(run, "all.csv", "--fpr", "0.2")["threshold"], "auroc": auroc(scores)}
            results = json.loads(output)
            assert [results[name] == expected[name] for name in expected if name in results] == [True]


def auroc(scores: dict[str, np.ndarray]) -> float:
    results = bench(positives=scores["unknown"], negatives=scores["known"], metrics="auroc")
    return float(results["auroc"])


def test_known_scores_with_a_confidence(scores: dict[str, np.ndarray], run: Run) -> None:
    found = fitted(run, *KNOWN, "--fpr", "0.05", "--confidence-level", "0.95")
    assert between(
        found["threshold"], np.sort(scores["known"])[-1 - 4], scores["known"]
    )  # P(Bin(200, 1/20) ≤ 4) ≤ 5 % < P(… ≤ 5)
    assert found["promise"] == "At most 5 % of new known samples exceed the threshold, with 95 % confidence."


@pytest.mark.parametrize("tpr", [0.95, 0.5, 0.07])
def test_scores_of_both_sides(scores: dict[str, np.ndarray], run: Run, tpr: float) -> None:
    found = fitted(run, *KNOWN, "--unknown", "unknown.csv", "--tpr", str(tpr))
    every = sorted({*scores["known"].tolist(), *scores["unknown"].tolist()}, reverse=True)
    assert between(found["threshold"], next(t for t in every if np.mean(scores["unknown"] > t) >= tpr), every)


def test_a_threshold_is_put_back(scores: dict[str, np.ndarray], run: Run) -> None:
    t = fitted(run, *KNOWN, "--unknown", "unknown.csv", "--tpr", "0.95")["threshold"]
    expected = {"tpr": float(np.mean(scores["unknown"] > t)), "fpr": float(np.mean(scores["known"] > t))}
    assert (
        bench(positives=scores["unknown"], negatives=scores["known"], metrics="fpr95tpr")["fpr95tpr"] == expected["fpr"]
    )
    _, output, _ = run("ood", *KNOWN, "--unknown", "u=unknown.csv", "--metrics", "tpr,fpr", "--threshold", "t.json")
    assert {name: json.loads(output)[name] for name in expected} == expected
    places = ["--predictions", "all.csv:score", "--references", "all.csv:label"]
    _, output, _ = run("compute", "ood_bench", *places, "--option", "metrics=tpr,fpr", "--option", "threshold=t.json")
    assert json.loads(output) == expected


def test_on_a_terminal_all_digits_are_shown(scores: dict[str, np.ndarray], tmp_path: Path) -> None:
    printed = on_terminal(["threshold", "--maps", "maps", "--rule", "max"], tmp_path)
    tops = {name: max(float(np.load(path).max()) for path in Path("maps", name).iterdir()) for name in ("can", "vial")}
    lines = [line.split() for line in printed.replace("\r", "\n").split("\n") if line.startswith(("can", "vial"))]
    assert [name for name, _ in lines] == [*tops]
    assert all(tops[name] < float(text) < tops[name] * 1.004 for name, text in lines)
    assert "No pixel of these images exceeds the threshold." in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*KNOWN, "--fpr", "0"], "fpr: expected a number between 0 and 1, both excluded, got 0.0"),
        ([*KNOWN, "--fpr", "1.5"], "fpr: expected a number between 0 and 1, both excluded, got 1.5"),
        ([*KNOWN, "--fpr", "0.05", "--confidence-level", "1"], "confidence_level: expected a number between 0 and 1"),
        (
            [*KNOWN, "--fpr", "0.01", "--confidence-level", "0.95"],
            "known_scores: expected at least 299 scores for an FPR",
        ),
        (
            [*KNOWN, "--fpr", "1e-300", "--confidence-level", "0.95"],
            "known_scores: expected at least about 3.00e+300 scores for an FPR of 1e-300",
        ),
        ([*KNOWN, "--unknown", "unknown.csv", "--tpr", "1"], "tpr: expected a number between 0 and 1, both excluded"),
        (["--known", "empty.csv", "--fpr", "0.1"], "empty.csv: expected rows, got none below score"),
        (["--known", "nan.csv", "--fpr", "0.1"], "nan.csv: "),
        ([*KNOWN], "expected --fpr with --known, got none"),
        ([*KNOWN, "--tpr", "0.9"], "expected --fpr with --known, got --tpr"),
        (
            [*KNOWN, "--unknown", "unknown.csv", "--fpr", "0.1"],
            "expected --tpr or --rule with --known and --unknown, got --fpr",
        ),
        ([], "expected a FILE, --known, --known and --unknown, --predictions and --references, or --maps"),
        (["all.csv"], "expected --fpr or --tpr or --rule with a FILE, got none"),
        (["all.csv", *KNOWN, "--fpr", "0.1"], "expected a FILE, --known, --known and --unknown, "),
        (["known.csv", "--fpr", "0.1"], "references: "),
        ([*KNOWN, "--fpr", "0.1", "--in-value", "1"], "expected --in-value with a FILE or --predictions of "),
        (["--maps", "maps"], "expected --rule with --maps, got none"),
        (["--maps", "maps", "--rule", "max", "--confidence-level", "0.9"], "expected --confidence-level with --fpr"),
        (["--maps", "maps", "--rule", "min"], "rule: expected max, or with any numbers fpr:0.001"),
        (["--maps", "none", "--rule", "max"], "none: expected a folder of maps, got none"),
        (["--maps", "maps", "--rule", "image-fpr:.1@.9"], "can: known_scores: expected at least 22 scores for an FPR"),
    ],
)
def test_one_line_and_nothing_written(
    scores: dict[str, np.ndarray], run: Run, arguments: list[str], message: str
) -> None:
    status, output, errors = run("threshold", *arguments, "--save", "t.json")
    assert (status, output, len(errors.splitlines())) == (2, "", 1)
    assert errors.startswith(f"openworld-metrics: {message}")
    assert not Path("t.json").exists()


def test_a_threshold_of_something_else(scores: dict[str, np.ndarray], run: Run) -> None:
    fitted(run, "--maps", "maps", "--rule", "fpr:0.1")
    command = ["ood", *KNOWN, "--unknown", "u=unknown.csv", "--metrics", "tpr", "--save", "r.json"]
    assert run(*command, "--threshold", "t.json")[2] == (
        "openworld-metrics: t.json: expected a threshold of samples, got one of pixels\n"
    )
    for text in ("{}", '{"threshold": 0.5}', '{"decision": "score > threshold", "of": ["samples"], "threshold": {}}'):
        Path("other.json").write_text(text)
        assert run(*command, "--threshold", "other.json")[2] == (
            "openworld-metrics: other.json: expected a file of openworld-metrics threshold --save, got other JSON\n"
        )
    assert not Path("r.json").exists()


def test_equal_errors(run: Run, tmp_path: Path) -> None:
    np.save("known.npy", [0.1, 0.2, 0.3, 0.7])
    np.save("unknown.npy", [0.4, 0.8, 0.9])
    sides = ["--known", "known.npy", "--unknown", "unknown.npy"]
    code, output, _ = run("threshold", *sides, "--rule", "eer", "--save", "t.json")
    fitted = json.loads(output)
    assert (code, fitted["threshold"], fitted["rule"]) == (0, 0.5, "eer")
    assert fitted["promise"] == (
        "25 % of these known samples exceed the threshold, and 33.33 % of these unknown ones do not."
    )
    code, output, errors = run("threshold", *sides, "--rule", "fpr:0.1")
    assert (code, output) == (2, "")
    assert "rule: expected eer, with known and unknown samples, got 'fpr:0.1'" in errors


def write_scores(name: str, scores: np.ndarray) -> None:
    """A file of one column, by its suffix: decimals as the type of the scores prints them, or their bits."""
    if name.endswith(".npy"):
        np.save(name, scores)
    elif name.endswith(".json"):
        Path(name).write_text(json.dumps({"score": [float(str(score)) for score in scores]}))
    else:
        Path(name).write_text("\n".join(["score", *map(str, scores)]) + "\n")


@pytest.mark.parametrize("suffix", [".csv", ".json", ".npy"])
@pytest.mark.parametrize("rule", ["fpr", "fpr@", "tpr"])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_promise_holds_in_every_type(
    kind: Any, rule: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Whatever the file and the type: the same samples are above it in the file's decimals and in the model's type."""
    monkeypatch.chdir(tmp_path)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        digits = int(rng.integers(1, 4))
        known, unknown = (np.round(rng.random(size), digits).astype(kind) for size in (400, 100))
        for name, scores in (("known", known), ("unknown", unknown)):
            write_scores(f"{name}{suffix}", scores)
        share = round(float(rng.uniform(0.1, 0.9)), 2)
        arguments = ["--known", f"known{suffix}", f"--{rule[:3]}", str(share)]
        arguments += ["--unknown", f"unknown{suffix}"] if rule == "tpr" else []
        arguments += ["--confidence-level", "0.9"] if "@" in rule else []
        results = fitted(run, *arguments)
        assert results["scores"] == (kind.__name__ if suffix == ".npy" else "float64, from decimals")
        t, judged = results["threshold"], unknown if rule == "tpr" else known
        rates = {float(np.mean(judged > t))}  # as NumPy compares, in the type of the scores
        for each in (np.float16, np.float32, np.float64):
            if each.__name__ in results.get("note", ""):
                assert digits == 3, "only close decimals are one number of float16"
                continue
            rates |= {float(np.mean(judged.astype(each) > t)), float(np.mean(judged.astype(each) > np.float64(t)))}
        rates |= {float(np.mean(np.asarray([float(str(score)) for score in judged]) > t))}
        assert len(rates) == 1
        assert rates.pop() >= share if rule == "tpr" else rates.pop() <= share


@pytest.mark.parametrize("rule", ["max", "fpr:0.2", "image-fpr:0.3", "image-fpr:0.3@0.8", "mean+1std"])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_maps_of_every_type(kind: Any, rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    maps = {name: np.round(rng.random((12, 3, 4)), 1).astype(kind) for name in ("can", "even")}
    maps["even"][:] = kind(0.7)  # which is its mean, and every rank
    for name, several in maps.items():
        Path("maps", name).mkdir(parents=True)
        for i, score_map in enumerate(several):
            np.save(Path("maps", name, f"{i}.npy"), score_map)
    results = fitted(run, "--maps", "maps", "--rule", rule)
    assert results["scores"] == kind.__name__
    assert "note" not in results
    for name, t in results["threshold"].items():
        above = {(maps[name].astype(each) > t).tobytes() for each in (np.float16, np.float32, np.float64)}
        decimals = np.vectorize(lambda score: float(str(score)))(maps[name])
        assert {(decimals > t).tobytes()} == above
        assert not (maps[name].astype(np.float64) == t).any()


def test_a_note_where_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    Path("known.csv").write_text("score\n0.1\n0.100001\n0.2\n")
    results = fitted(run, "--known", "known.csv", "--fpr", "0.7")
    assert results["note"] == (
        "Scores rounded to float16 may be decided otherwise: "
        "the scores 0.1 and 0.100001 are too close to the threshold."
    )
    np.save("known.npy", np.asarray([0.1, np.nextafter(0.1, 1)]))
    results = fitted(run, "--known", "known.npy", "--fpr", "0.5")
    assert results["threshold"] == 0.1
    assert results["note"].startswith("The threshold is itself a score, since no number lies between 0.1 and ")
    results = fitted(run, "--known", "known.npy", "--fpr", "0.99")
    assert results["threshold"] == 0.1
    Path("inf.csv").write_text("score,label\n-inf,0\n0.5,0\n0.7,1\n")
    assert fitted(run, "inf.csv", "--fpr", "0.6")["threshold"] == "-Infinity"
