"""JSON, in any of its encodings: columns by name, one column alone, or records."""

from __future__ import annotations

import json
from typing import Any


def parse_json(data: bytes) -> Any:
    """What JSON holds. Raises ValueError, with line and column, for what is none."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise ValueError(f"expected JSON, got other text at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("expected fewer lists in lists") from None


def by_column(content: Any) -> Any:
    """Records, a list of objects, as columns of the names in the first; anything else, and dicts of boxes, as it is.

    >>> by_column([{"scores": 0.1, "labels": 0}, {"scores": 0.7, "labels": 1}])
    {'scores': [0.1, 0.7], 'labels': [0, 1]}
    """
    rows = content if isinstance(content, list) else []
    if not rows or not all(isinstance(row, dict) and "boxes" not in row for row in rows):
        return content
    return {name: [row.get(name) for row in rows] for name in rows[0]}
