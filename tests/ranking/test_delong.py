"""DeLong's variance and test, and Wilson's interval: worked examples, a brute-force reference in fractions, laws."""

from __future__ import annotations

import decimal
import inspect
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import special, stats

from openworld_metrics import auroc, delong, delong_test, proportion_interval
from openworld_metrics.ranking.delong import PairedTest, normal_quantile
from tests.examples import many, seeds

A = ([0.4, 0.7, 0.8, 0.9], [0.1, 0.3, 0.35, 0.6])
B = ([0.4, 0.3, 0.8, 0.55], [0.2, 0.5, 0.35, 0.6])
C = ([2, 3, 3, 4], [1, 2, 2, 3])
D = ([1, 2, 2, 2], [1, 1, 2, 2])
Sides = tuple[Sequence[float], Sequence[float]]


def placements(x: Sequence[float], y: Sequence[float]) -> tuple[list[Fraction], list[Fraction]]:
    """DeLong's V₁₀ of each positive, and V₀₁ of each negative."""
    won = [[Fraction(int(a > b) * 2 + int(a == b), 2) for b in y] for a in x]
    return [sum(row, Fraction()) / len(y) for row in won], [sum(column, Fraction()) / len(x) for column in zip(*won)]


def covariance(first: list[Fraction], second: list[Fraction]) -> Fraction:
    means = [sum(values, Fraction()) / len(values) for values in (first, second)]
    products = ((a - means[0]) * (b - means[1]) for a, b in zip(first, second))
    return sum(products, Fraction()) / (len(first) - 1)


def reference(first: Sides, second: Sides) -> tuple[Fraction, Fraction]:
    """The covariance of two AUROCs, which is the variance of one with itself, and the difference of the two."""
    of_first, of_second = placements(*first), placements(*second)
    parts = [covariance(a, b) / len(a) for a, b in zip(of_first, of_second)]
    areas = [sum(v, Fraction()) / len(v) for v, _ in (of_first, of_second)]
    return sum(parts, Fraction()), areas[0] - areas[1]


def sides_of(columns: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(("positives", "negatives"), columns))


def paired(*columns: Any) -> PairedTest:
    return delong_test(**dict(zip(inspect.signature(delong_test).parameters, columns)))


def draw(seed: int) -> tuple[np.random.Generator, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(2, 12, 2)
    levels = int(rng.choice([2, 5, 1000]))
    return rng, [rng.integers(0, levels, size) / 8 for size in (m, n, m, n)]


@pytest.mark.parametrize(
    ("sides", "area", "variance"),
    [(A, 15 / 16, 1 / 128), (B, 0.625, 0.0520833), (C, 0.8125, 0.0234375), (D, 0.625, 0.0364583)],
)
def test_worked_examples(sides: Sides, area: float, variance: float) -> None:
    found = delong(**sides_of(sides))
    assert found.auroc == area
    assert found.variance == pytest.approx(variance, abs=5e-8)


def test_the_interval_is_cut() -> None:
    found = delong(**sides_of(A))
    assert found.low == pytest.approx(0.764262, abs=5e-7)
    assert found.high == 1.0
    flipped = delong(positives=A[1], negatives=A[0])
    assert (flipped.low, flipped.auroc) == (0.0, 1 / 16)
    assert flipped.high == pytest.approx(1 - 0.764262, abs=5e-7)
    narrow = delong(**sides_of(B), confidence_level=0.5)
    assert narrow.high - 0.625 == pytest.approx(0.6744897501960817 * math.sqrt(0.625 / 12), rel=1e-14)


def test_paired_examples() -> None:
    found = paired(*A, *B)
    assert found[:2] == (0.3125, 0.0390625)
    assert found.z == pytest.approx(1.5811388, abs=5e-8)
    assert found.p_value == pytest.approx(0.1138463, abs=5e-8)
    tied = paired(*C, *D)
    assert tied.z == pytest.approx(1.6431677, abs=5e-8)
    assert tied.p_value == pytest.approx(0.1003482, abs=5e-8)


def test_degenerate_pairs() -> None:
    assert paired(*B, *B) == (0.0, 0.0, 0.0, 1.0)
    assert paired(*C, [np.exp(c) for c in C[0]], [np.exp(c) for c in C[1]]) == (0.0, 0.0, 0.0, 1.0)
    perfect, wrong = ([3, 4], [1, 2]), ([1, 2], [3, 4])
    assert delong(**sides_of(perfect)) == (1.0, 0.0, 1.0, 1.0)
    assert paired(*perfect, *wrong) == (1.0, 0.0, math.inf, 0.0)
    assert paired(*wrong, *perfect) == (-1.0, 0.0, -math.inf, 0.0)
    assert delong(positives=[1.0, 1.0], negatives=[1.0, 1.0, 1.0]) == (0.5, 0.0, 0.5, 0.5)


@many
@given(seed=seeds)
def test_against_fractions(seed: int) -> None:
    rng, columns = draw(seed)
    lists = [column.tolist() for column in columns]
    first, second = (lists[0], lists[1]), (lists[2], lists[3])
    found = delong(**sides_of(columns))
    assert found.variance == float(reference(first, first)[0])
    assert found.auroc == auroc(**sides_of(columns))
    test = paired(*columns)
    covariance, difference = reference(first, second)
    variance = reference(first, first)[0] + reference(second, second)[0] - 2 * covariance
    assert test[:2] == (float(difference), float(variance))
    if variance:
        assert test.p_value == pytest.approx(2 * stats.norm.sf(abs(test.z)), rel=1e-12, abs=1e-300)
    # neither the order of the samples nor which side is called positive changes a bit
    orders = [rng.permutation(len(column)) for column in columns[:2]] * 2
    assert paired(*(column[order] for column, order in zip(columns, orders))) == test
    assert delong(positives=-columns[1], negatives=-columns[0]) == found
    assert paired(*columns[2:], *columns[:2]) == (-test.difference, test.variance, -test.z, test.p_value)


def test_many_samples_of_several_types() -> None:
    rng = np.random.default_rng(0)
    positives, negatives = rng.normal(1, 1, 3000).astype(np.float32), rng.integers(-2, 3, 2000)
    found = delong(positives=positives, negatives=negatives)
    twice = 2 * (positives[:, None] > negatives) + (positives[:, None] == negatives)
    shares = [twice.mean(axis=1) / 2, twice.mean(axis=0) / 2]
    assert found.variance == pytest.approx(sum(share.var(ddof=1) / len(share) for share in shares), rel=1e-10)
    torch = pytest.importorskip("torch")
    assert delong(positives=torch.from_numpy(positives), negatives=torch.from_numpy(negatives)) == found


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([1.0], [0.0, 2.0]), "positives: expected two samples or more, without which there is no variance; got 1"),
        (([1.0, 2.0], [0.0]), "negatives: expected two samples or more, .* got 1"),
        (([], [0.0, 1.0]), "positives: .* got 0"),
        (([1.0, math.nan], [0.0, 2.0]), "positives: expected no NaN, got NaN at position 1"),
        (([1.0, 2.0], [[0.0, 2.0]]), r"negatives: expected scores of shape \(N,\)"),
    ],
)
def test_sides_that_will_not_do(columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        delong(**sides_of(columns))
    named = message.replace("positives", "second_positives").replace("negatives", "second_negatives")
    with pytest.raises(ValueError, match=named):
        paired(*A, *columns)


def test_models_of_other_samples() -> None:
    with pytest.raises(ValueError, match="expected columns of one length, got 4 first_positives, 3 second_positives"):
        paired(*A, A[0][:3], A[1])
    with pytest.raises(ValueError, match="4 first_negatives, 5 second_negatives"):
        paired(*A, A[0], [*A[1], 0.2])


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(9, 10, 0.595850, 0.982124), (95, 100, 0.888250, 0.978456), (0, 10, 0, 0.277533), (10, 10, 0.722467, 1)],
)
def test_wilson(count: int, total: int, low: float, high: float) -> None:
    found = proportion_interval(count, total)
    assert found == pytest.approx((low, high), abs=5e-7)
    assert found == pytest.approx(stats.binomtest(count, total).proportion_ci(method="wilson"), rel=1e-12)
    assert (found.low == 0.0) == (count == 0)
    assert (found.high == 1.0) == (count == total)


@many
@given(seed=seeds)
def test_an_interval_of_successes_is_one_less_that_of_failures(seed: int) -> None:
    rng = np.random.default_rng(seed)
    total, level = int(rng.integers(1, 10 ** rng.integers(1, 12))), float(rng.uniform(0.001, 0.999))
    count = int(rng.integers(0, total, endpoint=True))
    low, high = proportion_interval(count, total, level)
    assert 0 <= low <= count / total <= high <= 1
    other = proportion_interval(total - count, total, level)
    assert high == pytest.approx(1 - other.low, abs=1e-15)
    assert low == pytest.approx(1 - other.high, abs=1e-15)


def test_both_ends_of_small_proportions_keep_their_digits() -> None:
    assert proportion_interval(0, 10**12).high == pytest.approx(3.841458820679367e-12, rel=1e-13)
    decimal.getcontext().prec = 50
    for total, count, level in product((7, 10**6, 10**12), range(4), (0.5, 0.95, 0.999999)):
        n, p, z = Decimal(total), Decimal(count) / total, Decimal(normal_quantile(level))
        reach = z * (p * (1 - p) / n + z * z / (4 * n * n)).sqrt()
        ends = [(p + z * z / (2 * n) + sign * reach) / (1 + z * z / n) for sign in (-1, 1)]
        found = proportion_interval(count, total, level)
        for value, exact in zip(found, ends):
            assert abs(Decimal(value) - exact) <= 4 * Decimal(math.ulp(float(exact))) or count == value == 0


@pytest.mark.parametrize("level", [1e-12, 0.1, 0.5, 0.9, 0.95, 0.99, 1 - 1e-9, 1 - 2**-53])
def test_the_normal_quantile(level: float) -> None:
    assert normal_quantile(level) == pytest.approx(-special.ndtri((1 - level) / 2), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, math.nan])
def test_levels_that_are_none(level: float) -> None:
    message = "confidence_level: expected a number between 0 and 1, both excluded"
    with pytest.raises(ValueError, match=message):
        delong(**sides_of(A), confidence_level=level)
    with pytest.raises(ValueError, match=message):
        proportion_interval(1, 2, level)


def test_counts_that_are_none() -> None:
    with pytest.raises(ValueError, match="count: expected an int of at least 0 and at most 10, got 11"):
        proportion_interval(11, 10)
    with pytest.raises(ValueError, match="total: expected an int of at least 1, got 0"):
        proportion_interval(0, 0)
    with pytest.raises(TypeError, match=r"count: expected an int, got 0\.5"):
        proportion_interval(0.5, 10)


def obuchowski(x: Sequence[float], y: Sequence[float], of_x: Sequence[int], of_y: Sequence[int]) -> tuple[Any, Any]:
    """Sums over the clusters of placements less the AUROC, as the paper writes them: a_i and b_i."""
    v10, v01 = placements(x, y)
    area = sum(v10, Fraction()) / len(x)
    every = sorted({*of_x, *of_y})
    a = [sum((v - area for v, own in zip(v10, of_x) if own == i), Fraction()) for i in every]
    b = [sum((v - area for v, own in zip(v01, of_y) if own == i), Fraction()) for i in every]
    return a, b


def clustered(one: tuple[Any, Any], other: tuple[Any, Any], of_x: Sequence[int], of_y: Sequence[int]) -> Fraction:
    """The covariance of two AUROCs."""
    (a, b), (a2, b2) = one, other
    m, n, i10, i01, every = len(of_x), len(of_y), len({*of_x}), len({*of_y}), len({*of_x, *of_y})
    s10 = Fraction(i10, (i10 - 1) * m) * sum(p * q for p, q in zip(a, a2))
    s01 = Fraction(i01, (i01 - 1) * n) * sum(p * q for p, q in zip(b, b2))
    s11 = Fraction(every, every - 1) * sum((p * t + q * s) / 2 for p, q, s, t in zip(a, a2, b, b2))
    return s10 / m + s01 / n + 2 * s11 / (m * n)


@many
@given(seed=seeds)
def test_clusters_against_the_paper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = (int(k) for k in rng.integers(2, 12, 2))
    x, y, x2, y2 = (rng.integers(0, 6, size).tolist() for size in (m, n, m, n))
    of_x, of_y = rng.integers(0, 4, m), rng.integers(0, 5, n)
    of_x[:2], of_y[:2] = (0, 1), (2, 4)
    first, second = (obuchowski(*sides, of_x.tolist(), of_y.tolist()) for sides in ((x, y), (x2, y2)))
    columns: dict[str, Any] = dict(positive_clusters=of_x, negative_clusters=[f"{i}" for i in of_y])
    expected = clustered(first, first, of_x.tolist(), of_y.tolist())
    assert delong(positives=x, negatives=y, **columns).variance == float(expected)
    pair: dict[str, Any] = dict(first_positives=x, first_negatives=y, second_positives=x2, second_negatives=y2)
    variance = expected + clustered(second, second, of_x.tolist(), of_y.tolist())
    variance -= 2 * clustered(first, second, of_x.tolist(), of_y.tolist())
    assert delong_test(**pair, **columns).variance == float(variance)
    # one sample a cluster
    single: dict[str, Any] = dict(positive_clusters=range(m), negative_clusters=range(m, m + n))
    single = {name: [*own] for name, own in single.items()}
    assert delong(positives=x, negatives=y, **single) == delong(positives=x, negatives=y)
    assert delong_test(**pair, **single) == delong_test(**pair)


def test_a_clustered_variance_worked_by_hand() -> None:
    sides: dict[str, Any] = dict(positives=[0.6, 0.4, 0.9, 0.7], negatives=[0.1, 0.2, 0.5, 0.3])
    assert delong(**sides).variance == 1 / 128
    assert delong(**sides, positive_clusters=[*"abbc"], negative_clusters=[*"aabc"]).variance == 57 / 4096


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (dict(positive_clusters=[*"abbc"]), TypeError, "negative_clusters: expected the clusters of both sides"),
        (dict(positive_clusters=[*"abb"], negative_clusters=[*"aabc"]), ValueError, "got 3 positive_clusters, 4 pos"),
        (dict(positive_clusters=[*"aaaa"], negative_clusters=[*"aabc"]), ValueError, "positive_clusters: expected two"),
        (dict(positive_clusters=["a", "", "b", "c"], negative_clusters=[*"aabc"]), ValueError, "positive_clusters: ex"),
    ],
)
def test_clusters_that_will_not_do(columns: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        delong(positives=[0.6, 0.4, 0.9, 0.7], negatives=[0.1, 0.2, 0.5, 0.3], **columns)
    assert message in str(caught.value)
