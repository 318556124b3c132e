"""Columns of text beneath each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Rows of cells as lines: columns of these places from the left, the others from the right.

    >>> print(aligned([["key", "value"], ["auroc", "0.5"]]))
    key    value
    auroc    0.5
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = (
        [cell.ljust(width) if i in left else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        for row in rows
    )
    return "\n".join("  ".join(line).rstrip() for line in lines)
