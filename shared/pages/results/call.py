"""What a person takes away: the numbers as JSON, and the Python call that gives them."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..columns.inputs import Given


def results_json(results: Mapping[str, Any]) -> str:
    """The numbers in full. Infinity, which a threshold can be, is written as Python's json writes it."""
    return json.dumps(results, indent=2)


def message(text: str, kind: str = "error") -> str:
    """A box with an error, which screen readers announce, or with a note; nothing for no text."""
    role = "alert" if kind == "error" else "status"
    return f'<div class="message {kind}" role="{role}">{html.escape(text)}</div>' if text else ""


def python_call(name: str, given: Mapping[str, Given], options: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """Write the Python that computes the same: columns from files by their expressions, typed ones spelt out.

    given: the columns of each detector by its name; of several, the results are by name too.
    """
    setup = [*dict.fromkeys(line for one in given.values() for line in one.setup)]
    calls = {title: _call(name, one, options, defaults) for title, one in given.items()}
    if len(calls) == 1:
        body = f"results = {next(iter(calls.values()))}\n"
    else:
        body = "results = {}\n" + "".join(f"results[{title!r}] = {call}\n" for title, call in calls.items())
    imports = {"import evaluate", *(line for line in setup if line.startswith(("import ", "from ")))}
    if "np." in body + "".join(setup):
        imports.add("import numpy as np")
    ordered = sorted(line for line in imports if line.startswith("import "))
    ordered += sorted(line for line in imports if line.startswith("from "))
    path = os.environ.get("SPACE_ID") or f"metrics/{name}"
    lines = [*ordered, "", f'{name} = evaluate.load("{path}")', *(x for x in setup if x not in imports)]
    return "\n".join(lines) + f"\n{body}"


def _call(name: str, given: Given, options: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    arguments = [
        f"    {column}={given.code.get(column) or _literal(value)},\n" for column, value in given.columns.items()
    ]
    arguments += [f"    {key}={value!r},\n" for key, value in options.items() if value != defaults[key]]
    return f"{name}.compute(\n{''.join(arguments)})"


def _literal(value: Any) -> str:
    """Spell out numbers; a row a line, if there are several in a row."""
    rows = value.tolist() if isinstance(value, np.ndarray) else [np.asarray(row).tolist() for row in value]
    if any(isinstance(row, list) for row in rows):
        begin, end = "()" if isinstance(value, tuple) else "[]"
        text = f"{begin}\n" + "".join(f"        {row!r},\n" for row in rows) + f"    {end}"
    else:
        text = repr(rows)
    return re.sub(r"\b(inf)\b", 'float("inf")', text)
