"""The command that compares two models: its table, its JSON, its errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import compare
from openworld_metrics.faces.summaries import all_digits
from openworld_metrics.loading import METRICS
from openworld_metrics.written.results import as_json
from tests import cases

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    references = np.repeat([0, 1, -1], 20)
    given = {"references": references, "first": rng.normal(size=60) - 2 * (references >= 0), "second": rng.random(60)}
    for name, column in given.items():
        np.save(f"{name}.npy", column)
    np.save("predictions.npy", np.clip(references, 0, None))
    return given


def test_it_is_what_compare_returns(run: Run, models: dict[str, Any], tmp_path: Path) -> None:
    both = [part for which in ("first", "second") for part in (f"--{which}-open-scores", f"{which}.npy")]
    both += [part for which in ("first", "second") for part in (f"--{which}-predictions", "predictions.npy")]
    more = ["--option", "tpr=0.9", "--n-resamples", "50", "--confidence-level", "0.8", "--random-state", "7"]
    code, output, errors = run("compare", "openauc", *both, "--references", "references.npy", *more, "--save", "o.json")
    assert (code, errors) == (0, "")
    predictions = np.clip(models["references"], 0, None)
    first, second = ({"predictions": predictions, "open_scores": models[name]} for name in ("first", "second"))
    drawn: dict[str, Any] = dict(confidence_level=0.8, n_resamples=50, random_state=7)
    expected = compare("openauc", first, second, references=models["references"], tpr=0.9, **drawn)
    saved = json.loads((tmp_path / "o.json").read_text())
    assert saved.pop("options") == {"tpr": 0.9}
    assert saved.pop("drawn") == {"unit": "row", "resamples": 50}
    assert saved.pop("signature").startswith("openauc|v")
    assert json.loads(output) == expected == saved
    line = all_digits(expected).splitlines()[1].split()
    assert (line[0], line[-1]) == ("openauc", "first")
    assert all_digits(expected).splitlines()[2].split()[-1] == "–"  # closed_set_accuracy, which is the same


@pytest.mark.usefixtures("models")
def test_a_file_holds_both_models(run: Run, models: dict[str, Any]) -> None:
    """A table of two models, or of several, of which flags choose two, gives what their columns give one by one."""
    labels = (models["references"] < 0).astype(int)
    table = {"ours": models["first"], "theirs": models["second"], "noise": models["second"][::-1], "label": labels}
    for name, columns in (
        ("one.csv", ("ours", "label")),
        ("two.csv", ("ours", "theirs", "label")),
        ("three.csv", [*table]),
    ):
        rows = zip(*(table[column].tolist() for column in columns))
        Path(name).write_text("\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]))
    expected = compare("ood_bench", *({"predictions": table[name]} for name in ("ours", "theirs")), references=labels)
    chosen = ["--first-predictions", "ours", "--second-predictions", "theirs"]
    for arguments in (["two.csv"], ["three.csv", *chosen]):
        code, output, _ = run("compare", "ood_bench", *arguments)
        assert (code, json.loads(output)) == (0, expected)
    for arguments, message in (
        (["three.csv"], "two models, got ours, theirs, noise; choose two, with --first-predictions and --second-pre"),
        (["one.csv"], "expected two models, got one"),
        (["two.csv", *chosen[:2]], "expected flags of both models, or of none, got first_predictions"),
    ):
        code, output, errors = run("compare", "ood_bench", *arguments)
        assert (code, output) == (2, "")
        assert message in errors


def test_the_better_model_is_the_last_word() -> None:
    row: dict[str, Any] = dict(first=[0.5], second=[0.25], difference=[0.25], low=[0.125], high=[0.375], p_value=[0.01])
    assert all_digits({"key": ["fpr95tpr"], **row, "better": ["second"]}).endswith("second")
    assert all_digits({"key": ["auroc"], **row, "better": [None]}).endswith("–")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--first-predictions", "first.npy"], "expected --second-predictions, got none"),
        (
            ["--first-predictions", "first.npy", "--second-predictions", "second.npy", "--references", "first.npy"],
            "references: expected integers",
        ),
        (
            ["--first-predictions", "first.npy", "--second-predictions", "nowhere.npy", "--references", "first.npy"],
            "nowhere.npy",
        ),
        (
            ["--first-predictions", "first.npy", "--second-predictions", "second.npy", "--save", "o.txt"],
            "--save: expected a file ending in .json, got o.txt",
        ),
    ],
    ids=["one model", "fractions", "no file", "no json"],
)
@pytest.mark.usefixtures("models")
def test_wrong_input_is_one_line(run: Run, arguments: list[str], message: str) -> None:
    code, output, errors = run("compare", "ood_bench", *arguments)
    assert (code, output) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1


def test_compute_of_several_models_is_what_each_is_alone(run: Run, models: dict[str, Any], tmp_path: Path) -> None:
    """With their comparisons, as of compare; and `table` shows a row for each."""
    labels = (models["references"] < 0).astype(int)
    columns = {"knn": models["first"], "energy": models["second"], "msp": -models["first"]}
    lines = [",".join([*columns, "label"])]
    lines += [",".join(map(repr, row)) for row in zip(*(c.tolist() for c in columns.values()), labels.tolist())]
    (tmp_path / "models.csv").write_text("\n".join(lines))
    drawn = ["--confidence-level", "0.9", "--n-resamples", "50"]
    code, output, errors = run("compute", "ood_bench", "models.csv", *drawn, "--save", "all.json", "--save-samples")
    assert code == 0
    assert "note: msp: AUROC" in errors
    found = json.loads(output)
    for name in columns:
        alone = json.loads(run("compute", "ood_bench", "models.csv", "--predictions", name, *drawn)[1])
        assert found["models"][name] == alone
    pairs = [(each.pop("first_model"), each.pop("second_model"), each) for each in found["comparisons"]]
    assert [pair[:2] for pair in pairs] == [("knn", "energy"), ("knn", "msp"), ("energy", "msp")]
    for first, second, table in pairs:
        of_two = ["--first-predictions", first, "--second-predictions", second]
        assert table == json.loads(run("compare", "ood_bench", "models.csv", *of_two, *drawn)[1])
    bare = json.loads(run("compute", "ood_bench", "models.csv", "--predictions", "knn,energy")[1])
    assert [*bare] == ["models"]
    for chosen, words in (
        ("knn,energy,msp", r"knn vs energy: auroc .*\nknn vs msp: auroc .*better"),
        ("knn,energy", r"auroc ↑ .* (knn is better|no clear difference)"),
    ):
        more = ["--predictions", chosen, "--format", "text", *drawn, "--report", "report"]
        code, text, _ = run("compute", "ood_bench", "models.csv", *more)
        assert code == 0
        assert re.search(words, text)
        assert all(re.search(rf"\n{name} +[01]\.\d+ \[", text) for name in chosen.split(","))
        assert "vs energy" in Path("report/index.html").read_text()
    code, text, _ = run("table", "all.json")
    assert code == 0
    assert [line.split()[0] for line in text.splitlines()[1:4]] == [*columns]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(4))
def test_it_is_one_way_with_compute(metric: str, seed: int, run: Run, tmp_path: Path) -> None:
    """The table of `compare`, to the last bit, of arrays and groups of every metric, whatever the labels mean."""
    columns, options = cases.draw(metric, seed)
    columns = cases.with_groups(columns, seed) if seed % 2 and metric != "openset_detection" else columns
    options = {name: value for name, value in options.items() if value is not None}
    if metric == "ood_bench" and seed % 2:
        options |= {"in_value": 1, "out_value": 0}
    rng, own = np.random.default_rng(seed), ("predictions", "open_scores", "image_scores")
    flags: list[str] = []
    models: list[dict[str, Any]] = [{}, {}]
    for name, column in columns.items():
        if name in own:
            scored = isinstance(column, np.ndarray) and column.dtype.kind == "f"
            other = column + rng.integers(-9, 9, column.shape) / 32 if scored else column
            for which, model, each in zip(("first", "second"), models, (column, other)):
                model[name] = each
                flags += [f"--{which}-{name.replace('_', '-')}", saved(tmp_path / f"{which}_{name}", each)]
        else:
            flags += [f"--{name.replace('_', '-')}", saved(tmp_path / name, column)]
    shared = {name: column for name, column in columns.items() if name not in own}
    listed = {name: np.asarray(value).tolist() for name, value in options.items()}
    more = [part for name, value in listed.items() for part in ("--option", f"{name}={as_text(value)}")]
    code, output, errors = run("compare", metric, *flags, *more, "--n-resamples", "41")
    assert code == 0, errors
    assert json.loads(output) == json.loads(as_json(compare(metric, *models, **shared, **listed, n_resamples=41)))


def saved(path: Path, column: Any) -> str:
    """A file of a column."""
    if isinstance(column, np.ndarray):
        np.save(path.with_suffix(".npy"), column)
        return str(path.with_suffix(".npy"))
    path.with_suffix(".json").write_text(json.dumps(cases.as_lists(column)))
    return str(path.with_suffix(".json"))


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
