"""Thresholds with guarantees, for these samples or, with a confidence, for new ones.

Only ranks are used, so a guarantee for new data only requires that old and new samples are independent and from one
distribution. Pixels of an image are not independent: take one score per image. `highest_by_rank` finds a score among
more than fit in memory.

Guarantees for new data rest on the lower tail of a binomial distribution, P(X ≤ k) for X ~ Bin(trials, rate). Tails are
scipy's. One that is too close to its bound for floats is decided in integers or, of many trials, is taken to be too
large: a promise is then a little stricter than it has to be.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, as_array, is_bfloat16, is_floating, on_one_device
from ..arrays.checks import (
    as_int,
    as_open_share,
    as_scores,
    as_share,
    by_keyword,
)
from ..arrays.exact import as_written
from .counts import as_side
from .quantities import most_within

_MARGIN = 1e-9  # of the chance: far above the error of scipy's tails
_MANY = 10_000  # trials, above which integers would take seconds


def tail_within(count: int, trials: int, rate: Fraction, chance: Fraction) -> bool:
    """Whether P(Bin(trials, rate) ≤ count) ≤ chance; rate and chance in (0, 1).

    >>> [tail_within(0, trials, Fraction(1, 20), Fraction(1, 20)) for trials in (58, 59)]
    [False, True]
    """
    from scipy.special import bdtr  # needed by promises alone

    tail, bound = float(bdtr(count, trials, float(rate))), float(chance)
    if abs(tail - bound) > _MARGIN * bound:
        return tail <= bound
    return trials <= _MANY and _is_within(count, trials, rate, chance)


def largest_within(trials: int, rate: Fraction, chance: Fraction) -> int:
    """The largest k with P(Bin(trials, rate) ≤ k) ≤ chance; −1 if not even k = 0 qualifies.

    >>> [largest_within(trials, Fraction(1, 20), Fraction(1, 20)) for trials in (58, 59, 92, 93, 10_000)]
    [-1, 0, 0, 1, 463]
    """
    return bisect_left(range(trials), True, key=lambda k: not tail_within(k, trials, rate, chance)) - 1


def least_trials(rate: Fraction, chance: Fraction) -> int:
    """The least number of trials with P(Bin(trials, rate) = 0) = (1 − rate)^trials ≤ chance.

    >>> least_trials(Fraction(1, 20), Fraction(1, 20)), least_trials(Fraction(1, 2), Fraction(1, 4))
    (59, 2)
    """
    trials = _ln(chance) / _ln(1 - rate)
    if trials > _MANY:
        return math.ceil(trials * (1 + Fraction(1, 10**12)))  # above the errors of the logarithms
    first = max(1, round(trials) - 1)
    return next(n for n in range(first, first + 4) if tail_within(0, n, rate, chance))


def _ln(number: Fraction) -> Fraction:
    """The logarithm of a number in (0, 1), to some 15 digits, however close it is to 0 or to 1."""
    rest = 1 - number
    if rest < Fraction(1, 2):
        return rest * Fraction(math.log1p(-float(rest)) / float(rest))
    return Fraction(math.log(number.numerator) - math.log(number.denominator))


def _is_within(count: int, trials: int, rate: Fraction, chance: Fraction) -> bool:
    """Whether P(Bin(trials, rate) ≤ count) ≤ chance, in integers."""
    hit, miss = rate.numerator, rate.denominator - rate.numerator
    # Σ C(trials, k)·hit^k·miss^(trials − k), by Horner's rule in hit/miss
    total, ways = 0, math.comb(trials, count)
    for k in range(count, -1, -1):
        total = total * hit + ways * miss ** (count - k)
        ways = ways * k // (trials - k + 1)
    return total * miss ** (trials - count) * chance.denominator <= chance.numerator * rate.denominator**trials


class GuaranteedCoverage(NamedTuple):
    """A coverage with a bounded risk on new data."""

    coverage: float  # the share of the samples that are accepted, in [0, 1]; 0.0 where nothing is guaranteed
    threshold: float  # a sample is accepted iff its score ≤ threshold; inf for all samples, −inf for none


def threshold_at_fpr(known_scores: Any, fpr: float, confidence_level: float | None = None) -> float:
    """The lowest threshold that at most a share of the known samples exceeds: of these samples, or of new ones.

    Without a confidence_level, of these samples: t = min {t : |{i : s_i > t}| / N ≤ fpr}. On new data, the share is
    exceeded about half of the time: for 200 samples and an fpr of 5 %, 60 % of the time.

    With a confidence_level, t is the score that m samples rank above, m the largest integer with

        P(Bin(N, fpr) ≤ m) ≤ 1 − confidence_level,

    and then the share of new known samples with a score > t is at most `fpr`, with that confidence, for any
    distribution from which old and new samples are drawn independently. If scores tie, the confidence is higher. The
    integer is exact, with both numbers read as exact decimals; beyond 10,000 samples, one that decides by less than a
    billionth of the chance falls on the safe side.

    Fit it on known (in-distribution, normal) validation data alone; a sample is then detected iff its score > t.

    Parameters: known_scores (N,), higher is more unknown, no NaN, at least one; fpr in [0, 1], or in (0, 1) with a
    confidence_level, which lies in (0, 1).
    Returns a float, one of the scores: the highest for an fpr of 0, −inf where all samples may exceed it.
    Raises ValueError for NaN, no scores, a number out of range, and too few scores for the guarantee; the message says
    how many it needs.
    Source: Wilks, Determination of Sample Sizes for Setting Tolerance Limits, Annals of Mathematical Statistics 1941.

    >>> threshold_at_fpr([0.1, 0.4, 0.2, 0.9, 0.3], 0.2), threshold_at_fpr([0.1, 0.4], 0.0)
    (0.4, 0.4)
    >>> scores = [i / 100 for i in range(100)]
    >>> threshold_at_fpr(scores, 0.05), threshold_at_fpr(scores, 0.05, confidence_level=0.95)
    (0.94, 0.98)
    """
    share = as_share(fpr, "fpr") if confidence_level is None else as_open_share(fpr, "fpr")
    chance = None if confidence_level is None else 1 - as_written(as_open_share(confidence_level, "confidence_level"))
    side = as_side(as_scores(known_scores, "known_scores"))
    if not side.total:
        raise ValueError("known_scores: expected at least one score, got none")
    if chance is None:
        exceeding = most_within(share, side.total)
    else:
        exceeding = largest_within(side.total, as_written(share), chance)
        if exceeding < 0:
            least = least_trials(as_written(share), chance)
            number = f"{least:,}" if least < 10**15 else f"about {Decimal(least):.2e}"
            raise ValueError(
                f"known_scores: expected at least {number} scores for an FPR of {share!r} with a confidence of "
                f"{confidence_level!r}, got {side.total:,}"
            )
    return -math.inf if exceeding == side.total else side.at(side.total - 1 - exceeding) + 0.0  # 0.0 for −0.0


@by_keyword
def guaranteed_coverage(
    *, errors: Any, right: Any, risk: float, confidence_level: float = 0.95, candidates: int = 20
) -> GuaranteedCoverage:
    """The highest coverage of an abstaining classifier whose risk on new data is bounded, with a confidence.

    Of N samples, candidate j of `candidates` accepts those below the score of rank ⌊N·j/candidates⌋ + 1 in ascending
    order, the last one all samples. It passes if, with k errors among the n that it accepts,

        P(Bin(n, risk) ≤ k) ≤ (1 − confidence_level) / candidates,

    in other words, if the upper end of Clopper and Pearson's interval of k/n is at most `risk`. The confidence holds
    for all candidates together (Bonferroni), so also for the largest that passes, even with ties: with confidence
    `confidence_level`, a new accepted sample is an error with probability at most `risk`.

    `coverage@risk5` of `risk_coverage` chooses its threshold on the data that it reports on, and guarantees nothing for
    new data.

    Parameters: errors (E,) and right (R,), scores of samples that must not be accepted, and of the others, higher is
    more uncertain or unknown, no NaN, at least one sample; risk and confidence_level in (0, 1); candidates, an int of
    at least 1: more of them find a higher coverage, and each has to pass a stricter test.
    Returns (coverage, threshold): a sample is accepted iff its score ≤ threshold. The threshold lies between two
    scores, just below the upper one; it is inf if all samples are accepted; (0.0, −inf) means that none is.
    Raises ValueError for NaN, no samples, a number out of range, and if no candidate passes where scores are −inf,
    which no threshold refuses.
    Source: Clopper and Pearson, Biometrika 1934; Geifman and El-Yaniv, Selective Classification for Deep Neural
    Networks, NeurIPS 2017, which searches by bisection.

    >>> guaranteed_coverage(errors=[], right=[0.1] * 59, risk=0.05, candidates=1)
    GuaranteedCoverage(coverage=1.0, threshold=inf)
    >>> guaranteed_coverage(errors=[0.8] * 20, right=[i / 256 for i in range(180)], risk=0.05, candidates=4)
    GuaranteedCoverage(coverage=0.75, threshold=0.5859374999999999)
    """
    bound = as_written(as_open_share(risk, "risk"))
    chance = (1 - as_written(as_open_share(confidence_level, "confidence_level"))) / as_int(candidates, "candidates", 1)
    halves = any(map(is_bfloat16, (errors, right)))  # which become float32 in NumPy
    errors, right = as_array(errors, "errors"), as_array(right, "right")
    scores = on_one_device(as_scores(errors, "errors"), as_scores(right, "right"))
    wrong, every = as_side(scores[0]), as_side(array_namespace(*scores).concat(scores))
    if not every.total:
        raise ValueError("errors: expected at least one sample that is an error or right, got none")
    ranks = {every.total * j // candidates: None for j in range(candidates, 0, -1)}  # in descending order, each once
    for rank in ranks:
        upper = every.at(rank) if rank < every.total else None
        accepted, failed = (side.total if upper is None else side.below_score(upper) for side in (every, wrong))
        if accepted and tail_within(failed, accepted, bound, chance):
            return GuaranteedCoverage(
                accepted / every.total, math.inf if upper is None else _just_below(upper, [errors, right], halves)
            )
    if every.at(0) == -math.inf:
        raise ValueError("scores: expected them above -inf where no coverage is guaranteed: no threshold refuses -inf")
    return GuaranteedCoverage(0.0, -math.inf)


def _just_below(score: float, scores: Sequence[Array], halves: bool) -> float:
    """The next lower number in the coarsest type of the scores, so that a comparison with scores does not round it.

    halves: whether some are of bfloat16, the upper half of a float32
    """
    types = [np.dtype(f"float{8 * x.dtype.itemsize}").type for x in scores if is_floating(x)]
    lower = [_below(score, dtype) for dtype in types] or [math.nextafter(score, -math.inf)]
    return min(*lower, _below_in_half(score) if halves else math.inf) + 0.0  # 0.0 for −0.0


def _below(score: float, dtype: Any) -> float:
    """The highest number of a type that is below a score."""
    near = dtype(score)
    return float(near if near < score else np.nextafter(near, dtype(-math.inf)))


def _below_in_half(score: float) -> float:
    """The highest bfloat16 below a score."""
    upper = int(np.float32(score).view(np.int32)) >> 16
    below = upper + 1 if upper < 0 else upper - 1 if upper else (1 << 15) + 1 - (1 << 16)
    values = (float(np.int32(half << 16).view(np.float32)) for half in (upper, below))
    return max(value for value in values if value < score)


_DIGIT = 16  # bits of a score that one pass counts
_UNSIGNED = {np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}


def highest_by_rank(chunks: Iterable[np.ndarray], rank: Callable[[int], int]) -> float:
    """The score with a rank in descending order, 0 being the highest, of more scores than fit in memory.

    It is found exactly, digit by digit of its bit pattern: each pass over the scores counts the next 16 bits of those
    that share the digits before. So there are two passes for float32, four for float64, and always 65,536 counts.

    Parameters: chunks, arrays of float32 or float64 of any shape, without NaN, that can be iterated over several times;
    rank, a function of the number of scores.
    Returns a float, 0.0 for −0.0. Raises ValueError if there are no scores.

    >>> highest_by_rank([np.asarray([0.1, 0.4]), np.asarray([-0.2])], lambda total: total - 1)
    -0.2
    """
    score = _search(chunks, rank, np.dtype(np.float32))
    return score if score is not None else float(_search(chunks, rank, np.dtype(np.float64)) or 0.0)


def _search(chunks: Iterable[np.ndarray], rank: Callable[[int], int], dtype: np.dtype) -> float | None:
    """As `highest_by_rank`; None where this type is too narrow."""
    bits = 8 * dtype.itemsize
    prefix, above = 0, None
    for shift in range(bits - _DIGIT, -1, -_DIGIT):
        counts = np.zeros(1 << _DIGIT, dtype=np.int64)
        for chunk in chunks:
            if chunk.dtype.itemsize > dtype.itemsize:
                return None
            keys = _keys(chunk, dtype)
            if above is not None:
                keys = keys[keys >> (shift + _DIGIT) == prefix]
            counts += np.bincount((keys >> shift).astype(np.uint16), minlength=1 << _DIGIT)
        reached = np.cumsum(counts[::-1])
        if above is None:
            if not reached[-1]:
                raise ValueError("scores: expected at least one, got none")
            above = rank(int(reached[-1]))
        at = int(np.searchsorted(reached, above, side="right"))
        above -= int(reached[at - 1]) if at else 0
        prefix = prefix << _DIGIT | (len(counts) - 1 - at)
    return _score(prefix, dtype)


def _keys(scores: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Unsigned integers in the order of the scores: all bits of negative floats are flipped, and the sign bit of
    others.
    """
    patterns = (scores.astype(dtype).reshape(-1) + dtype.type(0)).view(_UNSIGNED[dtype])  # 0.0 for −0.0
    sign = patterns.dtype.type(1 << (8 * dtype.itemsize - 1))
    return np.where(patterns & sign, ~patterns, patterns | sign)


def _score(key: int, dtype: np.dtype) -> float:
    sign = 1 << (8 * dtype.itemsize - 1)
    pattern = key ^ sign if key & sign else key ^ (2 * sign - 1)
    return float(np.asarray(pattern, dtype=_UNSIGNED[dtype]).view(dtype))
