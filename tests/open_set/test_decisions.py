"""Decisions among K + 1 classes: the numbers of papers, of one set of decisions, and their laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import openworld_metrics as om
from tests import cases
from tests.examples import seeds

# truth 0 0 0 1 1 U U U, called 0 0 1 1 U U U 0
COLUMNS: dict[str, Any] = {
    "predictions": [0, 0, 1, 1, 0, 0, 1, 0],
    "references": [0, 0, 0, 1, 1, -1, -2, -3],
    "open_scores": [0.1, 0.2, 0.1, 0.2, 0.9, 0.8, 0.7, 0.3],
}
NUMBERS = {
    "accuracy(K+1)": 5 / 8,
    "f1(known)": 7 / 12,
    "f1(unknown)": 2 / 3,
    "f1(K+1)": 11 / 18,
    "os*": 7 / 12,
    "unk": 2 / 3,
    "hos": 28 / 45,
    "os": 11 / 18,
    "open_miou": 5 / 12,
}


def test_a_case_by_hand() -> None:
    found = om.MacroOpenF(threshold=0.5, decisions=True).compute(**COLUMNS)
    assert {name: found[name] for name in NUMBERS} == NUMBERS
    assert found["macro_open_f"] == pytest.approx(7 / 12, rel=1e-15)
    assert found["macro_open_f_threshold"] == 0.5
    assert om.MicroOpenF(t_list=0.5).compute(**COLUMNS)["micro_open_f"] == 3 / 5
    assert [*found][2:] == [*NUMBERS, "hos_max", "hos_max_threshold"]


@given(seed=seeds)
def test_more_classes(seed: int) -> None:
    """Classes that do not occur have no recall, and an F1 of 0."""
    columns, _ = cases.draw("macro_open_f", seed)
    columns["predictions"] = np.asarray(columns["predictions"])
    if columns["predictions"].ndim == 2:
        columns["predictions"] = columns["predictions"].argmax(axis=1)
    metric = om.MacroOpenF(decisions=True, num_classes=9)
    few, many = metric.compute(**columns), metric.compute(**columns, num_classes=1000)
    for name in ("accuracy(K+1)", "f1(unknown)", "os*", "unk", "hos", "os", "hos_max", "hos_max_threshold"):
        assert many[name] == few[name], name
    assert many["open_miou"] == pytest.approx(few["open_miou"] * 9 / 1000)


@pytest.mark.parametrize(("references", "told"), [([0, 1], "0 unknown"), ([-1, -1], "0 known")])
def test_a_missing_class(references: list[int], told: str) -> None:
    with pytest.raises(ValueError, match=f"expected samples of both classes, got .*{told}"):
        om.MacroOpenF(decisions=True).compute(predictions=[0, 1], references=references, open_scores=[0.1, 0.2])


def test_options_that_do_not_go_together() -> None:
    with pytest.raises(ValueError, match="threshold: expected None with a t_list, got both"):
        om.MacroOpenF(threshold=0.5, t_list=[0.5]).compute(**COLUMNS)
    with pytest.raises(TypeError, match="micro_open_f has no argument 'decisions'"):
        om.MicroOpenF(decisions=True)
