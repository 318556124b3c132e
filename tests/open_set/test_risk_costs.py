"""Risks with costs and shares: worked numbers, a slow reference, today's risks as a special case, and errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import openworld_metrics as om
from tests.examples import many, seeds
from tests.references import risk_with_costs

KINDS = ("right", "right", "wrong", "unknown", "right")
DISTINCT, TIED = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 1.0, 2.0, 2.0, 3.0]
# by ood_cost: aurc, augrc, and the risk of the first four
WORKED = {
    0.5: (Fraction(37, 300), Fraction(2, 25), Fraction(1, 4)),
    0.75: (Fraction(8, 75), Fraction(7, 100), Fraction(1, 4)),
    1.0: (Fraction(9, 100), Fraction(3, 50), Fraction(1, 4)),
    0.0: (Fraction(47, 300), Fraction(1, 10), Fraction(1, 4)),
}
NAMES = ["aurc", "augrc", "risk@cov80", "risk@cov7", "coverage@risk5", "coverage@risk30"]


def sides(scores: Sequence[float], kinds: Sequence[str] = KINDS) -> dict[str, list[float]]:
    by_kind: dict[str, list[float]] = {"wrong": [], "right": [], "unknown": []}
    for score, kind in zip(scores, kinds):
        by_kind[kind].append(score)
    return {"errors": by_kind["wrong"], "right": by_kind["right"], "unknown": by_kind["unknown"]}


@pytest.mark.parametrize("ood_cost", WORKED)
def test_worked_numbers(ood_cost: float) -> None:
    found = om.risk_coverage(**sides(DISTINCT), metrics=NAMES[:3], ood_cost=ood_cost)
    assert [*found.values()] == pytest.approx([float(value) for value in WORKED[ood_cost]], rel=1e-15)
    assert found["augrc"] == float(WORKED[ood_cost][1])


@pytest.mark.parametrize("ood_cost", [0.5, 0.75])
def test_worked_numbers_of_ties(ood_cost: float) -> None:
    found = om.risk_coverage(**sides(TIED), metrics=["aurc", "augrc"], ood_cost=ood_cost)
    assert found == {"aurc": pytest.approx(37 / 300, rel=1e-15), "augrc": 2 / 25}


def test_a_worked_share() -> None:
    found = om.risk_coverage(**sides(DISTINCT), metrics="augrc", ood_cost=0.5, unknown_share=0.5)
    assert found == {"augrc": 35 / 256}


@many
@given(seed=seeds)
def test_the_slow_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    total = int(rng.integers(3, 40))
    scores = (rng.integers(0, rng.integers(1, 40), total) / 8).tolist()
    kinds = ["unknown", "right", *rng.choice(["unknown", "wrong", "right"], total - 2).tolist()]
    cost = None if rng.random() < 0.2 else float(rng.choice([0, 0.1, 0.5, 0.75, 1, rng.random()]))
    share = None if rng.random() < 0.5 else float(rng.choice([0.1, 0.5, 0.25, rng.uniform(0.01, 0.99)]))
    names = NAMES if share is None else NAMES[1:]
    columns = sides(scores, kinds)
    found = om.risk_coverage(**columns, metrics=names, ood_cost=cost, unknown_share=share)
    expected = risk_with_costs(scores, kinds, names, cost, share)
    assert found["augrc"] == float(expected["augrc"])
    assert [*found.values()] == pytest.approx([float(value) for value in expected.values()], rel=1e-14)
    assert {**found, "aurc": 0} == {**{name: float(value) for name, value in expected.items()}, "aurc": 0}
    shuffled: Any = {name: rng.permutation(np.asarray(side, dtype=np.float32)) for name, side in columns.items()}
    assert om.risk_coverage(**shuffled, metrics=names, ood_cost=cost, unknown_share=share) == found


def test_long_decimals() -> None:
    """Whole numbers beyond int64 are as exact as those within."""
    rng = np.random.default_rng(0)
    scores, kinds = rng.random(300).tolist(), rng.choice(["unknown", "wrong", "right"], 300).tolist()
    for cost, share in ((1 / 3, None), (1 / 3, 1 / 7), (0.1 + 1e-16, 0.123456789)):
        names = NAMES[2:] if share else NAMES[1:]
        found = om.risk_coverage(**sides(scores, kinds), metrics=names, ood_cost=cost, unknown_share=share)
        assert found == {name: float(x) for name, x in risk_with_costs(scores, kinds, names, cost, share).items()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ood_cost": 1.5}, r"ood_cost: expected a number in \[0, 1\], got 1.5"),
        ({"unknown_share": 1}, "unknown_share: expected a number between 0 and 1, both excluded, got 1"),
        ({"unknown_share": 0.5, "metrics": "aurc"}, "unknown_share: expected None with aurc"),
        ({"unknown_share": 0.5, "unknown": []}, "unknown_share: expected unknown and known samples, got 0 unknown"),
        ({"ood_cost": 0.5, "unknown": None}, "unknown: expected scores with an ood_cost or an unknown_share, got none"),
        ({"ood_cost": math.nan}, r"ood_cost: expected a number in \[0, 1\], got nan"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        om.risk_coverage(**{**sides(DISTINCT), "metrics": "augrc", **options})


COLUMNS: dict[str, Any] = {
    "predictions": [0, 1, 1, 0, 1],
    "references": [0, 1, 0, -1, 1],
    "open_scores": DISTINCT,
}


@pytest.mark.parametrize(("ood_cost", "unknown_share"), [(None, None), (0.75, None), (None, 0.25), (0.3, 0.1)])
def test_openauc_has_the_same_risks(ood_cost: float | None, unknown_share: float | None) -> None:
    names = NAMES if unknown_share is None else NAMES[1:]
    options: dict[str, Any] = {"ood_cost": ood_cost, "unknown_share": unknown_share}
    metric = om.OpenAUC(risk_metrics=names, **options)
    found = metric.compute(**COLUMNS)
    assert {name: found[name] for name in names} == om.risk_coverage(**sides(DISTINCT), metrics=names, **options)
    metric.add_batch(**{name: column[:2] for name, column in COLUMNS.items()})
    metric.add_batch(**{name: column[2:] for name, column in COLUMNS.items()})
    assert metric.compute() == found
    rng = np.random.default_rng(0)
    many_columns = {
        "predictions": rng.integers(0, 2, 80), "references": rng.integers(-1, 2, 80), "open_scores": rng.random(80)
    }  # fmt: skip
    both = om.OpenAUC(risk_metrics=names, confidence_level=0.9, n_resamples=50, **options).compute(**many_columns)
    assert all(both[f"{name}_low"] <= both[name] <= both[f"{name}_high"] for name in names)
    table = om.compare("openauc", COLUMNS, COLUMNS, risk_metrics="augrc", n_resamples=20, **options)
    assert (table["key"][-1], table["difference"][-1], table["p_value"][-1]) == ("augrc", 0.0, 1.0)


def test_options_of_openauc_that_do_not_go_together() -> None:
    with pytest.raises(ValueError, match="risk_metrics: expected names with an ood_cost or an unknown_share, got none"):
        om.OpenAUC(ood_cost=0.5).compute(**COLUMNS)
    with pytest.raises(ValueError, match="significant_bits: expected None with an ood_cost or an unknown_share"):
        om.OpenAUC(ood_cost=0.5, risk_metrics="augrc", significant_bits=8).compute(**COLUMNS)
    with pytest.raises(ValueError, match="unknown_share: expected None with aurc"):
        om.OpenAUC(unknown_share=0.5, risk_metrics="aurc").compute(**COLUMNS)
    with pytest.raises(ValueError, match=r"ood_cost: expected a number in \[0, 1\], got 2"):
        om.OpenAUC(ood_cost=2, risk_metrics="aurc")
