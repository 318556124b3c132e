"""Typography of numbers that `metric/rounding.py` has rounded: true minus signs, thousands, and short names."""

from __future__ import annotations

import math
import re
from typing import Any

from ..metric.rounding import interval_text, number_text, signed_text


def number(value: Any, digits: int | None = None) -> str:
    """A number as text: integers in full, others with three decimals, or more where 0 or 1 would be false.

    Text is unchanged, a missing number is a dash, and a list its numbers.

    >>> number(0.70449), number(1.0), number(0.99968), number(1291), number(-0.5), number(5.36e-9), number(None)
    ('0.704', '1.000', '0.9997', '1,291', '−0.500', '5.36e−09', '–')
    >>> number("a-b"), number([1, 0.25]), number(True), number(float("inf"))
    ('a-b', '1, 0.250', 'yes', '∞')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ", ".join(number(one, digits) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not math.isfinite(value):
        return "–" if math.isnan(value) else typographic("∞" if value > 0 else "-∞")
    return typographic(f"{value:,}" if isinstance(value, int) else number_text(value, digits))


def signed(value: float) -> str:
    """A difference as text, with its sign.

    >>> signed(0.25), signed(-0.0125), signed(0.0), signed(3)
    ('+0.250', '−0.013', '0.000', '+3')
    """
    return typographic(signed_text(value))


def interval(ends: tuple[float, float] | None, digits: int | None = None) -> str:
    """The ends of an interval; "" without them.

    >>> interval((-0.019, 0.025)), interval(None)
    ('[−0.019, 0.025]', '')
    """
    return "" if ends is None else typographic(interval_text(*ends, digits))


def typographic(text: str) -> str:
    """A text of numbers with minus signs for hyphens, as it is read.

    >>> typographic("-0.394")
    '−0.394'
    """
    return text.replace("-", "−")


def prose(text: str) -> str:
    """A sentence with the minus signs of its numbers.

    >>> prose("best F-score at score > -1.987, pre-2020 by -method")
    'best F-score at score > −1.987, pre-2020 by -method'
    """
    return re.sub(r"(?<!\S)-(?=\d|inf)", "−", text)


def threshold_shown(text: str) -> str:
    """The text of a threshold as it is read.

    >>> threshold_shown("-0.394"), threshold_shown("-inf")
    ('−0.394', '−∞')
    """
    return typographic(text).replace("inf", "∞")


def brief(name: str, most: int = 24) -> str:
    """A name of at most `most` characters; a longer one has no middle.

    >>> brief("knn"), brief("a_very_long_name_of_a_detector_seed_0", 15)
    ('knn', 'a_very_…_seed_0')
    """
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"
