"""What `openworld-metrics detect` prints for people."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...evaluation.detection import summary
from ...reports.terminal.comparison import comparison_text
from .people import LEVEL, for_people, model_names, width


def detection_text(results: Mapping[str, Any], places: tuple[str, str | None], level: float | None) -> str:
    """The summary of a detector; of two, at the places of their files, a row a metric with the better one below."""
    alone = summary({name: value for name, value in results.items() if name != "comparison"})
    first, second = places
    if "comparison" not in results or second is None:
        return alone
    names = model_names(first, second)
    lay_out = partial(comparison_text, results["comparison"], names, level=level or LEVEL, width=width())
    return for_people(lambda paint: f"{paint(alone, '')}\n\n{lay_out(paint=paint)}")
