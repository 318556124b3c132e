"""Risk and coverage: literals of other packages, areas in closed form, laws, and errors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import openworld_metrics as om
from openworld_metrics.open_set.risk import risk_names, risk_of_sides, risk_quantities
from openworld_metrics.ranking.counts import as_side
from tests.examples import seeds

NAMES = ["aurc", "augrc", "risk@cov80", "risk@cov7", "coverage@risk5", "coverage@risk50"]

# confidences and errors; aurc of osr-metrics 0.5, augrc of fd-shifts 0.1 (by 1000 there), and by hand the risk of the
# first 4 of 5 samples (and of 4), of the first one, and the coverages within a risk of 0.05 and of 0.5
PRINTED: dict[str, tuple[list[float], list[int], list[float]]] = {
    "distinct": ([0.95, 0.9, 0.8, 0.7, 0.6], [0, 0, 1, 0, 1], [0.196667, 0.12, 0.25, 0.0, 0.4, 1.0]),
    "ties": ([0.9, 0.9, 0.9, 0.6, 0.6], [0, 1, 0, 0, 1], [0.355, 0.18, 1.5 / 4, 1 / 3, 0.0, 1.0]),
    "another order": ([0.9, 0.9, 0.9, 0.6, 0.6], [1, 0, 0, 1, 0], [0.355, 0.18, 1.5 / 4, 1 / 3, 0.0, 1.0]),
    "constant": ([0.9, 0.9, 0.9, 0.9], [0, 0, 1, 1], [0.5, 0.25, 0.5, 0.5, 0.0, 1.0]),
}


def split(scores: Any, errors: Any) -> dict[str, np.ndarray]:
    scores, errors = np.asarray(scores), np.asarray(errors) == 1
    return {"errors": scores[errors], "right": scores[~errors]}


@pytest.mark.parametrize("case", PRINTED)
def test_what_others_print(case: str) -> None:
    confidences, errors, expected = PRINTED[case]
    found = om.risk_coverage(**split(-np.asarray(confidences), errors), metrics=NAMES)
    assert list(found) == NAMES
    assert list(found.values()) == pytest.approx(expected, abs=5e-7)


@given(seed=seeds)
def test_monotone_scores_and_counted_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, errors = rng.integers(0, rng.integers(1, 40), 40) / 8, rng.random(40) < rng.random()
    sides = split(scores, errors)
    found = om.risk_coverage(**sides, metrics=NAMES)
    assert om.risk_coverage(**{name: np.exp(side) for name, side in sides.items()}, metrics=NAMES) == found
    # counted rows are the rows repeated
    counted = (as_side(*np.unique(side, return_counts=True)) for side in sides.values())
    assert risk_of_sides(*counted, risk_quantities(risk_names(NAMES, "metrics"))) == found


def test_areas_in_closed_form_of_a_thousand_million_samples() -> None:
    """Of constant scores the risk is that of all; of errors that score highest, Σ j/(R + j) over N."""
    wanted = risk_quantities(risk_names(["aurc", "augrc"], "metrics"))
    errors, right = 3 * 10**8, 7 * 10**8
    tied = [as_side(np.asarray([0.5]), np.asarray([count])) for count in (errors, right)]
    assert risk_of_sides(*tied, wanted) == pytest.approx({"aurc": 0.3, "augrc": 0.15}, rel=1e-15)
    for last in (1, 10, 1000):
        sides = as_side(np.arange(1.0, last + 1)), as_side(np.zeros(1), np.asarray([right]))
        expected = math.fsum(j / (right + j) for j in range(1, last + 1)) / (right + last)
        found = risk_of_sides(*sides, wanted)
        assert found["aurc"] == pytest.approx(expected, rel=1e-13)
        assert found["augrc"] == float(Fraction(last**2, 2 * (right + last) ** 2))
        one = risk_of_sides(as_side(np.ones(1), np.asarray([last])), sides[1], wanted)
        assert one == pytest.approx(found, rel=1e-6, abs=1e-15)  # errors that are tied with each other alone


def test_no_errors_and_errors_alone() -> None:
    none = dict.fromkeys(NAMES, 0.0) | {"coverage@risk5": 1.0, "coverage@risk50": 1.0}
    assert om.risk_coverage(errors=[], right=[0.5, 0.25, 0.5], metrics=NAMES) == none
    every = {"aurc": 1.0, "augrc": 0.5, "risk@cov80": 1.0, "risk@cov7": 1.0}
    assert om.risk_coverage(errors=[0.5, 0.25, 0.5], right=[], metrics=NAMES) == every | {
        "coverage@risk5": 0.0,
        "coverage@risk50": 0.0,
    }
    assert om.risk_coverage(errors=[1.0], right=[], metrics="coverage@risk100") == {"coverage@risk100": 1.0}
    assert om.risk_coverage(errors=[0.9], right=[0.1], metrics=["coverage@risk0", "risk@cov100"]) == {
        "coverage@risk0": 0.5,
        "risk@cov100": 0.5,
    }


def test_shares_are_met_where_they_can_be() -> None:
    """7 % of 100 samples are 7, although 0.07·100 is not 7 in float64; 1 error of 20 is a risk of 5 %."""
    errors, right = np.asarray([7.0]), np.delete(np.arange(100.0), 7)
    assert om.risk_coverage(errors=errors, right=right, metrics="risk@cov7") == {"risk@cov7": 0.0}
    assert (
        om.risk_coverage(errors=[18.0, 20.0], right=np.asarray([*range(18), 19.0]), metrics="coverage@risk5")[
            "coverage@risk5"
        ]
        == 20 / 21
    )


def test_unknown_samples_are_errors_of_openauc() -> None:
    columns = {"predictions": [0, 1, 1, 0, 1], "references": [0, 1, 0, -1, 1], "open_scores": [0.1, 0.2, 0.3, 0.4, 0.5]}
    results = om.OpenAUC(risk_metrics=NAMES).compute(**columns)
    assert {name: results[name] for name in NAMES} == om.risk_coverage(
        errors=[0.3, 0.4], right=[0.1, 0.2, 0.5], metrics=NAMES
    )
    assert list(results)[4:] == NAMES
    assert list(om.OpenAUC(risk_metrics="augrc").compute(**columns))[4:] == ["augrc"]
    both = om.OpenAUC(risk_metrics="augrc", confidence_level=0.9, n_resamples=50).compute(**columns)
    assert 0 <= both["augrc_low"] <= both["augrc"] <= both["augrc_high"] <= 0.5
    table = om.compare("openauc", columns, columns, risk_metrics="aurc", n_resamples=20)
    assert (table["key"][-1], table["difference"][-1], table["p_value"][-1]) == ("aurc", 0.0, 1.0)


@pytest.mark.parametrize(
    "name",
    [
        "AURC",
        "risk@cov0",
        "risk@cov101",
        "risk@cov080",
        "risk@cov８０",
        "risk@5",
        "coverage@risk100.1",
        "e_aurc",
        5,
        None,
    ],
)
def test_unknown_names(name: Any) -> None:
    message = (
        r"metrics: unknown metric .*; known are aurc, augrc, risk@cov<number in \(0, 100\]>, coverage@risk<number in"
    )
    with pytest.raises(ValueError, match=message):
        om.risk_coverage(errors=[0.5], right=[0.25], metrics=[name])
    with pytest.raises(ValueError, match=f"risk_{message}"):
        om.OpenAUC(risk_metrics=name).compute(predictions=[0, 0], references=[0, -1], open_scores=[0.0, 1.0])


def test_errors() -> None:
    with pytest.raises(ValueError, match="metrics: expected at least one name, got none"):
        om.risk_coverage(errors=[0.5], right=[0.25], metrics=[])
    with pytest.raises(ValueError, match="errors: expected at least one sample that is an error or right, got none"):
        om.risk_coverage(errors=[], right=[])
    with pytest.raises(ValueError, match="right: expected no NaN"):
        om.risk_coverage(errors=[0.5], right=[math.nan])


def test_rates_at_a_threshold_from_validation() -> None:
    scores = [0.1, 0.4, 0.2, 0.3, 0.6]
    columns: dict[str, Any] = {"predictions": [0, 1, 1, 0, 1], "references": [0, 1, 0, -1, -1], "open_scores": scores}
    results = om.OpenAUC(threshold=0.3, per_sample=True).compute(**columns)
    assert (results["ccr"], results["fpr"]) == (1 / 3, 1 / 2)
    assert "open_set_accuracy@tpr95_threshold" not in results
    assert results["per_sample"]["decision"] == ["known", "unknown", "known", "known", "unknown"]
    for t in (*scores, -1.0, 1.0):  # points of the OSCR curve
        found = om.OpenAUC(threshold=t, confidence_level=0.9, n_resamples=9).compute(**columns)
        curve = om.oscr_curve(unknown=[0.3, 0.6], correct_known=[0.1, 0.4], num_known=3)
        at = max(i for i, threshold in enumerate(curve["threshold"]) if threshold <= t)
        assert (found["fpr"], found["ccr"]) == (curve["fpr"][at], curve["ccr"][at])
        assert found["ccr_low"] <= found["ccr"] <= found["ccr_high"]
    assert om.OpenAUC(threshold=0.5).signature == om.OpenAUC().signature.replace("|v", "|threshold:0.5|v")
    assert "ccr" not in om.OpenAUC(threshold=0.5, significant_bits=8).compute(**columns)
    with pytest.raises(TypeError, match="threshold: expected a number, got 'x'"):
        om.OpenAUC(threshold="x")
