"""Labels and groups from names of rows and of files: those of the same table with columns for them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from openworld_metrics import read
from openworld_metrics.ood.ood_bench import OODBench
from openworld_metrics.reading.columns.metrics import layout_of
from openworld_metrics.reading.rows.from_names import patterns_of
from tests.conftest import Run
from tests.examples import many, seeds

LABEL, GROUPS = "anomaly|normal", r"(?:id|section)_(\d+)"


def clips(rng: Random, section: int, size: int) -> pd.DataFrame:
    words = [rng.choice(("normal", "anomaly")) for _ in range(size)]
    names = [f"section_{section:02}_{word}_{i:04}.wav" for i, word in enumerate(words)]
    return pd.DataFrame({"name": names, "score": [rng.random() for _ in names], "word": words, "id": f"{section:02}"})


def columns_of(reading: Any) -> dict[str, list[Any]]:
    return {name: np.asarray(column, dtype=object).tolist() for name, column in reading.columns.items()}


@many
@given(seed=seeds)
def test_names_say_what_columns_say(seed: int) -> None:
    """In one file or in several, of any form, by names of rows or of files, whatever the order of the rows."""
    rng = Random(seed)
    frames = [clips(rng, section, rng.randint(3, 9)) for section in rng.sample(range(90), rng.randint(1, 3))]
    table = pd.concat(frames)
    by_file = rng.random() < 0.5 and len(frames) > 1
    with TemporaryDirectory() as folder:
        paths = []
        for frame in frames:
            own = frame.assign(name=frame["name"].str.replace(r"section_\d+_", "", regex=True)) if by_file else frame
            kind, marks = rng.choice((("csv", ",\t;"), ("txt", ",\t ")))
            path = Path(folder, f"scores_section_{frame['id'].iloc[0]}_test.{kind}")
            own[["name", "score"]].to_csv(path, sep=rng.choice(marks), header=False, index=False)
            paths.append(path)
        reading = read("ood_bench", paths, label_from_name=LABEL, groups_from_name=GROUPS)
        stated = table.rename(columns={"word": "references", "id": "groups"})
        expected = read("ood_bench", stated[["name", "score", "references", "groups"]])
    assert columns_of(reading) == columns_of(expected)
    assert columns_of(reading)["references"] == [int(word == "anomaly") for word in table["word"]]
    counts = table["word"].value_counts(sort=False)
    by_order = ", ".join(f"{counts[word]} {word}" for word in dict.fromkeys(table["word"]))
    assert any(note.startswith(f"references: {by_order}, by the names in 0") for note in reading.notes)
    source = "the names of their files" if by_file else "the names in 0"
    assert reading.notes[-1].endswith(f", by {source}")


def test_a_group_that_takes_no_part_is_a_blank(tmp_path: Path, run: Run) -> None:
    """DCASE's AUC of a domain has the anomalies of both: 1 and 2/3 of FRONTIER's example."""
    names = {
        "source_normal": (0.1, 0.3),
        "target_normal": (0.5, 0.7),
        "source_anomaly": (0.4,),
        "target_anomaly": (0.8, 0.9),
    }
    rows = [f"section_00_{name}_{i}.wav,{score}" for name, scores in names.items() for i, score in enumerate(scores)]
    (tmp_path / "x.csv").write_text("\n".join(rows))
    flags = ["--label-from-name", LABEL, "--groups-from-name", "(source|target)_normal|anomaly", "--metrics", "auroc"]
    code, output, errors = run("compute", "ood_bench", tmp_path / "x.csv", *flags)
    assert code == 0
    assert json.loads(output)["groups"] == {"group": ["source", "target"], "auroc": [1.0, 2 / 3]}
    assert "note: references: 4 normal, 3 anomaly, by the names in 0\n" in errors
    assert "note: groups: 2 source, 2 target, 3 blank, by the names in 0\n" in errors


def test_parts_that_stand_for_every_value() -> None:
    """Against loops, of random names: a row is of each full group that agrees with its parts."""
    rng = Random(7)
    for _ in range(200):
        rows = [tuple(rng.choice(("a", "b", None)) for _ in range(2)) for _ in range(rng.randint(1, 8))]
        names = [f"x{one or ''}-{other or ''}y" for one, other in rows]
        (pattern,) = patterns_of(layout_of("ood_bench"), {"groups_from_name": "x(a|b)?-(a|b)?y"})
        expected: list[str | None] = []
        for row in rows:
            groups = [
                f"{one}/{other}"
                for one, other in sorted({each for each in rows if None not in each})
                if row[0] in (None, one) and row[1] in (None, other)
            ]
            alone = "/".join(filter(None, row)) or None
            expected.append("|".join(groups) if groups and alone else alone)
        assert pattern.values(names) == expected


def test_sides_and_sets_of_ood_by_names(tmp_path: Path, run: Run) -> None:
    """One file of known samples and of two sets: the numbers of a column for each set, beside all known samples."""
    rng = Random(11)
    words = [rng.choice(("id", "near_svhn", "far_mnist")) for _ in range(60)]
    table = pd.DataFrame({"name": [f"{word}_{i}.png" for i, word in enumerate(words)], "score": [*range(60)]})
    table["score"] = [rng.random() for _ in words]
    place = tmp_path / "x.csv"
    table.to_csv(place, index=False)
    ends = ["--metrics", "auroc"]
    table["name"] = [
        name.replace("id_", "known_").replace("near_", "ood_").replace("far_", "ood_") for name in table["name"]
    ]
    table.to_csv(place, index=False)
    labels, sets = ["--label-from-name", "ood|known"], ["--groups-from-name", "^known|_([a-z]+)_"]
    code, output, errors = run("ood", "--known", place, "--unknown", f"all={place}", *labels, *sets, *ends)
    assert code == 0, errors
    assert f"{words.count('id')} known" in errors
    expected = {}
    for one in ("mnist", "svhn"):
        own = [i for i, word in enumerate(words) if word == "id" or word.endswith(one)]
        scores, unknown = table["score"][own], [int(words[i] != "id") for i in own]
        expected[one] = OODBench(metrics="auroc").compute(predictions=scores, references=unknown)["auroc"]
    mean = sum(expected.values()) / 2
    rows = {"group": ["all", "all/mnist", "all/svhn"], "auroc": [mean, expected["mnist"], expected["svhn"]]}
    assert json.loads(output) == {"auroc": mean, "groups": rows}
    (tmp_path / "known.csv").write_text("name,score\nknown_1,0.5\n")
    code, _, errors = run("ood", "--known", place, "--unknown", tmp_path / "known.csv", *labels)
    assert code == 2
    assert "known.csv: expected unknown samples by their names, got none" in errors


def test_columns_of_names_are_nothing_else(tmp_path: Path) -> None:
    """Speakers 0 to 4 are no scores, and a file's own columns are guessed as without patterns."""
    rows = [f"speaker_{i % 5}_{('normal', 'anomaly')[i % 2]}.wav {i / 40}" for i in range(40)]
    (tmp_path / "x.txt").write_text("\n".join(rows))
    reading = read("ood_bench", tmp_path / "x.txt", label_from_name=LABEL, clusters_from_name=r"speaker_(\d+)")
    assert columns_of(reading) == {
        "predictions": [i / 40 for i in range(40)],
        "references": [i % 2 for i in range(40)],
        "clusters": [str(i % 5) for i in range(40)],
    }
    with pytest.raises(ValueError, match=r"x\.txt: label from name, line 1 and 39 more: 'speaker' is not a label"):
        read("ood_bench", tmp_path / "x.txt", label_from_name="(speaker)")


def test_thresholds_by_names(tmp_path: Path, run: Run) -> None:
    """As of a table with labels: of a file, of a column, of both sides, and with words of one's own."""
    table = clips(Random(5), 0, 40)
    names, labels = tmp_path / "names.csv", tmp_path / "labels.csv"
    table[["name", "score"]].to_csv(names, index=False)
    table[["score", "word"]].to_csv(labels, index=False)
    rule = ["--rule", "eer"]
    own = json.loads(run("threshold", labels, *rule)[1])["threshold"]
    by_names = ["--label-from-name", LABEL]
    values = ["--in-value", "normal", "--out-value", "anomaly"]
    for arguments in (
        [names, *by_names],
        ["--predictions", f"{names}:score", *by_names],
        ["--known", names, "--unknown", names, *by_names],
        [labels, *values],
    ):
        code, output, errors = run("threshold", *arguments, *rule)
        assert code == 0, errors
        assert json.loads(output)["threshold"] == own
    labels.write_text(labels.read_text() + "nan,normal\n")
    assert "--leave-out" in run("threshold", labels, *rule)[2]
    assert json.loads(run("threshold", labels, *rule, "--leave-out")[1])["threshold"] == own
    for arguments in (["--known", labels, "--fpr", "0.1", "--leave-out"], ["--known", labels, "--fpr", "0.1", *values]):
        assert "with a FILE or --predictions of known and unknown samples" in run("threshold", *arguments)[2]


def test_flags_of_columns_and_of_two_models(tmp_path: Path, run: Run) -> None:
    rng = Random(5)
    table = clips(rng, 0, 40)
    for model in ("a", "b"):
        table.assign(score=[rng.random() for _ in range(40)])[["name", "score"]].to_csv(
            tmp_path / f"{model}.txt", sep=" ", header=False, index=False
        )
    flags = ["--label-from-name", LABEL, "--metrics", "auroc"]
    code, output, errors = run("compute", "ood_bench", "--predictions", f"{tmp_path / 'a.txt'}:1", *flags)
    assert code == 0, errors
    scores = pd.read_csv(tmp_path / "a.txt", sep=" ", header=None)[1]
    expected = OODBench(metrics="auroc").compute(predictions=scores, references=table["word"] == "anomaly")
    assert json.loads(output) == expected
    code, output, errors = run(
        "compare", "ood_bench", tmp_path / "a.txt", tmp_path / "b.txt", *flags, "--n-resamples", 99
    )
    assert code == 0, errors
    assert json.loads(output)["first"] == [expected["auroc"]]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"label_from_name": "normal"},
            r"label_from_name: expected a group in parentheses, as in 'id_\(\\d\+\)', or words, ",
        ),
        (
            {"groups_from_name": r"id_\d+"},
            r"groups_from_name: expected a group in parentheses, as in 'id_\(\\d\+\)'; got",
        ),
        ({"groups_from_name": "("}, "groups_from_name: expected a regular expression, got '\\(': missing \\)"),
        ({"label_from_name": "anomaly|normul"}, "x.csv: 0, line 1\\)"),
        ({"groups_from_name": r"(\d+)"}, "in one way, got 'id_00_normal_1.wav', in which it finds 00, 1 \\("),
        ({"label_from_name": "bad|norm"}, "as a word of its own, got 'id_00_normal_1.wav'"),
        ({"label_from_name": "(norm)al|anomaly"}, "with a group that takes part, got 'id_00_anomaly_2.wav' .*line 2"),
        (
            {"label_from_name": "(nope)"},
            r"expected a column of names that match '\(nope\)', got 0 \(id_00_normal_1.wav, …\)",
        ),
        (
            {"label_from_name": LABEL, "columns": {"references": "1"}},
            "label_from_name: expected it or references, got both",
        ),
    ],
)
def test_errors(choices: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id_00_normal_1.wav,0.5\nid_00_anomaly_2.wav,0.75\n")
    with pytest.raises(ValueError, match=message):
        read("ood_bench", tmp_path / "x.csv", **choices)


def test_a_metric_without_labels(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("normal_1.wav,0.5\nanomaly_2.wav,0.75\n")
    with pytest.raises(ValueError, match="label_from_name: expected a metric of tables with labels of two sides"):
        read("accuracyk", tmp_path / "x.csv", label_from_name=LABEL)


def test_errors_in_files_one_below_another(tmp_path: Path) -> None:
    """They name the file and its own line; without patterns, files of several lengths name what reads names."""
    folder = tmp_path / "x"  # whose name says no side
    folder.mkdir()
    for i in range(2):
        (folder / f"{i}.csv").write_text("".join(f"normal_{i}{row}.wav,0.{row}\n" for row in range(3 + i)))
    with pytest.raises(
        ValueError,
        match=r"of different lengths; .*; to take labels from words in names such as .*, use label_from_name=",
    ):
        read("ood_bench", [folder / "0.csv", folder / "1.csv"])
    paths = [tmp_path / f"id_{i}.csv" for i in range(3)]
    for i, path in enumerate(paths):
        rows = [f"normal_{i}.wav,0.5", f"anomaly_{i}.wav,0.75", f"normal_{i}{i}.wav,{'?' if i == 1 else 0.25}"]
        path.write_text("\n".join(rows))
    with pytest.raises(ValueError, match=r"1, line 3 of id_1\.csv: '\?' is not a number"):
        read("ood_bench", paths, label_from_name=LABEL, groups_from_name=r"id_(\d+)")
    reading = read("ood_bench", paths, label_from_name=LABEL, groups_from_name=r"id_(\d+)", leave_out=True)
    assert "line 3 of id_1.csv" in reading.notes[-1]
    assert len(reading.columns["predictions"]) == 8
    paths[2].write_text("normal_2.wav,0.5\nodd_2.wav,0.75\n")
    with pytest.raises(ValueError, match=re.escape("got 'odd_2.wav' (0, line 2 of id_2.csv)")):
        read("ood_bench", paths, label_from_name=LABEL)


def test_which_column_is_of_names(tmp_path: Path) -> None:
    """The one in which the pattern has a match; of two that say otherwise, the one whose header names rows."""
    path = tmp_path / "x.csv"
    path.write_text("{},b,score\nnormal_1,,0.5\nanomaly_2,like normal,0.75\n".replace("{}", "a"))
    message = r"got a, with normal, and b, with none \(line 2\); a header such as file says which names rows"
    with pytest.raises(ValueError, match=message):
        read("ood_bench", path, label_from_name=LABEL)
    path.write_text("file,b,score\nnormal_1,,0.5\nanomaly_2,like normal,0.75\n")
    reading = read("ood_bench", path, label_from_name=LABEL)
    assert reading.columns["references"].tolist() == [0, 1]
    assert reading.notes == ["references: 1 normal, 1 anomaly, by the names in file", "Not used: b."]
    path.write_text("a,b,score\nnormal_1,x,0.5\nodd_2,y,0.75\n")
    with pytest.raises(ValueError, match=r"label_from_name: .* 'anomaly\|normal', got 'odd_2' \(.*a, line 3\)"):
        read("ood_bench", path, label_from_name=LABEL)


def test_files_that_share_some_names(tmp_path: Path, run: Run) -> None:
    """Those with the same names are models, those with other names stand one below another; neither is guessed."""
    for name, rows in (("a", "n_1.wav 0.5\na_2.wav 0.75\n"), ("b", "n_1.wav 0.25\na_3.wav 0.5\n")):
        (tmp_path / f"{name}.txt").write_text(rows.replace("n_", "normal_").replace("a_", "anomaly_"))
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    with pytest.raises(ValueError, match=r"^a\.txt, b\.txt: expected in 0 the same names .* some in several \(3 diff"):
        read("ood_bench", paths, label_from_name=LABEL)
    reading = read("ood_bench", paths, label_from_name=LABEL, groups_from_name=r"(\w)\.txt")
    assert reading.columns["groups"].tolist() == ["a", "a", "b", "b"]
    assert (
        reading.notes[0]
        == "rows of a.txt, b.txt stand one below another, since groups_from_name reads the names of the files"
    )
    paths[1].write_text("anomaly_2.wav 0.25\nnormal_1.wav 0.5\n")
    models = read("ood_bench", paths, label_from_name=LABEL).models
    code, output, errors = run("compute", "ood_bench", *paths, "--label-from-name", LABEL)
    assert (code, [*json.loads(output)["models"]]) == (0, ["a: 1", "b: 1"])
    assert "each is a model; --groups-from-name of a word in the files' names takes their rows one below" in errors
    assert run("compute", "ood_bench", *paths, "--label-from-name", LABEL, "--groups-from-name", r"(\w)\.txt")[0] == 0
    assert [(name, columns["predictions"].tolist()) for name, columns in models.items()] == [
        ("a: 1", [0.5, 0.75]),
        ("b: 1", [0.5, 0.25]),
    ]


PAIRS = (
    ("bonafide", "spoof"),
    ("bona-fide", "Spoof"),
    ("genuine", "impostor"),
    ("target", "nontarget"),
    ("correct", "wrong"),
    ("human", "AI"),
    ("real", "fake"),
    ("benign", "malware"),
    ("OK", "NG"),
)


@pytest.mark.parametrize("pair", PAIRS, ids="/".join)
def test_words_of_a_field(pair: tuple[str, str], tmp_path: Path, run: Run) -> None:
    """Each pair is read and said; in_value and out_value say the other way round, or any words."""
    rng = Random(3)
    table = pd.DataFrame({"score": [rng.random() for _ in range(9)], "key": [pair[i % 2] for i in range(9)]})
    for name, how in (("x.csv", {}), ("x.txt", {"sep": " ", "header": False})):
        path = tmp_path / name
        table.to_csv(path, index=False, **how)
        reading = read("ood_bench", path)
        assert reading.columns["references"].tolist() == [i % 2 for i in range(9)]
        assert f"references: {pair[0]!r} is known and {pair[1]!r} unknown, which higher scores" in reading.guesses[-1]
        code, output, errors = run("compute", "ood_bench", path, "--metrics", "auroc")
        own = json.loads(output)["auroc"]
        assert f"{pair[0]!r} is known" in errors
        turned = ["--in-value", pair[1], "--out-value", pair[0]]
        code, output, errors = run("compute", "ood_bench", path, "--metrics", "auroc", *turned)
        assert code == 0, errors
        assert json.loads(output)["auroc"] == pytest.approx(1 - own, abs=1e-15)
        assert "is known" not in errors


def test_words_of_ones_own(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "x.txt"
    path.write_text("u_1 0.5 up\nu_2 0.75 down\nu_3 0.25 up\nu_4 0.5 down\n")
    code, _, errors = run("compute", "ood_bench", path)
    assert code == 2
    assert "'up' is not a label" in errors
    flags = ["--in-value", "up", "--out-value", "down", "--metrics", "auroc"]
    assert json.loads(run("compute", "ood_bench", path, *flags)[1]) == {"auroc": 0.875}
    path.write_text("u_1 0.5 up\nu_2 0.75 down\nu_3 0.25 side\nu_4 0.5 up\n")
    errors = run("compute", "ood_bench", path, "--references", "2", *flags)[2]
    assert "references: expected 'up' or 'down', got 'side'" in errors


@pytest.mark.parametrize(
    "words", [["normal", "benign", "malignant"], ["human", "car", "unknown"], ["real", "other", "ood"]]
)
def test_words_of_a_field_beside_others_are_names(words: list[str], tmp_path: Path) -> None:
    """Scans are normal, benign or malignant, and a class may be called human."""
    pd.DataFrame({"score": [0.1, 0.5, 0.25], "label": words}).to_csv(tmp_path / "x.csv", index=False)
    unknown = [int(word not in ("normal", "human", "car", "real", "other")) for word in words]
    assert read("ood_bench", tmp_path / "x.csv").columns["references"].tolist() == unknown
