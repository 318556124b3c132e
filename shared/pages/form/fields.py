"""Convert between components by name and the flat lists of values that gradio uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gradio as gr


def leaves(parts: Any) -> list[Any]:
    """The components of a tree of tuples, lists and mappings, in order.

    >>> leaves({"table": ["a", "b"], "options": {"k": "c"}})
    ['a', 'b', 'c']
    """
    if isinstance(parts, Mapping):
        return leaves([*parts.values()])
    return [leaf for part in parts for leaf in leaves(part)] if isinstance(parts, (list, tuple)) else [parts]


def filled(parts: Any, values: Sequence[Any]) -> Any:
    """A tree of the same shape, with values in place of its components.

    >>> filled({"table": ["a", "b"], "options": {"k": "c"}}, [1, [2], 3])
    {'table': [1, [2]], 'options': {'k': 3}}
    """
    return _filled(parts, iter(values))


def _filled(parts: Any, values: Iterator[Any]) -> Any:
    if isinstance(parts, Mapping):
        return {name: _filled(part, values) for name, part in parts.items()}
    if isinstance(parts, tuple) and hasattr(parts, "_fields"):
        return type(parts)(*(_filled(part, values) for part in parts))
    return [_filled(part, values) for part in parts] if isinstance(parts, (list, tuple)) else next(values)


def updates(parts: Mapping[str, Any], changes: Mapping[str, Any]) -> list[Any]:
    """The updates of all components of `parts`: `changes`, by name, and no update for the others.

    None leaves a component as it is; `gr.update(value=None)` empties it. Raises KeyError for an unknown name.
    """
    unknown = [name for name in changes if name not in parts]
    if unknown:
        raise KeyError(f"expected changes of {', '.join(parts)}, got {unknown[0]}")
    return [update for name, part in parts.items() for update in _of_part(part, changes.get(name))]


def _of_part(part: Any, change: Any) -> list[Any]:
    """The updates of one part; a list or mapping takes a full sequence, or some changes by index or name."""
    if change is None:
        return [gr.skip()] * len(leaves(part))
    if isinstance(change, Mapping) and isinstance(part, (Mapping, list)):
        return [change.get(name, gr.skip()) for name in (part if isinstance(part, Mapping) else range(len(part)))]
    return list(change) if isinstance(part, list) else [change]
