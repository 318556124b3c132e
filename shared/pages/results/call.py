"""Write the Python code that gives a page's numbers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np

from ..data import Arguments, Data
from ..page import Page

_MAX_FILES = 5  # the most files that are named one by one
_WIDTH = 100


class Recipe(NamedTuple):
    """How data were read, small enough to be kept.

    files: the paths of each input's files, none for typed tables
    choices: those of `reading.read`
    """

    files: Sequence[Sequence[str]]
    choices: Mapping[str, Any]


def recipe_of(reading: Data, files: Sequence[Any], examples: Path) -> Recipe:
    """The recipe of a reading; files in the folder `examples` are in the repository."""
    prefix = f"metrics/{reading.page.name}/examples/"
    paths = [[Path(path) for path in part or ()] for part in files]
    places = [[f"{prefix if path.parent == examples else ''}{path.name}" for path in part] for part in paths]
    if reading.rows is None:
        choices = dict(reading.page.reader_choices(reading.made_of))
    else:
        chosen = {name: [*names] for name, names in reading.made_of.items() if names or reading.guesses[name]}
        read_as = reading.rows.read_as
        choices = {"columns": chosen} | ({"read_as": read_as} if read_as != "automatic" else {})
    return Recipe(places, choices | ({"leave_out": True} if reading.leaves_out else {}))


def python_call(
    page: Page,
    recipe: Recipe,
    detectors: Mapping[str, Arguments],
    options: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> str:
    """Write the Python code for a computation; files are read as on the page, typed tables are spelt out.

    The results of several detectors are keyed by name.
    """
    changed = [
        f"{name}={_quoted(value) if isinstance(value, str) else repr(value)}"
        for name, value in options.items()
        if value != defaults[name]
    ]
    compute = f"load({_quoted(page.name)}).compute"
    several = len(detectors) > 1
    names = ["load", *["read"] * any(recipe.files), *["compare"] * several]
    imports = f"from openworld_metrics import {', '.join(sorted(names))}\n\n"
    if any(recipe.files):
        choices = [f"{name}={_choice(value)}" for name, value in recipe.choices.items()]
        read = f"reading = {_call('read', [_quoted(page.name), *_inputs(page, recipe), *choices])}\n"
        models = "reading.models"
    else:
        spelt = {name: _braces(_spelt_out(one)) for name, one in detectors.items()}
        models = _braces([f"{_quoted(name)}: {own}" for name, own in spelt.items()]) if several else "columns"
        read = f"models = {models}\n" if several else f"columns = {next(iter(spelt.values()))}\n"
        models = "models" if several else models
    if not several:
        columns = "reading.columns" if any(recipe.files) else "columns"
        return f"{imports}{read}results = {_call(compute, [f'**{columns}', *changed])}\n"
    each = _braces([f"name: {_call(compute, ['**columns', *changed])} for name, columns in {models}.items()"])
    pairs = _call("compare", [_quoted(page.name), f"{models}[first]", f"{models}[second]", *changed])
    first, second = [*detectors][:2]
    both = f"first, second = {_quoted(first)}, {_quoted(second)}\n"
    return f"{imports}{read}results = {each}\n{both}table = {pairs}\n"


def _call(function: str, arguments: Sequence[str], wide: bool = True) -> str:
    """A call on one line if `wide` is true and it fits, otherwise with one argument on each line."""
    line = f"{function}({', '.join(arguments)})"
    return line if wide and len(line) <= _WIDTH else f"{function}({_lines(arguments, ',')})"


def _braces(entries: Sequence[str]) -> str:
    """A dict on one line if it fits, otherwise with one entry on each line."""
    line = f"{{{', '.join(entries)}}}"
    return line if len(line) <= _WIDTH and "\n" not in line else f"{{{_lines(entries, ',' * (len(entries) > 1))}}}"


def _lines(entries: Sequence[str], end: str) -> str:
    return "\n" + indent("".join(f"{entry}{end}\n" for entry in entries), "    ")


def _quoted(value: Any) -> str:
    """A string, or a list of strings, with double quotes."""
    return json.dumps(value, ensure_ascii=False)


def _inputs(page: Page, recipe: Recipe) -> list[str]:
    """The files of each input; a folder named after its first column if there are many, or if inputs share names."""
    last = max(i for i, part in enumerate(recipe.files) if part)
    shared = max(Counter(place for part in recipe.files for place in part).values()) > 1
    inputs = []
    for i, part in enumerate(recipe.files[: last + 1]):
        if part and (shared or len(part) > _MAX_FILES):
            inputs.append(_quoted(next(column.name for column in page.columns if column.source == i)))
        else:
            inputs.append(_quoted(part[0] if len(part) == 1 else part))
    return inputs


def _choice(value: Any) -> str:
    """A choice of the reader."""
    if isinstance(value, Mapping):
        return _braces([f"{_quoted(name)}: {_quoted(names)}" for name, names in value.items()])
    return _quoted(value) if isinstance(value, str) else repr(value)


def _spelt_out(arguments: Arguments) -> list[str]:
    return [f"{_quoted(name)}: {_literal(value)}" for name, value in arguments.columns.items()]


def _literal(value: Any) -> str:
    """Spell out numbers; rows of several numbers get a line each."""
    rows = value.tolist() if isinstance(value, np.ndarray) else [np.asarray(row).tolist() for row in value]
    if any(isinstance(row, list) for row in rows):
        begin, end = "()" if isinstance(value, tuple) else "[]"
        text = f"{begin}\n" + "".join(f"    {row!r},\n" for row in rows) + end
    else:
        text = repr(rows)
    return re.sub(r"\b(inf)\b", 'float("inf")', text)
