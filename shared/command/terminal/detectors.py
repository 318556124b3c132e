"""The terminal summary of `openworld-metrics detect`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...evaluation.detection import summary
from ...formats.written.flat import KINDS
from ...reports.terminal.comparison import comparison_text
from .people import LEVEL, for_people, model_names, width


def detection_text(
    results: Mapping[str, Any], places: tuple[str, str | None], level: float | None, *, percent: bool
) -> str:
    """The summary of one detector, or of two, with a row for each metric and the better detector below."""
    alone = summary({name: value for name, value in results.items() if name != "comparison"}, percent)
    first, second = places
    if "comparison" not in results or second is None:
        return alone
    names = model_names(first, second)
    shown: dict[str, Any] = {"kinds": results[KINDS], "level": level or LEVEL, "percent": percent, "width": width()}
    lay_out = partial(comparison_text, results["comparison"], names, **shown)
    return for_people(lambda paint: f"{paint(alone, '')}\n\n{lay_out(paint=paint)}")
