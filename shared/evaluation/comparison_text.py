"""The table of `compare` as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..comparison import TABLE
from ..written.aligned import aligned


def comparison_text(table: Mapping[str, list[Any]]) -> str:
    """The table as text: a line for each result, with the better model if one is, by its p-value.

    >>> row = dict(first=[0.75], second=[0.5], difference=[0.25], low=[0.125], high=[0.375], p_value=[0.01])
    >>> print(comparison_text({"key": ["auroc"], **row, "better": ["first"]}))
    key       first    second  difference       low      high  p_value  better
    auroc  0.750000  0.500000   +0.250000  0.125000  0.375000   0.0100  first
    """
    rows = [[*TABLE], *(_cells(*row) for row in zip(*(table[name] for name in TABLE)))]
    last = len(TABLE) - 1
    if "group" not in table:
        return aligned(rows, left=(0, last))
    groups = ["group", *("mean" if name is None else name for name in table["group"])]
    return aligned([[group, *row] for group, row in zip(groups, rows)], left=(0, 1, last + 1))


def _cells(key: str, *values: Any) -> list[str]:
    *rates, difference, low, high, p_value, better = values
    return [
        key,
        *(f"{rate:.6f}" for rate in rates),
        f"{difference:+.6f}",
        f"{low:.6f}",
        f"{high:.6f}",
        f"{p_value:.4f}",
        better or "–",
    ]
