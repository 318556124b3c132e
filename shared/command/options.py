"""Read options of a metric from the command line, as KEY=VALUE or from flags."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from ..metric.metric import Metric
from .fitted import with_numbers


class _Folder(click.Path):
    """A folder to write to; an empty name, which would mean the current folder, is an error."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "":
            self.fail("expected a folder, got an empty name", param, ctx)
        return super().convert(value, param, ctx)


FOLDER = _Folder(file_okay=False, path_type=Path)


def read_option(text: str) -> tuple[str, Any]:
    """A key and its value: a Python literal or ±inf if possible, else a word or a list of comma-separated words.

    >>> [read_option(text) for text in ("k_list=1,5", "ties=expected", "metrics=auroc,aupr_in", "percent=true")]
    [('k_list', (1, 5)), ('ties', 'expected'), ('metrics', ['auroc', 'aupr_in']), ('percent', True)]
    >>> read_option("t_list=-inf,0.5")
    ('t_list', [-inf, 0.5])
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"expected KEY=VALUE, got {text!r}", param_hint="--option")
    parsed = _literal(value)
    return key, [_literal(part.strip()) for part in value.split(",")] if parsed == value and "," in value else parsed


def read_options(
    metric: type[Metric],
    pairs: Sequence[str],
    flags: Mapping[str, Any] = MappingProxyType({}),
    *,
    numbers: bool = True,
) -> dict[str, Any]:
    """The options of a metric, at most once each; evaluate's own arguments, such as num_process, are not options.

    Parameters: metric; pairs, KEY=VALUE; flags, values that include those of a `MetricCommand`'s flags; numbers,
    whether the file of a threshold (see `openworld-metrics threshold`) is replaced by its number.
    """
    options: dict[str, Any] = {}
    for key, value in map(read_option, [*pairs, *_pairs(metric, flags)]):
        if key not in metric.options:
            raise click.BadParameter(
                f"{metric.name} takes {', '.join(metric.options)}, got {key!r}", param_hint="--option"
            )
        if key in options:
            raise click.BadParameter(f"expected {key} once, got it twice", param_hint="--option")
        options[key] = value
    return with_numbers(options) if numbers else options


def _pairs(metric: type[Metric], flags: Mapping[str, Any]) -> list[str]:
    """The flags with values, as KEY=VALUE; values are comma-separated words, true or false."""
    values = {name: flags[name] for name in metric.options if flags.get(name) not in (None, ())}
    words = {name: str(value).lower() if isinstance(value, bool) else ",".join(value) for name, value in values.items()}
    return [f"{name}={text}" for name, text in words.items()]


def _literal(text: str) -> Any:
    if text in ("inf", "+inf", "-inf"):
        return float(text)
    try:
        return ast.literal_eval(text.capitalize() if text in ("true", "false", "none") else text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # the last two for deeply nested text
        return text
