"""Differences of two models, in each rate and by group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..metric.results import Results


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Results:
    """Differences of two models, in each rate and by group: the first minus the second.

    Parameters: first and second, as `grouped_results` returns them, of the same groups.
    Returns {"key": [rates], "first": […], "second": […], "difference": […], "groups": {"group": […], rate: […]}}, with
    None for a group that lacks a rate.
    """
    ends = {f"{key}_{end}" for key in first for end in ("low", "high")}
    rates = [key for key, value in first.items() if type(value) is float and type(second.get(key)) is float]
    keys = [key for key in rates if key not in ends]

    def subtracted(key: str) -> list[float | None]:
        pairs = zip(first["groups"][key], second["groups"][key])
        return [None if one is None or other is None else one - other for one, other in pairs]

    return {
        "key": keys,
        "first": [first[key] for key in keys],
        "second": [second[key] for key in keys],
        "difference": [first[key] - second[key] for key in keys],
        "groups": {"group": first["groups"]["group"], **{key: subtracted(key) for key in keys}},
    }
