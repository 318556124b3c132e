"""Arguments of a metric's verbs: columns of a batch and options, told apart by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from ..arrays.options import did_you_mean

# columns that metrics of this collection take: one that a metric does not use is ignored by it, for combine()
SIBLING_COLUMNS = frozenset({"open_scores", "open_labels", "image_scores", "image_labels", "samples"})


def sort_arguments(
    metric: Any, predictions: Any, references: Any, others: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split arguments into columns, by their own names, and options; drop siblings' columns and None columns."""
    columns: dict[str, Any] = {}
    if predictions is not None:
        columns["predictions"] = predictions
    if references is not None:
        columns["references"] = references
    options: dict[str, Any] = {}
    for keyword, value in others.items():
        name = metric.aliases.get(keyword, keyword)
        if name in metric.options:
            options[name] = value
        elif name in metric.columns:
            if value is None:
                continue
            if name in columns:
                raise TypeError(f"{name} was given twice, once as {keyword}")
            columns[name] = value
        elif name not in SIBLING_COLUMNS:
            raise unknown_name(metric, keyword, (*metric.columns, *metric.aliases, *metric.options))
    return columns, options


def unknown_name(metric: Any, name: str, known: Iterable[str]) -> TypeError:
    """The error for an argument that a metric does not have."""
    known = [*known]
    hint = did_you_mean(name, known)
    return TypeError(f"{metric.name} has no argument {name!r}; it takes {', '.join(known) or 'no options'}{hint}")


def present(**columns: Any) -> dict[str, Any]:
    """The columns that are not None."""
    return {name: column for name, column in columns.items() if column is not None}


@cache
def keyword_options(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The keyword-only parameters of a function, and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind == p.KEYWORD_ONLY}


def options_for(function: Callable[..., Any], metric: Any) -> dict[str, Any]:
    """The options of a metric that a function takes."""
    kind: Any = type(metric)  # mypy takes the class of a dataclass without eq for one that cannot be hashed
    return {name: getattr(metric, name) for name in _shared_options(function, kind)}


@cache
def _shared_options(function: Callable[..., Any], metric: Any) -> tuple[str, ...]:
    """The names of the options that a function takes and a metric has."""
    return tuple(name for name in keyword_options(function) if name in metric.options)


def differ(first: Any, second: Any) -> bool:
    """Whether two values of an option are not equal."""
    try:
        return bool(first != second)
    except (ValueError, TypeError, RuntimeError):  # arrays cannot be compared so, but no such option is one
        return True
