"""Thresholds and coverages that hold on new data: literals, a slow reference, and simulations of the promise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import guaranteed_coverage, risk_coverage, threshold_at_fpr
from openworld_metrics.ranking.guarantees import largest_within, least_trials, tail_within
from tests.checking import bench
from tests.examples import many, seeds

# the numbers of known scores, and how many of them may exceed the threshold; −1: there is none
WITHIN_5_PERCENT = {58: -1, 59: 0, 92: 0, 93: 1, 123: 1, 124: 2, 153: 3, 181: 4, 1_000: 38, 10_000: 463}
WITHIN_1_PERCENT = {298: -1, 299: 0, 1_000: 4}
GRID = [("0.05", WITHIN_5_PERCENT), ("0.01", WITHIN_1_PERCENT)]


@pytest.mark.parametrize(
    ("fpr", "total", "exceeding"), [(fpr, total, m) for fpr, grid in GRID for total, m in grid.items()]
)
def test_how_many_may_exceed(fpr: str, total: int, exceeding: int) -> None:
    scores = np.random.default_rng(total).permutation(total)
    assert largest_within(total, Fraction(fpr), Fraction(1, 20)) == exceeding
    if exceeding >= 0:
        assert threshold_at_fpr(scores, float(fpr), confidence_level=0.95) == total - 1 - exceeding
        return
    least = next(n for n, m in (WITHIN_5_PERCENT if fpr == "0.05" else WITHIN_1_PERCENT).items() if m >= 0)
    with pytest.raises(ValueError, match="known_scores: expected at least") as raised:
        threshold_at_fpr(scores, float(fpr), confidence_level=0.95)
    assert str(raised.value) == (
        f"known_scores: expected at least {least} scores for an FPR of {float(fpr)!r} with a confidence of 0.95, "
        f"got {total}"
    )


def tail(count: int, trials: int, rate: Fraction) -> Fraction:
    """P(Bin(trials, rate) ≤ count), term by term."""
    return sum(
        (math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(count + 1)), start=Fraction(0)
    )


@many
@given(seed=seeds)
def test_tails_against_their_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trials = int(rng.integers(1, 60))
    # halves and quarters, whose tails are often equal to the chance
    rate, chance = (
        Fraction(int(rng.integers(1, d)), d) for d in map(int, rng.choice([2, 4, 8, 20, 100, 1 << 20], size=2))
    )
    within = [count for count in range(trials + 1) if tail(count, trials, rate) <= chance]
    assert largest_within(trials, rate, chance) == (within[-1] if within else -1)
    assert all(tail_within(count, trials, rate, chance) == (count in within) for count in range(trials + 1))
    least = least_trials(rate, chance)
    assert (1 - rate) ** least <= chance < (1 - rate) ** (least - 1)


@pytest.mark.parametrize("total", [1, 3, 101, 3_001])
def test_a_boundary_does_not_flip(total: int) -> None:
    """Of an odd number of coins, at most half are heads with a probability of ½, and of no hair's breadth less."""
    half = Fraction(1, 2)
    assert largest_within(total, half, half) == total // 2
    assert largest_within(total, half, half - Fraction(1, 10**400)) == total // 2 - 1
    assert threshold_at_fpr(np.arange(total), 0.5, confidence_level=0.5) == total // 2


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(3, 4)])
def test_a_chance_that_is_the_tail_itself(rate: Fraction) -> None:
    for trials, count in ((1, 0), (5, 2), (9, 7)):
        chance = tail(count, trials, rate)
        assert tail_within(count, trials, rate, chance)
        assert not tail_within(count, trials, rate, chance - Fraction(1, 10**400))


def test_rates_are_the_decimals_that_are_written() -> None:
    """0.75 = 1 − ½², so two scores suffice; and 0.9 and 0.99 = 1 − 0.1² are taken as tenths, which no float64 is."""
    assert threshold_at_fpr([1.0, 2.0], 0.5, confidence_level=0.75) == 2.0
    assert threshold_at_fpr([1.0, 2.0], 0.9, confidence_level=0.99) == 2.0


def test_many_scores() -> None:
    assert largest_within(10**8, Fraction(1, 20), Fraction(1, 20)) == 4_996_414
    assert least_trials(Fraction(1, 10**6), Fraction(1, 20)) == 2_995_731


def test_the_least_number_of_scores_for_a_tiny_rate() -> None:
    """The work is bounded by the digits of the rates, not by their sizes."""
    for rate, least in ((1e-14, r"299,573,227,355,\d+"), (1e-15, r"about 3\.00e\+15"), (1e-300, r"about 3\.00e\+300")):
        with pytest.raises(ValueError, match=rf"^known_scores: expected at least {least} scores for an FPR of {rate}"):
            threshold_at_fpr([0.1, 0.2], rate, confidence_level=0.95)
    smallest, chance = Fraction("5e-324"), Fraction(1, 20)
    assert 599146454710 <= least_trials(smallest, chance) // 10**312 <= 599146454711  # 5.99146454710798198687044e323
    assert least_trials(Fraction(1, 20), 1 - smallest) == 1


@pytest.mark.parametrize(("miss", "times"), [(Fraction(1, 2), 1000), (Fraction(2, 3), 500), (Fraction(19, 20), 59)])
def test_the_least_number_at_a_boundary(miss: Fraction, times: int) -> None:
    chance, little = miss**times, Fraction(1, 10**400)
    expected = {-1: times + 1, 0: times, 1: times}
    assert {side: least_trials(1 - miss, chance + side * little) for side in expected} == expected


@many
@given(seed=seeds)
def test_the_lowest_threshold_within_an_fpr(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = rng.integers(0, 9, rng.integers(1, 30)) / 4
    fpr = float(rng.choice([0, 0.01, 0.05, 0.1, 0.5, 1, rng.uniform()]))
    t = threshold_at_fpr(known, fpr)
    assert np.mean(known > t) <= fpr
    lower = [s for s in known if s < t] + ([-math.inf] if t > -math.inf else [])
    assert all(np.mean(known > s) > fpr for s in lower)
    assert threshold_at_fpr(rng.permutation(known).astype(np.float32), fpr) == t
    if fpr:  # as ood_bench fits it
        found = bench(positives=known, negatives=known, metrics=f"fnr{100 * fpr:.12g}fpr", thresholds=True)
        assert found[next(iter(found))] == np.mean(known <= t)


def draw_uniform(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.random(size)


def draw_steps(rng: np.random.Generator, size: int) -> np.ndarray:
    """Forty scores, each of which many samples share."""
    return np.floor(40 * rng.random(size)) / 40


def share_above(draw: Any, threshold: float) -> float:
    """The share of all samples of a distribution with a higher score."""
    return 1 - threshold if draw is draw_uniform else 1 - (math.floor(40 * threshold + 0.5) + 1) / 40


@pytest.mark.parametrize("draw", [draw_uniform, draw_steps])
def test_the_promise_is_kept_on_new_data(draw: Any) -> None:
    rng = np.random.default_rng(0)
    times = 2_000
    plain = certain = 0
    for _ in range(times):
        known = draw(rng, 200)
        plain += share_above(draw, threshold_at_fpr(known, 0.05)) > 0.05 + 1e-12
        certain += share_above(draw, threshold_at_fpr(known, 0.05, confidence_level=0.95)) > 0.05 + 1e-12
    # 2.65 % is P(Bin(200, 0.05) ≤ 4); ties lower both
    assert certain / times <= float(tail(4, 200, Fraction(1, 20))) + 3 * math.sqrt(0.03 / times)
    if draw is draw_uniform:
        assert 0.55 < plain / times < 0.62


@pytest.mark.parametrize(
    ("fpr", "confidence_level", "message"),
    [
        (0.0, 0.95, "fpr: expected a number between 0 and 1, both excluded, got 0.0"),
        (1, 0.95, "fpr: expected a number between 0 and 1, both excluded, got 1.0"),
        (5, None, "fpr: expected a number in [0, 1], got 5.0"),
        (0.05, 1.0, "confidence_level: expected a number between 0 and 1, both excluded, got 1.0"),
        (0.05, 0, "confidence_level: expected a number between 0 and 1, both excluded, got 0.0"),
    ],
)
def test_numbers_out_of_range(fpr: float, confidence_level: float | None, message: str) -> None:
    with pytest.raises(ValueError, match="expected a number") as raised:
        threshold_at_fpr([0.3] * 60, fpr, confidence_level)
    assert str(raised.value) == message


@pytest.mark.parametrize("value", [np.timedelta64(1, "ns"), np.asarray(1, "timedelta64[ns]"), np.datetime64(1, "ns")])
def test_a_date_or_duration_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError, match=r"fpr: expected a number in \[0, 1\], got '1"):
        threshold_at_fpr([0.3] * 60, value)


def test_thresholds_of_nothing() -> None:
    assert threshold_at_fpr([0.3], 1.0) == -math.inf
    with pytest.raises(ValueError, match="known_scores: expected at least one score, got none"):
        threshold_at_fpr([], 0.1)
    with pytest.raises(ValueError, match="known_scores: expected no NaN, got NaN at position 0"):
        threshold_at_fpr([math.nan], 0.1)


@pytest.mark.parametrize(
    ("errors", "accepted", "passes"), [(0, 58, False), (0, 59, True), (1, 92, False), (1, 93, True)]
)
def test_a_risk_of_all_samples(errors: int, accepted: int, passes: bool) -> None:
    """The upper ends of Clopper and Pearson's interval: 0.0495 of 0 in 59, and 0.04999 of 1 in 93."""
    found = guaranteed_coverage(errors=[0.5] * errors, right=[0.1] * (accepted - errors), risk=0.05, candidates=1)
    assert found == ((1.0, math.inf) if passes else (0.0, -math.inf))


@many
@given(seed=seeds)
def test_the_largest_candidate_that_passes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = rng.choice(["float32", "float64"])
    scores = (rng.integers(0, rng.integers(2, 200), 120) / 7).astype(dtype)
    errors = rng.random(120) < scores / scores.max() * rng.choice([0.1, 0.3, 0.9])
    risk, candidates = float(rng.choice([0.05, 0.1, 0.2])), int(rng.integers(1, 30))
    found = guaranteed_coverage(
        errors=scores[errors], right=scores[~errors], risk=risk, confidence_level=0.9, candidates=candidates
    )
    expected = 0.0
    for j in range(1, candidates + 1):
        rank = 120 * j // candidates
        upper = np.sort(scores)[rank] if rank < 120 else np.inf
        kept = scores < upper
        chance = Fraction(1, 10) / candidates
        if kept.any() and tail(int(errors[kept].sum()), int(kept.sum()), Fraction(str(risk))) <= chance:
            expected = float(np.mean(kept))
    assert found.coverage == expected == np.mean(scores <= found.threshold)
    assert np.dtype(dtype).type(found.threshold) == found.threshold
    order = rng.permutation(120)
    assert (
        guaranteed_coverage(
            errors=scores[order][errors[order]],
            right=scores[order][~errors[order]],
            risk=risk,
            confidence_level=0.9,
            candidates=candidates,
        )
        == found
    )


@pytest.mark.parametrize("candidates", [1, 10])
@pytest.mark.parametrize("draw", [draw_uniform, draw_steps])
def test_the_promised_risk_is_kept_on_new_data(draw: Any, candidates: int) -> None:
    """An error has a probability of (1 + s)/16 at a score s, so that the risk below t is (1 + t/2)/16 where t ≥ 0."""
    rng = np.random.default_rng(1)
    times, broken, empty = 1_000, 0, 0
    for _ in range(times):
        scores = draw(rng, 300)
        errors = rng.random(300) < (1 + scores) / 16
        coverage, threshold = guaranteed_coverage(
            errors=scores[errors], right=scores[~errors], risk=0.08, confidence_level=0.9, candidates=candidates
        )
        below = (
            min(1.0, threshold)
            if draw is draw_uniform
            else min(1.0, math.floor(40 * threshold) / 40 if math.isfinite(threshold) else 1.0)
        )
        broken += coverage > 0 and (1 + below / 2) / 16 > 0.08
        empty += coverage == 0
    assert broken / times <= 0.1
    assert empty < times


def test_risks_of_nothing() -> None:
    with pytest.raises(ValueError, match="errors: expected at least one sample that is an error or right, got none"):
        guaranteed_coverage(errors=[], right=[], risk=0.05)
    with pytest.raises(ValueError, match="risk: expected a number between 0 and 1, both excluded, got 1"):
        guaranteed_coverage(errors=[], right=[0.1], risk=1)
    with pytest.raises(ValueError, match="candidates: expected an int of at least 1, got 0"):
        guaranteed_coverage(errors=[], right=[0.1], risk=0.5, candidates=0)
    with pytest.raises(ValueError, match="right: expected no NaN, got NaN at position 0"):
        guaranteed_coverage(errors=[], right=[math.nan], risk=0.5)
    with pytest.raises(ValueError, match="scores: expected them above -inf where no coverage is guaranteed"):
        guaranteed_coverage(errors=[-math.inf], right=[0.1], risk=0.5)


def test_coverage_at_a_risk_promises_nothing() -> None:
    """The same samples: `coverage@risk5` accepts what was free of errors by chance."""
    right = np.arange(30) / 30
    assert risk_coverage(errors=[2.0], right=right, metrics="coverage@risk5") == {"coverage@risk5": 1.0}
    assert guaranteed_coverage(errors=[2.0], right=right, risk=0.05).coverage == 0.0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bfloat16"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_threshold_accepts_in_the_type_of_the_scores_what_was_tested(dtype: str, sign: int) -> None:
    """A comparison rounds the threshold to the type of the scores, where it must not become the score above it."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        errors, right = np.round(rng.normal(3, 1, 10), 2), np.round(rng.normal(size=200), 2)
        if dtype == "bfloat16":
            torch = pytest.importorskip("torch")
            errors, right = (torch.tensor(5 * sign + x).bfloat16() for x in (errors, right))
            both = torch.cat([errors, right])
        else:
            errors, right = ((5 * sign + 4 * x).astype(dtype) for x in (errors, right))
            both = np.concatenate([errors, right])
        coverage, threshold = guaranteed_coverage(errors=errors, right=right, risk=0.1, confidence_level=0.95)
        assert int((both <= threshold).sum()) == round(210 * coverage)
        assert 0 < coverage < 1
