"""The tables of docs/six-libraries.md and of the README hold what the libraries say that are installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from docs.building import six_libraries
from tests.docs.blocks import PAGES

Four = tuple[np.ndarray, np.ndarray]  # scores and labels


def torchmetrics(scores: np.ndarray, labels: np.ndarray) -> float:
    torch = pytest.importorskip("torch")
    ranking = pytest.importorskip("torchmetrics.functional.classification")
    return float(ranking.binary_auroc(torch.tensor(scores, dtype=torch.float32), torch.tensor(labels)))


def sklearn(scores: np.ndarray, labels: np.ndarray) -> float:
    metrics = pytest.importorskip("sklearn.metrics")
    return float(metrics.top_k_accuracy_score(labels, scores[None], k=2, labels=range(4)))


def oodeel(scores: np.ndarray, labels: np.ndarray) -> float:
    metrics = pytest.importorskip("oodeel.eval.metrics")
    return float(metrics.bench_metrics(scores, labels, metrics=["fpr95tpr"])["fpr95tpr"])


def xcurve(scores: np.ndarray, labels: np.ndarray) -> float:
    return float(pytest.importorskip("XCurve.Metrics").Acc_At_TPR(scores, labels, 0.95))


def mapie(scores: np.ndarray, labels: np.ndarray) -> float:
    return float(pytest.importorskip("mapie.metrics.uncertainty").auarc(labels, scores))


def ours(metric: om.Metric, **columns: object) -> float:
    (value,) = metric.compute(**columns).values()
    return float(value)


# theirs and ours, by the first word of a row
FOUR_NUMBERS: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "torchmetrics": (torchmetrics, lambda s, y: om.auroc(positives=s[y == 1], negatives=s[y == 0])),
    "scikit-learn": (
        sklearn,
        lambda s, y: ours(om.AccuracyK(k_list=2, ties="expected"), predictions=s[None], references=y),
    ),
    "oodeel": (oodeel, lambda s, y: ours(om.OODBench(metrics="fpr95tpr"), predictions=s, references=y)),
    "XCurve": (xcurve, lambda s, y: om.accuracy_at_tpr(positives=s[y == 1], negatives=s[y == 0])),
    "MAPIE": (mapie, lambda s, y: ours(om.OODBench(metrics="auarc"), predictions=-s, references=1 - y)),
}
ROW = re.compile(
    r"^\| ([\w-]+) \d.* \| ([\d. ]+) \| (?:class )?([\d ]+) \| ([\d.]+) \| ([\d.]+)(?: with [^|]*)? "
    r"\|.*?(?:of (?:class )?([\d ]+) it says ([\d.]+))? \|$",
    re.MULTILINE,
)
ROWS = {library: cells for library, *cells in ROW.findall(PAGES["README.md"].read_text(encoding="utf-8"))}


def test_the_readme_has_five() -> None:
    assert [*ROWS] == [*FOUR_NUMBERS]


def test_ties_are_misses_by_default() -> None:
    """As the row of top-k says, which is of the option."""
    columns: dict[str, Any] = dict(predictions=[[1.0] * 4], references=[3], k_list=2)
    values = {ties: om.AccuracyK(ties=ties).compute(**columns)["accuracy@2"] for ties in ("strict", "expected")}
    assert values == {"strict": 0.0, "expected": 0.5}
    assert om.AccuracyK().compute(**columns) == {"accuracy@2": 0.0}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ROWS)
def test_four_numbers(library: str) -> None:
    theirs, exact = FOUR_NUMBERS[library]
    scores, labels, said, value, other_labels, said_of_others = (np.asarray(c.split(), float) for c in ROWS[library])
    assert len(scores) == 4
    for each, number in ((labels, said), (other_labels, said_of_others)):
        if len(each):
            assert exact(scores, each.astype(int)) == value
            assert theirs(scores, each.astype(int)) == pytest.approx(number, abs=5e-5)


@pytest.mark.filterwarnings("ignore")
def test_the_table_is_what_they_say() -> None:
    page = six_libraries.PAGE.read_text(encoding="utf-8")
    table = page.partition(six_libraries.BEGIN)[2].partition(six_libraries.END)[0].splitlines()
    stored = {line.split()[1]: line.split("|")[2:] for line in table}
    head, rule, *rows = six_libraries.lines(six_libraries.measured())
    assert table[:2] == [head, rule]
    assert len(table) == 2 + len(six_libraries.LIBRARIES)
    assert len(rows) >= 2  # ours, and scikit-learn's
    for row in rows:
        assert stored[row.split()[1]] == row.split("|")[2:]  # whatever the version
