"""The terminal summary of `openworld-metrics detect`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...evaluation.detection import summary
from ...metric.numbers import DIGITS
from ...reports.terminal.comparison import comparison_text
from ...written.aligned import painted, quiet
from ...written.flat import KINDS
from .people import LEVEL, QuickIntervals, for_people, model_names, width


def detection_text(
    results: Mapping[str, Any],
    places: tuple[str, str | None],
    level: float | None,
    quick: QuickIntervals,
    *,
    percent: bool,
) -> str:
    """The summary of one detector, or of two, with a row for each metric and the better detector below.

    A single detector has intervals if they are quick; with two, those of the differences say more.
    """
    first, second = places
    alone = {name: value for name, value in results.items() if name != "comparison"}
    if "comparison" not in results or second is None:
        openset = results["openset_metrics"]
        rates = {
            key: value
            for key, value in (quick.results or {}).items()
            if not isinstance(value, Mapping) and key.removesuffix("_low").removesuffix("_high") in openset
        }
        alone["openset_metrics"] = {**openset, **rates}
        note = f"\n\n{quick.note}" if quick.note else ""
        return for_people(
            lambda paint: summary(alone, percent, paint=paint, digits=DIGITS) + painted(quiet(note), paint)
        )
    names = model_names(first, second)
    shown: dict[str, Any] = {"kinds": results[KINDS], "level": level or LEVEL, "percent": percent, "width": width()}
    lay_out = partial(comparison_text, results["comparison"], names, **shown)
    return for_people(lambda paint: f"{summary(alone, percent, paint=paint, digits=DIGITS)}\n\n{lay_out(paint=paint)}")
