"""Aligned columns of text."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Align rows of cells: the columns in `left` to the left, the others to the right.

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
