"""What the command line reads and prints: options as KEY=VALUE, results as a table or as JSON."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import click


def read_option(text: str) -> tuple[str, Any]:
    """A key and a value: a Python literal or ±inf if it is one, else a word, or a list of them between commas.

    >>> [read_option(text) for text in ("k_list=1,5", "ties=expected", "metrics=auroc,aupr_in", "percent=true")]
    [('k_list', (1, 5)), ('ties', 'expected'), ('metrics', ['auroc', 'aupr_in']), ('percent', True)]
    >>> read_option("t_list=-inf,0.5")
    ('t_list', [-inf, 0.5])
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"expected KEY=VALUE, got {text!r}", param_hint="--option")
    parsed = _literal(value)
    return key, [_literal(part) for part in value.split(",")] if parsed == value and "," in value else parsed


def read_options(name: str, texts: Sequence[str]) -> dict[str, Any]:
    """The options of a metric, each given once; evaluate's own arguments, such as num_process, are none."""
    from . import load

    known = load(name).options
    options: dict[str, Any] = {}
    for key, value in map(read_option, texts):
        if key not in known:
            raise click.BadParameter(f"{name} takes {', '.join(known)}, got {key!r}", param_hint="--option")
        if key in options:
            raise click.BadParameter(f"expected {key} once, got it twice", param_hint="--option")
        options[key] = value
    return options


def _literal(text: str) -> Any:
    if text in ("inf", "+inf", "-inf"):
        return float(text)
    try:
        return ast.literal_eval(text.capitalize() if text in ("true", "false", "none") else text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # the last two for what is nested too deep
        return text


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


def as_table(results: Mapping[str, Any]) -> str:
    """Results a line each, with six decimals.

    >>> print(as_table({"auroc": 0.75, "total": 12}))
    auroc  0.750000
    total  12
    """
    width = max(map(len, results))
    return "\n".join(f"{name:{width}}  {value_text(value)}" for name, value in results.items())


def value_text(value: Any) -> str:
    """A value as it is printed in tables: fractions with six digits, lists with commas."""
    if isinstance(value, list):
        return ", ".join(map(value_text, value))
    return f"{value:.6f}" if isinstance(value, float) else str(value)
