"""Each column of each file is used as something or named as not used, and each file adds something."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from openworld_metrics import read
from openworld_metrics.faces.page.worker import Request, compute, look
from openworld_metrics.reading.columns.metrics import MadeOf
from openworld_metrics.reading.cures import cures_of, sentence_of
from openworld_metrics.reading.reading import Reading
from tests.conftest import Run
from tests.examples import many, seeds
from tests.reading.page import read_page, request

WORDS = ("A", "B", "C")


def extra(rng: Random, size: int) -> Any:
    """A column that is no score by its name: words, whole numbers, fractions, distinct words, or booleans."""
    makers = (
        lambda: rng.choice(WORDS),
        lambda: rng.randrange(7),
        lambda: rng.random(),
        lambda: f"word{rng.random()}",
        lambda: rng.random() < 0.5,
    )
    make = rng.choice(makers)
    return [make() for _ in range(size)]


def files_of(rng: Random) -> dict[str, pd.DataFrame]:
    """One to three files of the same samples, with models' scores, and columns that are anything."""
    size, number = rng.randint(6, 12), rng.randint(1, 3)
    names = [f"i{place}.png" for place in range(size)]
    labels = [0, 1] * (size // 2) + [0] * (size % 2)
    is_named = rng.random() < 0.7
    frames = {}
    for place in range(number):
        columns: dict[str, Any] = {"image": names} if is_named else {}
        for model in rng.sample(("score", "msp", "score_v2", "ours", "knn", "baseline"), rng.randint(1, 3)):
            columns[model] = [rng.random() for _ in range(size)]
        if place == 0 or rng.random() < 0.5:
            columns["is_ood"] = labels
        for name in rng.sample(("hospital", "site", "fold", "width", "note", "predicted"), rng.randint(0, 3)):
            columns[f"{name}{place}"] = extra(rng, size)
        frame = pd.DataFrame(columns)
        frame = frame[rng.sample([*frame], len(frame.columns))]
        frames[f"run{place}.csv"] = frame.sample(frac=1, random_state=rng.randrange(99)) if is_named else frame
    return frames


def census_of(reading: Reading, frames: dict[str, pd.DataFrame]) -> None:
    """Check that each column of each file is there once, used or not."""
    columns = [(file, name) for file, frame in frames.items() for name in frame]
    names = [f"{file}: {name}" if len(frames) > 1 else name for file, name in columns]
    assert [*reading.uses] == names
    unused = [name for name, role in reading.uses.items() if not role]
    assert list(reading.census.left_out.get(("columns", "that are not used"), ())) == unused
    assert reading.census.there("columns") == len(names)
    assert reading.census.used["columns"] == len(names) - len(unused)
    said = next((note for note in reading.notes if note.startswith("Not used: ")), "Not used: .")
    assert said == f"Not used: {', '.join(unused)}."


@many
@given(seed=seeds)
def test_every_column_of_every_file_is_used_or_named(seed: int) -> None:
    """By `read` and on the page; each score is of a model, and nobody's labels are left out."""
    frames = files_of(Random(seed))
    with TemporaryDirectory() as folder:
        paths = [Path(folder, file) for file in frames]
        for path, frame in zip(paths, frames.values()):
            frame.to_csv(path, index=False)
        reading, page = read("ood_bench", paths), read_page("ood_bench", [paths])
    census_of(reading, frames)
    assert (page.uses, page.census, [*page.models]) == (reading.uses, reading.census, [*reading.models])
    for name, role in reading.uses.items():
        header = name.rpartition(": ")[2]
        if header in ("score", "score_v2", "is_ood"):
            assert role == ("references" if header == "is_ood" else "predictions")
    used = [name for name, role in reading.uses.items() if role == "predictions"]
    assert len(reading.models) == len(used)
    if len(used) > 1:  # each model is called by its column, and by its file where another file has such a column
        headers = [name.rpartition(": ")[2] for name in used]
        for model, name in zip(sorted(reading.models), sorted(used)):
            assert model.rpartition(": ")[2] in headers
            assert headers.count(model.rpartition(": ")[2]) == 1 or ": " in model, name


@pytest.mark.parametrize(
    ("columns", "models"),
    [
        (["score", "score_v2"], ["score", "score_v2"]),
        (["score_a", "score_b"], ["score_a", "score_b"]),
        (["msp", "score_v2"], ["msp", "score_v2"]),
        (["knn", "energy_v2"], ["knn", "energy_v2"]),
        (["baseline", "ours"], ["baseline", "ours"]),
        (["value", "anomaly_score"], ["anomaly_score"]),
    ],
)
def test_the_word_score_makes_no_column_the_only_one(columns: list[str], models: list[str], tmp_path: Path) -> None:
    rng = Random(0)
    frame = pd.DataFrame({name: [rng.random() for _ in range(8)] for name in columns})
    frame.assign(is_ood=[0, 1] * 4).to_csv(tmp_path / "x.csv", index=False)
    reading = read("ood_bench", tmp_path / "x.csv")
    assert [*reading.models] == models
    if len(models) == 1:
        assert reading.uses["anomaly_score"] == "predictions"
        said, offer = reading.notes
        assert said == "Not used: value."
        assert sentence_of(offer) == "Scores of another model may be in value."
        assert [cure.choices for cure in cures_of(offer)] == [{"columns": {"predictions": ["anomaly_score", "value"]}}]
        assert [*read("ood_bench", tmp_path / "x.csv", columns={"predictions": [*columns]}).models] == columns


def run_file(path: Path, seed: int, **columns: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    rng = Random(seed)
    scores = [rng.random() for _ in range(8)]
    frame = pd.DataFrame({"image": [f"{i}.png" for i in range(8)], "msp": scores, "label": [0, 1] * 4, **columns})
    frame.to_csv(path, index=False)
    return path


def added(metric: str, one: Path, two: Path, wishes: MadeOf) -> Request:
    """What a page asks for when a file is added to another, whose columns have been chosen."""
    return Request(metric, [{"": [str(one)], "two": [str(two)]}], wishes=wishes, added=[str(two)])


def test_a_model_that_is_added_on_a_page(tmp_path: Path, run: Run) -> None:
    """It is guessed as if it came alone, beside choices for the model before, and both have the command's names."""
    one, two = run_file(tmp_path / "run1.csv", 1), run_file(tmp_path / "run2.csv", 2)
    wishes = {**look(request("ood_bench", [[one]])).made_of, "predictions": ["-msp"]}
    seen = look(added("ood_bench", one, two, wishes))
    assert (seen.error, seen.made_of["predictions"]) == ("", ["-msp", "run2: msp"])
    answers = compute(request("ood_bench", [[one, two]], wishes=seen.made_of), False)
    code, output, _ = run("compute", "ood_bench", one, two, "--metrics", "auroc")
    assert code == 0
    assert [*answers] == [*json.loads(output)["models"]] == ["run1: msp", "run2: msp"]
    code, output, errors = run(
        "compute", "ood_bench", one, two, "--predictions=-run1: msp,run2: msp", "--metrics", "auroc"
    )
    assert [*json.loads(output)["models"]] == ["run1: msp", "run2: msp"], errors


def test_files_of_one_name(tmp_path: Path, run: Run) -> None:
    """Their folders tell them apart, and, on a page, which has none, a number."""
    one, two = run_file(tmp_path / "a" / "scores.csv", 1), run_file(tmp_path / "b" / "scores.csv", 2)
    assert [*read("ood_bench", [one, two]).models] == ["a/scores: msp", "b/scores: msp"]
    assert [*read_page("ood_bench", [[one, two]]).models] == ["scores: msp", "scores 2: msp"]
    for name in ("scores.csv", "predictions.csv"):
        other = run_file(tmp_path / "c" / name, 3)
        code, output, errors = run("compare", "ood_bench", one, other, "--metrics", "auroc")
        assert (code, json.loads(output)["key"]) == (0, ["auroc"]), errors


def test_a_file_that_adds_nothing(tmp_path: Path, run: Run) -> None:
    one, two = run_file(tmp_path / "run1.csv", 1), tmp_path / "labels.csv"
    pd.read_csv(one)[["image", "label"]].to_csv(two, index=False)
    message = "labels.csv: expected a column that is used, got image, label, which add nothing to the other files"
    with pytest.raises(ValueError, match=message):
        read("ood_bench", [one, two])
    assert message in run("compute", "ood_bench", one, two)[2]
    wishes = look(request("ood_bench", [[one]])).made_of
    assert message in look(added("ood_bench", one, two, wishes)).error
    assert "expected another file, got the one that is there" in look(request("ood_bench", [[one, one]])).error


def test_logits_of_two_files(tmp_path: Path) -> None:
    """The scores that are computed of each are of its own predictions."""
    rng = np.random.default_rng(0)
    labels, files = np.asarray([0, 1, -1, 0, 1, -1]), [tmp_path / "a.npz", tmp_path / "b.npz"]
    for file in files:
        np.savez(file, logits=rng.normal(size=(6, 2)), labels=labels)
    both = read("openauc", files).models
    kinds = ("msp", "max logit", "energy", "entropy")
    assert [*both] == [f"{stem}: {kind} of logits" for stem in "ab" for kind in kinds]
    for file in files:
        for name, columns in read("openauc", file).models.items():
            for column, values in columns.items():
                assert np.array_equal(both[f"{file.stem}: {name}"][column], values)


def test_groups_are_offered(tmp_path: Path, run: Run) -> None:
    """By one press on a page, which sets the column, and by the flag that the note names."""
    words = [*"AABBAABB"]
    path = run_file(tmp_path / "x.csv", 1, hospital=words, patient=[*"abababab"], note=[*"stuvwxyz"])
    seen = look(request("ood_bench", [[path]]))
    assert seen.groups == ["hospital"]
    grouped = look(request("ood_bench", [[path]], wishes={**seen.made_of, "groups": ["hospital"]}))
    assert (grouped.error, grouped.groups) == ("", [])
    note = next(note for note in read("ood_bench", path).notes if "by hospital" in note)
    assert [cure.choices for cure in cures_of(note)] == [{"columns": {"groups": "hospital"}}]
    assert "to take it so, use --groups hospital" in run("compute", "ood_bench", path)[2]
    code, output, _ = run("compute", "ood_bench", path, "--groups", "hospital", "--metrics", "auroc")
    assert (code, json.loads(output)["groups"]["group"]) == (0, ["A", "B"])


@pytest.mark.parametrize("metric", ["openauc", "macro_open_f", "micro_open_f", "accuracyk"])
@pytest.mark.parametrize("known", [["cat", "dog", "ship"], ["bad", "good", "pass"]])
def test_names_of_predicted_classes(metric: str, known: list[str], tmp_path: Path, run: Run) -> None:
    """They share the mapping of the true ones: the results of ids, by every door."""
    rng = Random(metric)
    size = 40
    predicted = [rng.randrange(3) for _ in range(size)]
    true = [rng.randrange(0 if metric == "accuracyk" else -1, 3) for _ in range(size)]
    scores = [rng.random() for _ in range(size)]
    words = pd.DataFrame(
        {
            "file": [f"{i}.png" for i in range(size)],
            "true": ["unknown" if one < 0 else known[one] for one in true],
            "pred": [known[one] for one in predicted],
            "score": scores,
        }
    )
    words.to_csv(tmp_path / "words.csv", index=False)
    words.assign(true=true, pred=predicted).to_csv(tmp_path / "ids.csv", index=False)
    ids, named = (run("compute", metric, tmp_path / f"{each}.csv") for each in ("ids", "words"))
    assert (named[0], named[1]) == (0, ids[1]), named[2]
    flags = ["--predictions", f"{tmp_path / 'words.csv'}:pred", "--references", f"{tmp_path / 'words.csv'}:true"]
    flags += [] if metric == "accuracyk" else ["--open-scores", f"{tmp_path / 'words.csv'}:score"]
    assert run("compute", metric, *flags)[1] == ids[1]
    reading = read(metric, tmp_path / "words.csv")
    assert f"predictions and references are names of 3 classes: {', '.join(known)}" in reading.guesses
    page = read_page(metric, [[tmp_path / "words.csv"]])
    for column in ("predictions", "references"):
        assert np.array_equal(page.columns[column], reading.columns[column])


def test_names_of_predicted_classes_beside_ids(tmp_path: Path) -> None:
    cases = {("0,1", "cat,dog"): "class ids, as references are, got 'cat'", ("cat,dog", "0,1"): "names of the columns"}
    for (true, pred), message in cases.items():
        pd.DataFrame({"true": true.split(","), "pred": pred.split(","), "score": [0.5, 0.25]}).to_csv(
            tmp_path / "x.csv", index=False
        )
        with pytest.raises(ValueError, match=message):
            read("openauc", tmp_path / "x.csv")


def test_files_that_contradict_each_other(tmp_path: Path) -> None:
    """In any column of all models, such as groups; a choice settles which holds."""
    one = run_file(tmp_path / "a.csv", 1, group=[*"AABBAABB"])
    two = run_file(tmp_path / "b.csv", 2, group=[*"BBBBAAAA"])
    with pytest.raises(
        ValueError, match=r"b\.csv: group: expected the groups that a.csv has, since their rows are taken"
    ):
        read("ood_bench", [one, two])
    assert read("ood_bench", [one, two], columns={"groups": "group"}).uses["b.csv: group"] == ""
