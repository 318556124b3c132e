"""Areas under risk over coverage of answers with a quality in [0, 1], rather than right and wrong ones.

Answers are accepted in ascending order of their scores. The loss of an answer is 1 − q, and answers with one score have
the mean loss of these. With tail and share as of `risk_curves`, and N answers of the qualities q,

    1/N Σ_k (quality of the first k)/k = 1/N Σ q·(1 + tail − share) = (Σ q + gain)/N
    auarc = (Σ q + gain)/N = 1 − aurc, e_aurc = (most − gain)/N, prr = gain/most

where most is the gain of the perfect order, in which scores fall with the quality. Since Σ (tail − share) = 0, the
median c may be taken from each: gain = Σ (q − c)·(tail − share). Then most ≥ ½ Σ |q − c|, so that the quotient keeps
its digits.

Sums are integers. Of up to 256 answers they are exact. Of more, q − c is off by less than 2^-59 of the largest, and
each tail and share by less than 2^-50.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..arrays.compacting import compact_rows
from ..arrays.sorting import first_of_each, indices, sorted_with
from ..metric.prepared import MissingClassError
from .quantities import was_cut
from .risk_curves import FEW_SAMPLES, HARMONIC_NUMBERS, MARGIN, MULTIPLE, sum_of_gains, tails_and_shares, unit_of_gains

GRADED = {"aurc": False, "auarc": True, "e_aurc": False, "prr": True}  # whether higher is better
_UNIT, _LIMB = 60, 20  # bits of a difference, and of the parts that are summed: of 2^40 answers sums are below 2^60
_GROUPS_AT_ONCE = 1 << 15  # groups of equal scores, whose arrays fit a cache


class _Order(NamedTuple):
    """Answers in the order of their scores, and groups of these, each in random order."""

    qualities: np.ndarray  # (R,)
    counts: np.ndarray  # (R,) how many answers each row stands for
    first: np.ndarray  # (G,) the first row of each group
    before: np.ndarray  # (G,) the answers that are accepted earlier
    tied: np.ndarray  # (G,) the answers of the group

    @classmethod
    def of(cls, begins: np.ndarray, qualities: np.ndarray, counts: np.ndarray) -> _Order:
        """The groups of rows, from whether each row begins one."""
        first = np.flatnonzero(begins)
        tied = _by_group(counts, first)
        return cls(qualities, counts, first, np.cumsum(tied) - tied, tied)

    def is_perfect(self, highest: float) -> bool:
        """Whether qualities, of which one is the highest, fall with the scores, and are equal where these are."""
        if self.qualities[0] != highest:  # usually
            return False
        least, most = (each.reduceat(self.qualities, self.first) for each in (np.minimum, np.maximum))
        return bool((least == most).all() and (least[:-1] >= most[1:]).all())


def _by_group(values: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The sum of each group, from its first row."""
    return values if len(first) == len(values) else np.add.reduceat(values, first)


def graded_areas(
    scores: np.ndarray,
    qualities: np.ndarray,
    counts: np.ndarray | None = None,
    *,
    metrics: Collection[str],
    bits: int | None = None,
) -> dict[str, tuple[float, ...]]:
    """Areas by name and, if scores were cut, their two bounds before.

    Answers whose scores were cut to one may have had any order before: the gain is greatest if their qualities fell
    with the scores, and least if they rose.

    Parameters: scores (R,), higher is more likely wrong; qualities (R,) in [0, 1]; counts (R,) of the answers that each
    row stands for, by default one; bits, to which scores were cut (see `cut`), or None; metrics, of `GRADED`.
    Raises MissingClassError unless there are different qualities.

    >>> areas = graded_areas(np.arange(3), np.asarray([1.0, 0.25, 0.5]), metrics=GRADED)
    >>> {name: each for name, (each,) in areas.items()}
    {'aurc': 0.2638888888888889, 'auarc': 0.7361111111111112, 'e_aurc': 0.041666666666666664, 'prr': 0.7857142857142857}
    """
    counts = np.ones(len(scores), np.int64) if counts is None else counts
    (levels,), sizes = compact_rows([qualities.astype(np.float64)], counts)
    if len(levels) < 2:
        raise MissingClassError(f"qualities: expected at least two different ones, got {levels.tolist()}")
    answers = _Answers.of(levels, sizes)
    perfect = _Order.of(np.ones(len(levels), bool), levels[::-1], sizes[::-1])
    most = answers.gain(perfect) if {"e_aurc", "prr"} & {*metrics} else None
    ordered, order = sorted_with(scores, indices(scores))
    by_score = _Order.of(first_of_each(ordered), qualities[order], counts[order])
    every = [_areas(answers, by_score, most)]
    for sign in () if bits is None else (1, -1):
        order = np.lexsort((-sign * qualities, scores))
        graded, ordered = qualities[order], scores[order]
        begins = first_of_each(ordered) | (was_cut(ordered, bits or 0) & first_of_each(graded))
        apart = _Order.of(begins, graded, counts[order])
        every.append(_areas(answers, apart, most, sign * (len(apart.first) > len(by_score.first))))
    return {name: tuple(areas[name] for areas in every) for name in metrics}


class _Answers(NamedTuple):
    """The qualities of some answers, which all orders of them share."""

    number: int
    centre: float  # the median quality
    unit: Fraction  # of differences from it
    highest: float
    total: Fraction  # Σ q
    spread: Fraction  # Σ |q − c|

    @classmethod
    def of(cls, levels: np.ndarray, sizes: np.ndarray) -> _Answers:
        """Of the different qualities, ascending, and how many answers have each."""
        upto = np.cumsum(sizes)
        number = int(upto[-1])
        centre = float(levels[np.searchsorted(upto, number // 2, side="right")])
        if number <= FEW_SAMPLES:
            unit = Fraction(1, max(each.as_integer_ratio()[1] for each in levels.tolist()))
        else:
            unit = Fraction(2) ** (int(np.frexp(max(levels[-1] - centre, centre - levels[0]))[1]) - _UNIT)
        answers = cls(number, centre, unit, float(levels[-1]), Fraction(), Fraction())
        units = answers.units(levels)
        total, spread = (sum(int((part * sizes).sum()) << low for low, part in _limbs(x)) for x in (units, abs(units)))
        return answers._replace(total=Fraction(centre) * number + unit * total, spread=unit * spread)

    def units(self, qualities: np.ndarray) -> np.ndarray:
        """Q − c in units: as exact integers of up to 256 answers, else as rounded int64."""
        if self.number <= FEW_SAMPLES:
            whole = self.unit.denominator  # a multiple of the denominators of all qualities
            ratios = [each.as_integer_ratio() for each in (self.centre, *qualities.tolist())]
            centre, *exact = [above * (whole // below) for above, below in ratios]
            return np.asarray([each - centre for each in exact], dtype=object)
        exponent = self.unit.denominator.bit_length() - self.unit.numerator.bit_length()
        return np.rint(np.ldexp(qualities - self.centre, exponent)).astype(np.int64)

    def gain(self, order: _Order) -> Fraction:
        """Σ (q − c)·(tail − share), each group of answers with one tail and one share."""
        if self.number <= FEW_SAMPLES:
            sums = _by_group(self.units(order.qualities) * order.counts, order.first)
            return self.unit * Fraction(_exact_gain(sums, order, self.number), unit_of_gains(self.number))
        total, ends = 0, np.append(order.first, len(order.counts))
        for start in range(0, len(order.first), _GROUPS_AT_ONCE):
            groups = slice(start, start + _GROUPS_AT_ONCE)
            first = order.first[groups]
            rows = slice(first[0], ends[start + len(first)])
            units, counts = self.units(order.qualities[rows].astype(np.float64)), order.counts[rows]
            weights = tails_and_shares(order.before[groups], order.tied[groups], self.number)
            for low, limb in _limbs(units):
                total += sum_of_gains(_by_group(limb * counts, first - first[0]), *weights) << low
        return self.unit * Fraction(total, unit_of_gains(self.number))


def _limbs(units: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Split integers: (low, part) of each with Σ part·2^low, small enough to sum; Python's are small enough."""
    if units.dtype == object:
        yield 0, units
        return
    for low in range(0, _UNIT, _LIMB):
        part = units >> low
        yield low, part if low + _LIMB == _UNIT else part & ((1 << _LIMB) - 1)


def _exact_gain(sums: np.ndarray, order: _Order, number: int) -> int:
    last, total = HARMONIC_NUMBERS[number], 0
    for size, lower, equal in zip(sums.tolist(), order.before.tolist(), order.tied.tolist()):
        through = HARMONIC_NUMBERS[lower + equal]
        share = lower * (through - HARMONIC_NUMBERS[lower]) * (MULTIPLE // equal)
        total += size * ((last - through) * MULTIPLE - share)
    return total


def _areas(answers: _Answers, order: _Order, most: Fraction | None, unsure: int = 0) -> dict[str, float]:
    """The areas of an order; without the gain of the perfect order, only areas that do not need it.

    unsure: 1 or −1 if rounding may add to its gain, or take from it
    """
    gain = answers.gain(order)
    if answers.number > FEW_SAMPLES:
        gain += unsure * answers.spread * Fraction(MARGIN, unit_of_gains(answers.number))
    mean = (answers.total + gain) / answers.number
    areas = {"aurc": min(1.0, max(0.0, float(1 - mean))), "auarc": min(1.0, max(0.0, float(mean)))}
    if most is None:
        return areas
    gain = most if order.is_perfect(answers.highest) else min(gain, most)
    return {**areas, "e_aurc": float((most - gain) / answers.number), "prr": float(gain / most)}
