"""The Python that reproduces an answer: its numbers and, of several models, its paired comparison."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from textwrap import indent
from typing import Any

from ..metric.signature import plain_option

_WIDTH = 100


@dataclass(frozen=True)
class Source:
    """Where a reading comes from, so that Python can read it again.

    inputs: of each input, the name of its file, the names of several, or those of each model by its name
    choices: those of `read`, such as columns and leave_out
    """

    inputs: Sequence[str | Sequence[str] | Mapping[str, Any]]
    choices: Mapping[str, Any] = field(default_factory=dict)

    @property
    def files(self) -> list[str]:
        """The names of all files.

        >>> Source(["y.csv", {"knn": ["a.csv", "b.csv"], "msp": "c.csv"}]).files
        ['y.csv', 'a.csv', 'b.csv', 'c.csv']
        """
        models = chain.from_iterable(each.values() if isinstance(each, Mapping) else [each] for each in self.inputs)
        return [*chain.from_iterable([each] if isinstance(each, str) else each for each in models)]


def python_call(metric: str, source: Source | None, several: bool, options: Mapping[str, Any], best: str = "") -> str:
    """Python code of the results and, with a best of several models, of its comparison with each other model.

    Parameters: the name of the metric; the source of the data, without which its columns are left to the reader;
    whether there are several models; options that differ from their defaults; best, "" where nothing was compared.

    >>> print(python_call("ood_bench", Source(["scores.csv"]), False, {"metrics": "auroc"}))
    from openworld_metrics import load, read
    <BLANKLINE>
    reading = read("ood_bench", "scores.csv")
    results = load("ood_bench", metrics="auroc").compute(**reading.columns)
    <BLANKLINE>
    """
    columns, by_name, name, lines = "reading.columns", "reading.models", as_python(metric), []
    if source is not None:
        choices = (f"{key}={as_python(each)}" for key, each in source.choices.items())
        lines.append(_wrapped("reading = read(", [name, *map(as_python, source.inputs), *choices], ")"))
    else:
        columns = by_name = "models" if several else "columns"
        lines.append(f"{columns} = ...  # your columns by name{' of each model' if several else ''}")
    changed = [f"{key}={as_python(plain_option(value))}" for key, value in options.items()]
    compute = _wrapped("load(", [name, *changed], ").compute")
    imported = ["compare"] * bool(best) + ["load"] + ["read"] * (source is not None)
    if not several:
        lines.append(f"results = {compute}(**{columns})")
    else:
        loop = f"for name, columns in {by_name}.items()"
        lines.append(_wrapped("results = {", [f"name: {compute}(**columns)", loop], "}", comma=""))
    if best:
        lines.append(f"best = {as_python(best)}")
        compare = _wrapped("compare(", [name, f"{by_name}[best]", "columns", *changed], ")")
        lines.append(_wrapped("differences = {", [f"name: {compare}", f"{loop} if name != best"], "}", comma=""))
    return f"from openworld_metrics import {', '.join(imported)}\n\n" + "\n".join(lines) + "\n"


def _wrapped(begin: str, entries: Sequence[str], end: str, comma: str = ",") -> str:
    """Entries between two ends, on one line if it fits, otherwise each on a line of its own."""
    line = f"{begin}{f'{comma} '.join(entries)}{end}"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    return begin + "\n" + indent("".join(f"{entry}{comma}\n" for entry in entries), "    ") + end


def as_python(value: Any) -> str:
    """A value as Python: texts with double quotes, infinite numbers as float("inf"); long mappings over several lines.

    >>> as_python({"a": (1, float("-inf"))}), as_python([True, None, "é"])
    ('{"a": (1, float("-inf"))}', '[True, None, "é"]')
    """
    if isinstance(value, str):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        entries = [f"{as_python(key)}: {as_python(each)}" for key, each in value.items()]
        return _wrapped("{", entries, "}")
    if isinstance(value, (list, tuple)):
        begin, end = "()" if isinstance(value, tuple) else "[]"
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"{begin}{', '.join(map(as_python, value))}{comma}{end}"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)
