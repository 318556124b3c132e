"""What a person takes away: the numbers as JSON, and the Python call that gives them."""

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
