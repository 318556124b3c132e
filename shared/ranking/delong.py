"""Intervals by formulas: DeLong's of an AUROC, with a paired test of two, and Wilson's of a proportion.

Where samples depend on each other, DeLong's variance is Obuchowski's of clusters.

The placement of a positive is the share of the negatives that it scores above, ties counting half: the mean over the
positives is the AUROC, and their variance, with that of the negatives' placements, gives its own. Twice a placement's
numerator is an integer, so all sums are integers and each result is one fraction, rounded at the end: results do not
depend on the order of the samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, device_of, on_one_device, to_numpy
from ..arrays.checks import as_int, as_open_share, as_scores, by_keyword, check_lengths
from ..arrays.exact import weighted_sum
from ..arrays.sorting import indices, sorted_with
from ..metric.clusters import as_cluster_names
from .counts import Side, cuts_of, runs_of_both


class AUROCInterval(NamedTuple):
    """An AUROC with its confidence interval."""

    auroc: float
    variance: float
    low: float  # with high: the ends of the interval, in [0, 1]
    high: float


class PairedTest(NamedTuple):
    """A test whether two AUROCs on the same samples differ."""

    difference: float  # first − second
    variance: float  # of the difference
    z: float  # the difference in standard deviations
    p_value: float  # the probability of such a |z| or more if there is no difference


@by_keyword
def delong(
    *,
    positives: Any,
    negatives: Any,
    positive_clusters: Any = None,
    negative_clusters: Any = None,
    confidence_level: float = 0.95,
) -> AUROCInterval:
    """AUROC with DeLong's variance, and its normal confidence interval.

    Var = S₁₀/m + S₀₁/n,  interval AUROC ± Φ⁻¹((1 + confidence_level)/2)·√Var, cut to [0, 1]

    S₁₀ and S₀₁ are the sample variances (divided by m − 1, n − 1) of the m positives' and the n negatives' placements.
    The interval is too narrow near an AUROC of 1: for scores that separate, it is a single point.

    With clusters, samples of one depend on each other. With aᵢ and bᵢ the sums, over the positives and the negatives of
    cluster i, of their placements less the AUROC, and I₁₀, I₀₁ and I clusters with positives, with negatives, in all,

    S₁₀ = I₁₀/((I₁₀ − 1)m)·Σ aᵢ²,  S₀₁ = I₀₁/((I₀₁ − 1)n)·Σ bᵢ²,  Var = S₁₀/m + S₀₁/n + 2/(mn)·I/(I − 1)·Σ aᵢbᵢ

    Parameters: positives (m,) and negatives (n,), real scores, higher is more positive, no NaN, two or more of each;
    positive_clusters (m,) and negative_clusters (n,), strings or integers, the cluster of each, such as a patient: both
    or none; confidence_level in (0, 1). It takes O(N log N).
    Returns (auroc, variance, low, high). Raises ValueError for NaN, a side with fewer than two samples or clusters, a
    level out of range.
    Source: DeLong, DeLong and Clarke-Pearson, Biometrics 1988; by ranks: Sun and Xu, IEEE Signal Processing Letters
    2014; with clusters: Obuchowski, Biometrics 1997.

    >>> delong(positives=[0.4, 0.7, 0.8, 0.9], negatives=[0.1, 0.3, 0.35, 0.6])[:2]
    (0.9375, 0.0078125)
    >>> sides = {"positives": [0.6, 0.4, 0.9, 0.7], "negatives": [0.1, 0.2, 0.5, 0.3]}
    >>> delong(**sides, positive_clusters=["a", "b", "b", "c"], negative_clusters=["a", "a", "b", "c"])[:2]
    (0.9375, 0.013916015625)
    """
    quantile = normal_quantile(as_open_share(confidence_level, "confidence_level"))
    sides = _checked(positives=positives, negatives=negatives)
    clusters = _checked_clusters(sides, positive_clusters, negative_clusters)
    over, under = _twice_placements(*sides)
    auroc, variance = _mean_and_variance(over, under, clusters)
    centre, reach = float(auroc), quantile * math.sqrt(variance)
    return AUROCInterval(centre, float(variance), max(0.0, centre - reach), min(1.0, centre + reach))


@by_keyword
def delong_test(
    *,
    first_positives: Any,
    first_negatives: Any,
    second_positives: Any,
    second_negatives: Any,
    positive_clusters: Any = None,
    negative_clusters: Any = None,
) -> PairedTest:
    """Test whether two models' AUROCs on the same samples differ, with DeLong's covariance.

    z = (AUROC₁ − AUROC₂)/√Var,  Var = Var₁ + Var₂ − 2·Cov,  p = 2·Φ(−|z|)

    Parameters: scores of the first and of the second model, the m positives and the n negatives of both in the same
    order, and the clusters of these; otherwise as of `delong`.
    Returns (difference, variance, z, p_value). Models with equal ranks have (0, 0, 0, 1); if only the variance is 0, z
    is ±inf and p is 0.
    Raises ValueError as `delong` does, and if the lengths of the two models differ.
    Source: as of `delong`.

    >>> test = delong_test(
    ...     first_positives=[0.4, 0.7, 0.8, 0.9],
    ...     first_negatives=[0.1, 0.3, 0.35, 0.6],
    ...     second_positives=[0.4, 0.3, 0.8, 0.55],
    ...     second_negatives=[0.2, 0.5, 0.35, 0.6],
    ... )
    >>> test.difference, test.variance, round(test.p_value, 6)
    (0.3125, 0.0390625, 0.113846)
    """
    first = _checked(first_positives=first_positives, first_negatives=first_negatives)
    second = _checked(second_positives=second_positives, second_negatives=second_negatives)
    check_lengths(first_positives=first[0], second_positives=second[0])
    check_lengths(first_negatives=first[1], second_negatives=second[1])
    clusters = _checked_clusters(first, positive_clusters, negative_clusters)
    # the mean and the variance of the differences are the difference of the means and its variance, covariance and all
    pairs = [on_one_device(*pair) for pair in zip(_twice_placements(*first), _twice_placements(*second))]
    over, under = (one - other for one, other in pairs)
    difference, variance = _mean_and_variance(over, under, clusters)
    if variance:
        z = float(difference) / math.sqrt(variance)
    else:
        z = math.copysign(math.inf, difference) if difference else 0.0
    return PairedTest(float(difference), float(variance), z, math.erfc(abs(z) / math.sqrt(2)))


def _checked(**sides: Any) -> list[Array]:
    """The positives and the negatives of one model."""
    scores = [as_scores(side, name) for name, side in sides.items()]
    for name, side in zip(sides, scores):
        if side.shape[0] < 2:
            few = side.shape[0]
            raise ValueError(f"{name}: expected two samples or more, without which there is no variance; got {few}")
    return on_one_device(*scores)


Clusters = tuple[np.ndarray, np.ndarray]  # the numbers, from 0, of the positives' and of the negatives' clusters


def _checked_clusters(sides: list[Array], positive_clusters: Any, negative_clusters: Any) -> Clusters | None:
    """The numbers of the clusters of both sides, one list for both; None without clusters."""
    columns: Mapping[str, Any] = {"positive_clusters": positive_clusters, "negative_clusters": negative_clusters}
    if positive_clusters is None and negative_clusters is None:
        return None
    numbers, places = [], dict[str, int]()
    for (name, column), side in zip(columns.items(), sides):
        if column is None:
            raise TypeError(f"{name}: expected the clusters of both sides or of none, got those of one")
        names = as_cluster_names(column, name)
        check_lengths(**{name: names, name.replace("_clusters", "s"): side})
        if len({*names}) < 2:
            raise ValueError(f"{name}: expected two clusters or more, without which there is no variance; got 1")
        numbers.append(np.asarray([places.setdefault(each, len(places)) for each in names], dtype=np.int64))
    return numbers[0], numbers[1]


def _twice_placements(positives: Array, negatives: Array) -> tuple[Array, Array]:
    """For each positive, twice the negatives below it plus the tied ones; for each negative, the positives above it."""
    xp = array_namespace(positives, negatives)
    dtype = xp.result_type(positives, negatives)
    sides = [xp.astype(side, dtype, copy=False) for side in (positives, negatives)]
    ranked = [sorted_with(side, indices(side)) for side in sides]
    # of each side, in its order, twice the other side's samples above a score plus the tied ones
    over: tuple[list[Array], list[Array]] = ([], [])
    first, second = (Side(scores) for scores, _ in ranked)
    for runs in runs_of_both(first, second, cuts_of(first, second)):
        for counts, parts in zip(runs, over):
            if counts is not None:
                parts.append(xp.repeat(counts.above + counts.fp, counts.sizes))
    placements: list[Array] = []
    for parts, (_, order) in zip((over[0], over[1][::-1]), ranked):
        placed = xp.empty(order.shape[0], dtype=parts[0].dtype, device=device_of(order))
        placed[order if placements else xp.flip(order)] = xp.concat(parts)
        placements.append(placed)
    return 2 * negatives.shape[0] - placements[0], 2 * positives.shape[0] - placements[1]


def _mean_and_variance(over: Array, under: Array, clusters: Clusters | None) -> tuple[Fraction, Fraction]:
    """The mean and its variance, from twice the numerators of both sides, or of their differences between models."""
    m, n = over.shape[0], under.shape[0]
    if clusters is not None:
        total = int(to_numpy(over).sum())
        return Fraction(total, 2 * m * n), _variance_of_clusters((to_numpy(over), to_numpy(under)), clusters, total)
    total, squares = _sum_and_squares(over)
    other_total, other_squares = _sum_and_squares(under)
    variance = Fraction(m * squares - total**2, 4 * m**2 * n**2 * (m - 1))
    other_variance = Fraction(n * other_squares - other_total**2, 4 * m**2 * n**2 * (n - 1))
    return Fraction(total, 2 * m * n), variance + other_variance


def _variance_of_clusters(placements: tuple[np.ndarray, np.ndarray], clusters: Clusters, total: int) -> Fraction:
    """The variance of a mean, total/2mn, over clusters."""
    number = 1 + max(int(numbers.max()) for numbers in clusters)
    sums: list[list[int]] = []  # of each side, 2mn·aᵢ or 2mn·bᵢ
    factors: list[Fraction] = []  # I₁₀/(I₁₀ − 1) and I₀₁/(I₀₁ − 1)
    for twice, numbers in zip(placements, clusters):
        of_cluster = np.zeros(number, np.int64)
        np.add.at(of_cluster, numbers, twice)
        sizes = np.bincount(numbers, minlength=number).tolist()
        sums.append([len(twice) * wins - size * total for wins, size in zip(of_cluster.tolist(), sizes)])
        there = number - sizes.count(0)
        factors.append(Fraction(there, there - 1))
    m, n = map(len, placements)
    squares = [sum(each * each for each in side) for side in sums]
    both = sum(one * other for one, other in zip(*sums))
    variance = factors[0] * squares[0] / m**2 + factors[1] * squares[1] / n**2
    return (variance + Fraction(2 * number, number - 1) * both / (m * n)) / (4 * m**2 * n**2)


def _sum_and_squares(values: Array) -> tuple[int, int]:
    """Σ x and Σ x² of integers, exactly."""
    xp = array_namespace(values)
    sizes = xp.abs(values)
    # Σ x² = Σ |x|·|x|
    squares = weighted_sum(sizes, sizes, int(xp.max(sizes)).bit_length(), int(xp.sum(sizes)))
    return int(xp.sum(values)), squares


class ProportionInterval(NamedTuple):
    """An interval of a proportion, 0 ≤ low ≤ count/total ≤ high ≤ 1."""

    low: float
    high: float


def proportion_interval(count: int, total: int, confidence_level: float = 0.95) -> ProportionInterval:
    """Confidence interval of a proportion of independent samples, by Wilson's score.

    (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n),  p = count/n, n = total, z = Φ⁻¹((1 + confidence_level)/2)

    Use it for an accuracy, or for a rate at a threshold that was fixed beforehand. Do not use it for a rate at a
    threshold chosen on the same data, such as FPR at 95 % TPR, nor for an F-score or an area: resample for these.

    Parameters: count, the successes, an int in [0, total]; total, an int of at least 1; confidence_level in (0, 1).
    Returns (low, high), floats in [0, 1]; low is 0.0 without a success, high 1.0 without a failure.
    Raises ValueError for a value out of range. Source: Wilson, Probable Inference, the Law of Succession, and
    Statistical Inference, JASA 1927.

    >>> low, high = proportion_interval(9, 10)
    >>> round(low, 6), round(high, 6)
    (0.59585, 0.982124)
    """
    total = as_int(total, "total", 1)
    count = as_int(count, "count", 0, total)
    z = normal_quantile(as_open_share(confidence_level, "confidence_level"))
    low = _lower_end(count, total, z)
    if 2 * count > total:
        return ProportionInterval(low, 1.0 - _lower_end(total - count, total, z))
    high = (count + z * z / 2 + _spread(count, total, z)) / (total + z * z)
    return ProportionInterval(low, max(count / total, high))


def _lower_end(count: int, total: int, z: float) -> float:
    # the product of both ends is p²/(1 + z²/n): as a quotient, the lower one loses no digits where p is small
    return count / total * (count / (count + z * z / 2 + _spread(count, total, z))) if count else 0.0


def _spread(count: int, total: int, z: float) -> float:
    return z * math.sqrt(count * (total - count) / total + z * z / 4)


def normal_quantile(confidence_level: float) -> float:
    """The z such that a standard normal variable lies in [−z, z] with this probability, in (0, 1)."""
    from statistics import NormalDist  # needed by intervals alone

    return -NormalDist().inv_cdf((1 - confidence_level) / 2)  # of the small tail, which has more digits
