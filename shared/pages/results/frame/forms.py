"""Where a table is wider than its page, so that its rows are written as blocks of names with their values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .values import interval, number

# pixels there are, size of letters, pixels beside a column, of a bar, of the first column
_PAGES = {
    "narrow": (346, 12, 10, 0, 120),  # a telephone, where minor columns are left out and bars stand below their numbers
    "wide": (680, 9, 8, 44, 130),  # paper
    "records": (1020, 12.5, 12, 60, 180),  # the page at its full width
}
MEDIA = {"narrow": "screen and (max-width: 760px)", "wide": "print, (max-width: 1200px)", "records": "all"}
_HEAD, _CELL = 0.56, 0.63  # width of a letter by its size, of a wide font
_LONG = 16  # letters of a word in the first column, above which it is broken


def forms(
    columns: Mapping[str, Sequence[Any]], meters: Collection[str], minor: Collection[str], digits: int
) -> list[str]:
    """The classes of a table: those of `MEDIA` that it is too wide for, and "long" where long words are to be broken.

    >>> forms({"name": ["a"], "auroc": [0.5]}, [], [], 3), forms({f"column{i}": [1] for i in range(9)}, [], [], 3)
    ([], ['narrow'])
    """
    letters = {name: _width(name, column, digits) for name, column in columns.items()}
    pages = [page for page in _PAGES if _pixels(page, letters, meters, minor) > _PAGES[page][0]]
    words = (word for name in next(iter(columns.values()), ()) for word in str(name).split())
    return [*pages, *(["long"] if max(map(len, words), default=0) > _LONG else [])]


def _pixels(page: str, widths: Mapping[str, float], meters: Collection[str], minor: Collection[str]) -> float:
    """About how wide a table is on a page."""
    _, size, beside, bar, longest = _PAGES[page]
    shown = {name: size * width for name, width in widths.items() if page != "narrow" or name not in minor}
    first = next(iter(shown))
    shown[first] = min(longest, shown[first])
    return sum(shown.values()) + beside * len(shown) + bar * sum(name in meters for name in shown)


def _width(name: str, column: Sequence[Any], digits: int) -> float:
    """The width of the longest cell of a column, or word of its head, in sizes of letters."""
    head = max(map(len, re.split(r"[\s_]+", name)))
    return max([_HEAD * head, *(_CELL * len(_text(value, digits)) for value in column)])


def _text(value: Any, digits: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return max((number(each, digits) for each in value), key=len, default="")
    if isinstance(value, tuple):
        value, low, high = value
        return number(value, digits) if low is None else f"{number(value, digits)} {interval(low, high, digits)}"
    return number(value, digits)
