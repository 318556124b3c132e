"""Convert results to and from JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..reading.objects import parse_json
from ..reading.reasons import named
from .flat import KINDS, WORDS

_NUMBERS = {word: number for number, word in WORDS.items()}


def as_json(results: Mapping[str, Any], indent: int | None = None) -> str:
    """Results as JSON; ±inf becomes "Infinity" or "-Infinity", since JSON has no such number.

    >>> import math
    >>> as_json({"macro_open_f": 0.5, "macro_open_f_threshold": -math.inf})
    '{"macro_open_f": 0.5, "macro_open_f_threshold": "-Infinity"}'
    """
    return json.dumps(_finite(results), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return WORDS.get(value, value) if isinstance(value, float) else value


def read_results(path: str | Path) -> dict[str, Any]:
    """Read results that a command saved as JSON; "Infinity" and "-Infinity" become numbers.

    Returns the dict of results. Raises ValueError, with the file's name, for anything else.
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
    return _NUMBERS.get(value, value) if isinstance(value, str) else value


def shares(results: Mapping[str, Any]) -> frozenset[str]:
    """The keys of results that may be printed in percent, by their `kinds`, with the ends of their intervals."""
    kinds = results.get(KINDS, {})
    return frozenset(
        f"{key}{end}" for key, kind in kinds.items() if kind.get("share") for end in ("", "_low", "_high", "_error")
    )
