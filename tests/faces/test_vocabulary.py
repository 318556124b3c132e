"""Words of pages: each option and column has some, roles are those of the mock-up, and no docstring is shown."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics.faces.page.vocabulary import OPTIONS, label_of, roles_of, words_of_option
from openworld_metrics.loading import METRICS, metric_class, script
from openworld_metrics.metric.metric import OF_EVERY_METRIC
from openworld_metrics.reading.columns.metrics import layout_of
from openworld_metrics.reading.rows.rows import rows_of
from openworld_metrics.texts import texts

HIDDEN = {"significant_bits", "per_sample", "regions", "percent", *OF_EVERY_METRIC} - {"confidence_level"}


def arguments(metric: str) -> dict[str, str]:
    """The first sentence on each argument, from the docstring of a metric."""
    section = texts(script(metric)).inputs.partition("Args:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\w[\w, ]*): ((?:.*)(?:\n {8,}.*)*)", section, flags=re.MULTILINE)
    first = {names: re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(text.split()))[0] for names, text in entries}
    return {name: text for names, text in first.items() for name in names.split(", ")}


@pytest.mark.parametrize("metric", METRICS)
def test_every_option_and_column_has_words_that_are_no_docstring(metric: str) -> None:
    written = {*arguments(metric).values()}
    assert len(written) > 2
    shown = [name for name in metric_class(metric).options if name not in HIDDEN]
    for name in shown:
        label, help = words_of_option(name)
        assert name in OPTIONS
        assert label[:1].isupper()
        assert not label.endswith(".")
        assert help.endswith(".")
        assert help not in written
    labels = [label_of(metric, column) for column in layout_of(metric).columns]
    assert len({*labels}) == len(labels)
    assert {*labels}.isdisjoint(written)
    assert {*labels}.isdisjoint(column.name for column in layout_of(metric).columns if not column.part_of)


def test_no_words_are_left_of_options_that_went() -> None:
    every = {name for metric in METRICS for name in metric_class(metric).options}
    assert {*OPTIONS} <= every


def written(path: Path, columns: Mapping[str, Sequence[Any]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*columns], *zip(*columns.values())])
    return path


RNG = np.random.default_rng(0)
SCORES = {name: RNG.random(12).round(3).tolist() for name in ("msp", "energy", "knn")}


@pytest.mark.parametrize(
    ("metric", "columns", "expected"),
    [
        (
            "ood_bench",
            {**SCORES, "label": ["ood", "id", "id"] * 4, "dataset": ["svhn", "cifar", "cifar"] * 4},
            {
                **dict.fromkeys(SCORES, "score of 3 detectors"),
                "label": "truth: ood 4, id 8",
                "dataset": "sets: svhn, cifar",
            },
        ),
        (
            "ood_bench",
            {"confidence": SCORES["msp"], "is_ood": [0, 1, 1] * 4},
            {"confidence": "score, sign turned", "is_ood": "truth: 1 (8), 0 (4)"},
        ),
        (
            "openauc",
            {"pred": [0, 1, 2] * 4, "label": [0, 1, -1] * 4, "open_score": SCORES["knn"]},
            {"pred": "predicted class", "label": "truth: 2 classes, 4 unknown", "open_score": "score"},
        ),
        (
            "accuracyk",
            {"cat": SCORES["msp"], "dog": SCORES["energy"], "fox": SCORES["knn"], "truth": ["cat", "dog", "fox"] * 4},
            {**dict.fromkeys(("cat", "dog", "fox"), "scores of the classes"), "truth": "truth: 3 classes"},
        ),
    ],
)
def test_roles(metric: str, columns: dict[str, Any], expected: dict[str, str], tmp_path: Path) -> None:
    rows = rows_of(metric, [written(tmp_path / "scores.csv", columns)])
    assert {name: ", ".join(own) for name, own in roles_of(metric, rows).items()} == expected
