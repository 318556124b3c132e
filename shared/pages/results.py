"""What a person takes away: the numbers as a table and as JSON, and the Python call that gives them."""

from __future__ import annotations

import html
import json
import math
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from .inputs import Given

MAX_CURVE = 5  # values of a list that the table shows
MAX_ROWS = 30  # of a table among the results


def results_table(results: Mapping[str, Any]) -> str:
    """The numbers with three decimals, as HTML; a number's title is the number in full."""
    tables = {name: value for name, value in results.items() if isinstance(value, Mapping)}
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{_cell(value)}</td></tr>'
        for name, value in results.items()
        if name not in tables
    )
    numbers = f'<table class="results"><tbody>{rows}</tbody></table>'
    return numbers + "".join(_table_html(name, columns) for name, columns in tables.items())


def _table_html(name: str, columns: Mapping[str, list[Any]]) -> str:
    """A table among the results, folded, with its first rows."""
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    lines = [*zip(*columns.values())]
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in line)}</tr>" for line in lines[:MAX_ROWS])
    more = f"<p>… and {len(lines) - MAX_ROWS:,} more rows, in the JSON below</p>" if len(lines) > MAX_ROWS else ""
    title = f"<summary>{html.escape(name)}, {len(lines):,} rows</summary>"
    table = f'<table class="results"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<details>{title}<div style="overflow-x: auto">{table}</div>{more}</details>'


def _cell(value: Any) -> str:
    if isinstance(value, list):
        more = f" and {len(value) - MAX_CURVE:,} more" if len(value) > MAX_CURVE else ""
        return ", ".join(_cell(item) for item in value[:MAX_CURVE]) + more
    return f'<span title="{value!r}" data-full="{value!r}">{short(value)}</span>'


def short(value: float) -> str:
    """A number with three decimals, an integer with none; what would read as 0 or be long is in powers of ten.

    >>> short(3), short(0.66666), short(1.0), short(1e-7), short(float("inf"))
    ('3', '0.667', '1.000', '1.00e-07', 'inf')
    """
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    return f"{value:.2e}" if value and not 5e-4 <= abs(value) < 1e6 else f"{value:.3f}"


def results_json(results: Mapping[str, Any]) -> str:
    """The numbers in full. Infinity, which a threshold can be, is written as Python's json writes it."""
    return json.dumps(results, indent=2)


def message(text: str, kind: str = "error") -> str:
    """A box with an error, which screen readers announce, or with a note; nothing for no text."""
    role = "alert" if kind == "error" else "status"
    return f'<div class="message {kind}" role="{role}">{html.escape(text)}</div>' if text else ""


def python_call(name: str, given: Given, options: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """Write the Python that computes the same: columns from files by their expressions, typed ones spelt out."""
    arguments = [
        f"    {column}={given.code.get(column) or _literal(value)},\n" for column, value in given.columns.items()
    ]
    arguments += [f"    {key}={value!r},\n" for key, value in options.items() if value != defaults[key]]
    body = "".join(arguments)
    imports = {"import evaluate", *(line for line in given.setup if line.startswith(("import ", "from ")))}
    if "np." in body + "".join(given.setup):
        imports.add("import numpy as np")
    ordered = sorted(line for line in imports if line.startswith("import "))
    ordered += sorted(line for line in imports if line.startswith("from "))
    path = os.environ.get("SPACE_ID") or f"metrics/{name}"
    lines = [*ordered, "", f'{name} = evaluate.load("{path}")', *(x for x in given.setup if x not in imports)]
    return "\n".join(lines) + f"\nresults = {name}.compute(\n{body})\n"


def _literal(value: Any) -> str:
    """Spell out numbers; a row a line, if there are several in a row."""
    rows = value.tolist() if isinstance(value, np.ndarray) else [np.asarray(row).tolist() for row in value]
    if any(isinstance(row, list) for row in rows):
        begin, end = "()" if isinstance(value, tuple) else "[]"
        text = f"{begin}\n" + "".join(f"        {row!r},\n" for row in rows) + f"    {end}"
    else:
        text = repr(rows)
    return re.sub(r"\b(inf)\b", 'float("inf")', text)
