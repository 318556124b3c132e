"""Answers of folders of maps: each category has a threshold of its own, and pictures wait until they are looked at."""

from __future__ import annotations

import html
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pixels

from openworld_metrics import AnomalySuite, compare, read
from openworld_metrics.answers import pictures, worst_images
from openworld_metrics.answers.answer import Bars, Matrix
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.answers.computing import compute_models
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.faces.page import worker
from tests.conftest import Run

CATEGORIES = ("bottle", "cable")
SHIFT = 2.0  # of the scores of the second category
SIDE, EACH = 16, 15


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two categories whose scores lie on scales 0 to 1.6 and 2 to 3.6, in the layout of MVTec AD, and two models."""
    folder, rng = tmp_path_factory.mktemp("mvtec"), np.random.default_rng(4)
    for place, category in enumerate(CATEGORIES):
        (folder / "data" / category / "train" / "good").mkdir(parents=True)
        for defect in ("good", "crack"):
            for kind in ("data", "maps", "other"):
                (folder / kind / category / "test" / defect).mkdir(parents=True)
            for i in range(EACH):
                mask = np.zeros((SIDE, SIDE), np.uint8)
                if defect == "crack":
                    mask[3:8, 4:9] = 255
                    truth = folder / "data" / category / "ground_truth" / defect
                    truth.mkdir(parents=True, exist_ok=True)
                    Pixels.fromarray(mask).save(truth / f"{i:03d}_mask.png")
                Pixels.fromarray(mask).save(folder / "data" / category / "test" / defect / f"{i:03d}.png")
                for kind, strength in (("maps", 0.6), ("other", 0.3)):
                    scores = rng.random((SIDE, SIDE)) + strength * (mask > 0) * rng.random() + SHIFT * place
                    np.save(folder / kind / category / "test" / defect / f"{i:03d}.npy", scores)
    return folder


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "LEAST", 64)


def scores_of(folder: Path, category: str, defect: str) -> list[float]:
    paths = sorted((folder / "maps" / category / "test" / defect).glob("*.npy"))
    return [float(np.load(path).max()) for path in paths]


def best_f1(anomalous: list[float], normal: list[float]) -> tuple[int, int]:
    """Defects missed and false alarms at the threshold of the best F1, of equal ones the highest."""
    counts = {}
    for at in [-np.inf, *anomalous, *normal]:
        tp, fp = sum(score > at for score in anomalous), sum(score > at for score in normal)
        counts[2 * tp / (len(anomalous) + tp + fp), at] = (len(anomalous) - tp, fp)
    return counts[max(counts)]


def test_each_category_is_decided_at_a_threshold_of_its_own(folder: Path) -> None:
    """Which a threshold over both would contradict: all images of one category score above those of the other."""
    reading = read("anomaly_suite", folder / "maps", folder / "data")
    (answer,) = answers_of("anomaly_suite", reading, {}, intervals=False).values()
    expected = [best_f1(*(scores_of(folder, name, kind) for kind in ("crack", "good"))) for name in CATEGORIES]
    missed, alarms = np.sum(expected, axis=0).tolist()
    matrix, bars = answer.figures[:2]
    assert isinstance(matrix, Matrix)
    assert isinstance(bars, Bars)
    assert [row[0] for row in matrix.counts] == [30 - missed, alarms]
    assert [bars.counts[2 * i][1] for i in range(2)] == [own for own, _ in expected]
    assert [bars.counts[2 * i + 1][0] for i in range(2)] == [own for _, own in expected]
    assert answer.decisions is None, "one threshold for all"
    assert not any("pooled" in figure.note for figure in answer.figures)
    assert [group.name for group in answer.groups] == [*CATEGORIES]
    for place, group in enumerate(answer.groups):
        assert SHIFT * place < float(group.thresholds["image"]) < SHIFT * place + 1.7
        table = answer.side_by_side
        assert table is not None
        called = group.samples["called"]
        assert sum(called[:EACH]) + sum(called[EACH:]) == sum(called)
    kinds = [image.kind for image in answer.images]
    assert kinds == sorted(kinds, key=[*worst_images.KINDS].index)
    assert sum(kind == "missed" for kind in kinds) == sum(min(own, 5) for own, _ in expected)
    assert sum(kind == "alarm" for kind in kinds) == sum(min(own, 5) for _, own in expected)


def test_page_report_and_terminal_decide_alike(folder: Path, run: Run, tmp_path: Path) -> None:
    """The same defects missed, false alarms and worst images, in the same order, and the same numbers."""
    archives = [shutil.make_archive(str(tmp_path / kind), "zip", folder / kind) for kind in ("maps", "data")]
    files = [{"maps": [archives[0]]}, {"data": [archives[1]]}]
    (page,) = worker.compute(worker.Request("anomaly_suite", files, options=dict(AnomalySuite.options))).values()
    matrix = page.figures[0]
    assert isinstance(matrix, Matrix)
    (_, missed), (alarms, _) = matrix.counts
    places = ["--maps", str(folder / "maps"), "--data", str(folder / "data")]
    code, output, _ = run("anomaly", *places, "--report", str(tmp_path / "report"))
    assert code == 0
    text = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert f"{missed} of 30 defects are missed, {alarms} of 30 normal images are false alarms" in text
    numbers = {each.key: each.value for each in page.numbers[page.model]}
    results = json.loads(output)
    assert numbers == {key: results[key] for key in numbers}
    shown = text.partition("Images judged worst")[2]
    at = [shown.index(html.escape(image.name)) for image in page.images]
    assert len(at) > 5
    assert at == sorted(at)


def test_numbers_are_those_of_arrays(folder: Path) -> None:
    """Category by category, as all at once, with their intervals and differences, to the bit."""
    options: dict[str, Any] = {"n_resamples": 60, "confidence_level": 0.9}
    reading = read("anomaly_suite", {"one": folder / "maps", "two": folder / "other"}, folder / "data")
    answers = answers_of("anomaly_suite", reading, options)
    for name, columns in reading.models.items():
        assert answers[name].results[name] == AnomalySuite(**options).compute(**columns)
    table = compare(AnomalySuite(), *reading.models.values(), n_resamples=60, confidence_level=0.9)
    rows = [row for row in answers["one"].differences if row.first == answers["one"].best]
    sign = 1 if answers["one"].best == "one" else -1
    assert [sign * row.difference for row in rows] == table["difference"]
    assert [row.p_value for row in rows] == table["p_value"]


def test_pictures_wait_until_they_are_looked_at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers draw none, and each is drawn once."""
    drawn: list[Any] = []
    draws = pictures.draw_map

    def counted(*values: Any, **options: Any) -> Any:
        drawn.append(values)
        return draws(*values, **options)

    monkeypatch.setattr(pictures, "draw_map", counted)
    reading = read("anomaly_suite", {"one": folder / "maps", "two": folder / "other"}, folder / "data")
    answers = answers_of("anomaly_suite", reading, {}, intervals=False)
    assert not drawn
    first = answers["one"].images[0]
    once = len(drawn)
    assert first.kind
    assert [each.name.rpartition(", ")[2] for each in first.beside] == [first.name, "two"]
    assert answers["one"].images[0] is first
    assert len(drawn) == once
    again = pickle.loads(pickle.dumps(answers["one"]))
    assert repr(again.images) == repr(answers["one"].images)


def test_files_are_read_once_for_numbers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from openworld_metrics.reading.maps import files

    read_files: list[Any] = []
    one = files.read_map

    def counted(path: Path) -> Any:
        read_files.append(path)
        return one(path)

    monkeypatch.setattr(files, "read_map", counted)
    reading = read("anomaly_suite", folder / "maps", folder / "data")
    subject = subject_of("anomaly_suite")
    compute_models(subject, reading, {**subject.metric.options, **reading.options}, intervals=False)
    assert sorted(read_files) == sorted((folder / "maps").rglob("*.npy"))
