"""The commands of docs/real-files.md, on small files of the same forms, against scikit-learn on the same rows."""

from __future__ import annotations

import glob
import json
import shlex
from itertools import pairwise
from pathlib import Path
from statistics import harmonic_mean
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.conftest import Run
from tests.docs.blocks import PAGES, commands, steps

PAGE = "docs/real-files.md"
ASV = ["bonafide", "spoof"]


def write(name: str, rows: pd.DataFrame, mark: str, *, header: bool = False) -> None:
    rows.to_csv(name, sep=mark, header=header, index=False, na_rep="nan")


def clips(rng: np.random.Generator, name: str, number: int) -> pd.DataFrame:
    """The names of clips, with {label} and {number} in their form, and their scores; every second is an anomaly."""
    labels = ["normal", "anomaly"] * number
    names = [name.format(label=label, number=f"{place:04}") for place, label in enumerate(labels)]
    return pd.DataFrame({"name": names, "score": 8 + rng.normal(size=len(names)).round(2)})


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, pd.DataFrame]:
    """The files of the page, by their names."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    files = {}
    for machine in ("00", "02"):
        files[f"anomaly_score_fan_id_{machine}.csv"] = clips(rng, f"{{label}}_id_{machine}_{{number}}.wav", 30)
    for section in ("00", "01", "02"):
        domains = [
            clips(rng, f"section_{section}_{one}_test_{{label}}_{{number}}.wav", 20) for one in ("source", "target")
        ]
        files[f"anomaly_score_bearing_section_{section}_test.csv"] = pd.concat(domains)
    for name, own in files.items():
        write(name, own, ",")
    for name in ("dev-1.txt", "test-1.txt"):
        sides = np.where(rng.random(60) < 0.5, -1, 1)
        files[name] = pd.DataFrame({"class": sides, "score": np.where(np.arange(60) % 7, rng.normal(sides), np.nan)})
        write(name, files[name], " ")
    keys = [ASV[place] for place in rng.integers(0, 2, 40)]
    speech = pd.DataFrame({"utterance": [f"LA_E_{1000 + place}" for place in range(40)], "score": rng.normal(size=40)})
    files["asvspoof.txt"] = speech.assign(key=keys)
    columns = {"speaker": "LA_0079", "utterance": speech["utterance"], "-": "-", "key": keys, "score": speech["score"]}
    write("asvspoof.txt", pd.DataFrame(columns), " ")
    write("scores.txt", speech, " ")
    write("keys.lst", files["asvspoof.txt"][["utterance", "key"]].sample(frac=1, random_state=0), " ")
    real, samples = (rng.normal(mean, 50, 30) - 100 for mean in (0, 40))
    files["rank.json"] = pd.DataFrame({"real": real, "samples": samples})
    nested = {
        "name": "rank_threshold",
        "predictions": {"real": [*real], "samples": [*samples]},
        "metrics": {"auc": 0.7},
    }
    Path("rank.json").write_text(json.dumps(nested))
    times = pd.date_range("2015-09-08", periods=50, freq="5min").strftime("%Y-%m-%d %H:%M:%S")
    label, value = rng.integers(0, 2, 50), rng.integers(20, 90, 50)
    series = {"timestamp": times, "value": value, "anomaly_score": rng.random(50), "raw_score": rng.random(50)}
    files["numenta_speed_7578.csv"] = pd.DataFrame({**series, "label": label, "S(t)_standard": 0.0})
    write("numenta_speed_7578.csv", files["numenta_speed_7578.csv"], ",", header=True)
    return files


def auc(rows: pd.DataFrame, **how: Any) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(rows["name"].str.contains("anomaly"), rows["score"], **how))


def eer_of(known: list[float], unknown: list[float]) -> float:
    """Where FPR = FNR on the ROC curve, which is linear between its points."""
    from sklearn.metrics import roc_curve

    labels = [0] * len(known) + [1] * len(unknown)
    fpr, tpr, _ = roc_curve(labels, [*known, *unknown], drop_intermediate=False)
    gaps = fpr + tpr - 1  # ascending; 0 at the EER
    end = int(np.argmax(gaps >= 0))
    share = -gaps[end - 1] / (gaps[end] - gaps[end - 1])
    return float(fpr[end - 1] + share * (fpr[end] - fpr[end - 1]))


def trials_of(rows: pd.DataFrame) -> tuple[list[float], list[float]]:
    """The scores of impostors and of genuine trials, without gaps."""
    impostors, genuine = (rows["score"][rows["class"] == side].dropna().tolist() for side in (-1, 1))
    return impostors, genuine


def errors_of(impostors: list[float], genuine: list[float], threshold: float) -> dict[str, float]:
    """The shares of false matches and of false non-matches at a threshold."""
    false = [score > threshold for score in impostors], [score <= threshold for score in genuine]
    return {name: sum(own) / len(own) for name, own in zip(("fpr", "fnr"), false)}


def threshold_of(impostors: list[float], genuine: list[float]) -> float:
    """The middle of the two scores between which both rates are closest."""
    scores = sorted({*impostors, *genuine})
    middles = [(low + high) / 2 for low, high in pairwise(scores)]
    rates = {one: errors_of(impostors, genuine, one) for one in middles}
    return min(middles, key=lambda one: abs(rates[one]["fpr"] - rates[one]["fnr"]))


def expected(rows: dict[str, pd.DataFrame], cut: float) -> list[dict[str, Any]]:
    """What each command of the page prints, in their order, at the threshold that one of them fits."""
    from sklearn.metrics import auc as area, precision_recall_curve, roc_auc_score

    fans = [own for name, own in rows.items() if "fan" in name]
    sections = [own for name, own in rows.items() if "bearing" in name]
    machines = {"auroc": [auc(own) for own in fans], "pauroc@fpr10_mcclish": [auc(own, max_fpr=0.1) for own in fans]}
    domains = [
        [auc(own[own["name"].str.contains(f"{one}_test_normal|anomaly")]) for own in sections]
        for one in ("source", "target")
    ]
    parts = [auc(own, max_fpr=0.1) for own in sections]
    dev, test = (trials_of(rows[name]) for name in ("dev-1.txt", "test-1.txt"))
    speech = rows["asvspoof.txt"]
    known, unknown = ((-speech["score"][speech["key"] == word]).tolist() for word in ASV)
    eer = {"eer": eer_of(known, unknown)}
    text = rows["rank.json"]
    labels, scores = np.repeat([0, 1], len(text)), np.concatenate([text["real"], text["samples"]])
    precision, recall, _ = precision_recall_curve(labels, scores)
    series = rows["numenta_speed_7578.csv"]
    return [
        {**{name: np.mean(each) for name, each in machines.items()}, "groups": {"group": ["00", "02"], **machines}},
        {
            "auroc": harmonic_mean([*domains[0], *domains[1]]),
            "groups": {
                "group": [*(f"{one}{rest}" for one in ("source", "target") for rest in ("", "/00", "/01", "/02"))],
                "auroc": [each for own in domains for each in (harmonic_mean(own), *own)],
            },
        },
        {
            "pauroc@fpr10_mcclish": harmonic_mean(parts),
            "groups": {"group": ["00", "01", "02"], "pauroc@fpr10_mcclish": parts},
        },
        {"threshold": cut},
        {"eer": eer_of(*dev), **errors_of(*dev, cut)},
        errors_of(*test, cut),
        eer,
        eer,
        {"auroc": roc_auc_score(labels, scores), "aupr_out_trapezoid": area(recall, precision)},
        {"auroc": roc_auc_score(series["label"], series["anomaly_score"])},
    ]


def test_the_commands_of_the_page(rows: dict[str, pd.DataFrame], run: Run) -> None:
    calls = [command for step in steps(PAGE) if step.kind == "commands" for command in commands(step.text)]
    fit = next(command for command in calls if command.split()[1] == "threshold")
    cut = json.loads(run(*shlex.split(fit)[1:])[1])["threshold"]
    dev = trials_of(rows["dev-1.txt"])
    assert errors_of(*dev, cut) == errors_of(*dev, threshold_of(*dev))
    for command, result in zip(calls, expected(rows, cut), strict=True):
        program, *arguments = shlex.split(command)
        assert program == "openworld-metrics"
        code, output, errors = run(
            *(file for word in arguments for file in (sorted(glob.glob(word)) if "??" in word else [word]))
        )
        assert code == 0, errors
        printed = json.loads(output)
        tables = [each.pop("groups", {}) for each in (printed, result)]
        assert {name: printed[name] for name in result} == pytest.approx(result, abs=1e-12), command
        if tables[1]:
            assert tables[0].pop("group") == tables[1].pop("group")
            assert tables[0] == {name: pytest.approx(column, abs=1e-12) for name, column in tables[1].items()}, command


def test_the_words_of_the_page(rows: dict[str, pd.DataFrame]) -> None:
    """Each pair of the table of words is read, in a column that has no others."""
    from openworld_metrics import read

    text = PAGES[PAGE].read_text(encoding="utf-8").partition("## Words for the two sides")[2].partition("\n\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")][2:]
    assert len(lines) == 9
    for known, unknown in lines:
        for pair in ((one, other) for one in known.split(", ") for other in unknown.split(", ")):
            table = pd.DataFrame({"score": [0.25, 0.5, 0.75], "key": [pair[0], pair[1], pair[0]]})
            assert read("ood_bench", table).columns["references"].tolist() == [0, 1, 0], pair
