"""Thresholds between scores: decimals that decide alike on scores of float16, float32 and float64, and on their text.

With two neighbouring scores a < b, every t in [a, b) makes the same decisions, score > t. But t = a does so only on
scores of one type: a file holds 0.7, the model's float16 is 0.7001953125, and NumPy rounds t to the type of an array
before it compares. So t lies strictly between, and also between what a and b become in other types.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from itertools import product
from typing import Any, NamedTuple

import numpy as np

_DIGITS = 17  # of a decimal, beyond which no float needs more
_EXACT = Context(prec=1_100)  # the digits of any float
# from the coarsest on: where a coarse type has no room, the finer ones may
_TYPES: Sequence[Any] = (np.float16, np.float32, np.float64)
# where no score lies on the other side, the distance of a threshold is at most this part of the score
_FAR, _NEAR = 10, 256  # below the lowest, above the highest
_SMALL = 1e-6  # the same of a score of 0


class Placement(NamedTuple):
    """A threshold between two neighbouring scores.

    text: a decimal, or the lower score itself where no number lies between
    types: the names of the types in which scores are decided alike; none if it is a score itself
    """

    text: str
    types: tuple[str, ...]


def threshold_between(low: float, high: float) -> Placement:
    """The shortest decimal strictly between two neighbouring scores, with the types of scores that it decides alike.

    In each of these types T, scores s = T(low) or its shortest decimal do not exceed t, and T(high) and its shortest
    decimal do, whether t is compared as a float64 or as T(t). Without room in float16, float32 and float64 have to do,
    then float64 alone; if not even a float64 lies between, t is `low`. Scores of bfloat16 are decided alike in it, too,
    whose numbers torch compares with bfloat16(t).

    Parameters: low, a score, or −inf where none is lower; high, the next higher score, or inf where there is none: t is
    then close to `low`. t is ±inf only if low is inf, or both are infinite.

    >>> threshold_between(0.7, 0.8)
    Placement(text='0.71', types=('float16', 'float32', 'float64'))
    >>> threshold_between(0.1, 0.1 + 1e-12)
    Placement(text='0.100000000001', types=('float64',))
    >>> threshold_between(0.31, float("inf")).text, threshold_between(0.1, 0.10000000000000002)
    ('0.311', Placement(text='0.1', types=()))
    """
    low, high = float(low), float(high)
    if low == math.inf or (math.isinf(low) and math.isinf(high)):
        return Placement(str(low), ())
    bottom, top = low, high
    if low == -math.inf:
        bottom = high - (abs(high) / _FAR or _SMALL)
    elif high == math.inf:
        top = low + (abs(low) / _NEAR or _SMALL)
    are_bfloat16 = all(map(_is_bfloat16, (low, high))) and math.isfinite(high)
    limits = [_half_below(high), math.inf] if are_bfloat16 else [math.inf]
    for highest, start in product(limits, range(len(_TYPES))):  # scores of bfloat16 go before those of float16
        least, most = _room(bottom, top, _TYPES[start:])
        text = _shortest(least, min(most, highest))
        if text is not None:
            return Placement(text, tuple(kind.__name__ for kind in _TYPES[start:]))
    return Placement(str(low) if math.isinf(low) else repr(low), ())


def placement(threshold: float, low: float, high: float) -> Placement:
    """Where a threshold goes that makes the decisions of low ≤ threshold < high, of neighbouring scores.

    A score, which a rule has taken from the scores, goes strictly between them (see `threshold_between`). Any other
    number, such as one that was chosen or computed, stays: new scores may lie between it and the next score.

    >>> placement(0.7, 0.7, 0.8).text, placement(0.75, 0.7, 0.8).text, placement(1.235, 1.0, float("inf")).text
    ('0.71', '0.75', '1.235')
    >>> placement(0.70001, 0.7, 0.8)
    Placement(text='0.70001', types=('float32', 'float64'))
    """
    if threshold == low:
        return threshold_between(low, high)
    types: list[str] = []
    for kind in _TYPES:
        least, most = _room(low, high, [kind, np.float64])
        types += [kind.__name__] if least < threshold < most else []
    return Placement(repr(float(threshold)), tuple(types))


def placement_note(place: Placement, low: float, high: float) -> str:
    """A sentence on the types of scores that may be decided otherwise; "" if there are none.

    >>> placement_note(threshold_between(0.1, 0.100001), 0.1, 0.100001)
    'Scores rounded to float16 may be decided otherwise: the scores 0.1 and 0.100001 are too close to the threshold.'
    """
    if math.isinf(float(place.text)):
        return f"The threshold is {place.text}, since no number lies between two scores here."
    if not place.types:
        return f"The threshold is itself a score, since no number lies between {low!r} and {high!r}."
    rounded = [kind.__name__ for kind in _TYPES if kind.__name__ not in place.types]
    near = [repr(score) for score in (low, high) if math.isfinite(score)]
    close = f"the score {near[0]} is" if len(near) == 1 else f"the scores {' and '.join(near)} are"
    note = f"Scores rounded to {' or '.join(rounded)} may be decided otherwise: {close} too close to the threshold."
    return note if rounded else ""


def _room(low: float, high: float, types: Sequence[Any]) -> tuple[float, float]:
    """The open interval of thresholds that decide alike on two scores in all types."""
    lows, highs = [low], [high]
    with np.errstate(over="ignore"):
        for kind in types[: types.index(np.float64)]:
            below, above = kind(low), kind(high)
            lows += [float(below), float(str(below))]
            highs += [float(str(above)), _rounded_below(above)]
    return max(lows), min(highs)


def _rounded_below(score: Any) -> float:
    """The midpoint of a score of float16 or float32 and the next lower one: numbers below are rounded below it."""
    kind = type(score)
    lower = float(np.nextafter(score, kind(-math.inf)))
    if math.isinf(float(score)):  # where what lies above half a step is rounded to inf
        return lower + (lower - float(np.nextafter(kind(lower), kind(0)))) / 2 if score > 0 else -math.inf
    return lower if math.isinf(lower) else (lower + float(score)) / 2


def _is_bfloat16(score: float) -> bool:
    with np.errstate(over="ignore"):
        single = np.float32(score)
    return float(single) == score and int(single.view(np.uint32)) & 0xFFFF == 0


def _half_below(score: float) -> float:
    """As `_rounded_below`, of a score of bfloat16, which is the first half of the bits of a float32."""
    bits = int(np.float32(score + 0.0).view(np.uint32))
    lower = 0x80010000 if bits == 0 else bits + (0x10000 if score < 0 else -0x10000)
    return (float(np.uint32(lower).view(np.float32)) + score) / 2


def _shortest(low: float, high: float) -> str | None:
    """The decimal of the fewest places strictly between, the lowest of these; None if no float64 is."""
    if not -math.inf < low < high:
        return None
    exact, ends = Decimal(low), [abs(end) for end in (low, high) if end and math.isfinite(end)]
    size = Decimal(max(ends, default=1.0)).adjusted()
    for places in range(-size if size >= _DIGITS else 0, max(_DIGITS, _DIGITS - size) + 2):
        step = Decimal(1).scaleb(-places)
        decimal = _EXACT.add(exact.quantize(step, ROUND_FLOOR, _EXACT), step)
        decimal = _EXACT.add(decimal, step) if float(decimal) == low else decimal  # the text of `low`
        if low < float(decimal) < high:
            text = f"{decimal:f}"
            return text if len(text) <= _DIGITS + 2 else repr(float(decimal))
    return None
