"""Results as text, a table to read or JSON, and from JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..json import parse_json
from ..reasons import named
from .aligned import aligned

_ROWS = 20  # of a table that are printed
_WORDS = {"Infinity": math.inf, "-Infinity": -math.inf}


def as_json(results: Mapping[str, Any], indent: int | None = None) -> str:
    """Results as JSON, in which ±inf is "Infinity" or "-Infinity", since JSON has no such number.

    >>> as_json({"macro_open_f": 0.5, "macro_open_f_threshold": -math.inf})
    '{"macro_open_f": 0.5, "macro_open_f_threshold": "-Infinity"}'
    """
    return json.dumps(_finite(results), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def read_results(path: str | Path) -> dict[str, Any]:
    """Results from a file of JSON, as the commands save them; "Infinity" and "-Infinity" are numbers again.

    Returns the dict of results. Raises ValueError, with the file's name, for what is none.
    """
    with named(path):
        results = _numbers(parse_json(Path(path).read_bytes()))
        if not isinstance(results, dict):
            raise ValueError(f"expected an object of results by name, got a {type(results).__name__}")
    return results


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return _WORDS.get(value, value) if isinstance(value, str) else value


def as_table(results: Mapping[str, Any]) -> str:
    """Results a line each, with six decimals, and below them the tables among them, up to 20 rows of each.

    >>> print(as_table({"auroc": 0.75, "total": 12, "groups": {"group": ["far", "near"], "auroc": [1.0, 0.5]}}))
    auroc  0.750000
    total  12
    <BLANKLINE>
    group     auroc
    far    1.000000
    near   0.500000
    """
    tables = {name: value for name, value in results.items() if _is_table(value)}
    numbers = [(name, value_text(value)) for name, value in results.items() if name not in tables]
    width = max((len(name) for name, _ in numbers), default=0)
    lines = "\n".join(f"{name:{width}}  {text}" for name, text in numbers)
    return "\n\n".join(filter(None, [lines, *map(_table_text, tables.values())]))


def _is_table(value: Any) -> bool:
    columns = [*value.values()] if isinstance(value, Mapping) else []
    return bool(columns) and all(isinstance(x, list) for x in columns) and len({len(x) for x in columns}) == 1


def _table_text(table: Mapping[str, list[Any]]) -> str:
    rows = [[_cell(value) for value in row] for row in zip(*table.values())]
    more = f"\n… and {len(rows) - _ROWS} more rows, which JSON has" if len(rows) > _ROWS else ""
    return aligned([[*table], *rows[:_ROWS]]) + more


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return "table" if isinstance(value, Mapping) else value_text(value)


def value_text(value: Any) -> str:
    """A value as it is printed in tables: fractions with six digits, lists with commas."""
    if isinstance(value, list):
        return ", ".join(map(value_text, value))
    return f"{value:.6f}" if isinstance(value, float) else str(value)
