"""Align columns of text; a cell may have a role, which a terminal shows as bold, dim or in colour."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any
from unicodedata import combining, east_asian_width

Paint = Callable[[str, str], str]  # from a text and its role to the printed text


class Styled(str):
    """A text with a role: "strong" for the main text, "quiet" for side notes, "data" for a drawing."""

    role: str

    def __new__(cls, text: str, role: str) -> Styled:
        """Create a text with a role."""
        styled = super().__new__(cls, text)
        styled.role = role
        return styled


def strong(text: str) -> Styled:
    """A main text, such as a number: bold on terminals with colour."""
    return Styled(text, "strong")


def quiet(text: str) -> Styled:
    """A side note, such as an interval: grey on terminals with colour."""
    return Styled(text, "quiet")


def plain(text: str, role: str) -> str:
    """The text unchanged, whatever its role: for files and pipes."""
    return str(text)


def painted(cell: Any, paint: Paint) -> str:
    """The text of a cell: a string, or several strings, each with its role."""
    return "".join(paint(part, getattr(part, "role", "")) for part in _parts(cell))


def aligned(rows: Sequence[Sequence[Any]], left: Collection[int] = (0,), *, paint: Paint = plain) -> str:
    """Align rows of cells: the columns in `left` to the left, the others to the right.

    A cell is a string, or a tuple of strings that stand beside each other.

    >>> print(aligned([["key", "value"], ["auroc", ("0.5", quiet(" [0, 1]"))]]))
    key         value
    auroc  0.5 [0, 1]
    """
    sizes = [[sum(map(text_width, _parts(cell))) for cell in row] for row in rows]
    widths = [max(column) for column in zip(*sizes)]
    lines = []
    for row, taken in zip(rows, sizes):
        line = ""
        for i, (cell, size) in enumerate(zip(row, taken)):
            text, space = painted(cell, paint), " " * (widths[i] - size)
            line += "  " * (i > 0) + (text + space if i in left else space + text)
        lines.append(line.rstrip())
    return "\n".join(lines)


def text_width(text: str) -> int:
    """The columns of a terminal that a text takes: two for each wide character, none for accents that combine.

    >>> text_width("knn"), text_width("数据集"), text_width("e\u0301")
    (3, 6, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(each) else 1 + (east_asian_width(each) in "WF") for each in text)


def _parts(cell: Any) -> Iterable[str]:
    return (cell,) if isinstance(cell, str) else cell
