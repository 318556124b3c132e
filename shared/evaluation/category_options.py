"""Options of anomaly_suite with a value for each category, such as pixel_threshold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..anomaly.anomaly_suite import AnomalySuite, check_levels
from ..reading.maps.masks import VOID


def options_of(options: Mapping[str, Any], category: str) -> dict[str, Any]:
    """The options of one category: mappings give its value. Raises ValueError for a mapping without the category.

    >>> options_of({"pixel_threshold": {"can": 0.3, "vial": 0.4}, "levels": "pixel"}, "vial")
    {'pixel_threshold': 0.4, 'levels': 'pixel'}
    """
    for name, value in options.items():
        if isinstance(value, Mapping) and category not in value:
            raise ValueError(f"{name}: expected a value for category {category!r}, got values for {', '.join(value)}")
    return {name: value[category] if isinstance(value, Mapping) else value for name, value in options.items()}


def with_only_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options where a mapping of a single category is replaced by its value, whatever the category.

    >>> with_only_values({"pixel_threshold": {"maps": 0.3}})
    {'pixel_threshold': 0.3}
    """
    return {
        name: next(iter(value.values())) if isinstance(value, Mapping) and len(value) == 1 else value
        for name, value in options.items()
    }


def check_categories(options: Mapping[str, Any], categories: Iterable[str]) -> None:
    """Raise ValueError unless all categories have their options."""
    for category in categories:
        options_of(options, category)


def needs_masks(options: Mapping[str, Any]) -> bool:
    """Whether pixels are judged, in any category.

    >>> needs_masks({}), needs_masks({"levels": "image"}), needs_masks({"levels": {"can": "image", "vial": ["pixel"]}})
    (True, False, True)
    """
    levels = options.get("levels", AnomalySuite.levels)
    return any("pixel" in check_levels(each) for each in (levels.values() if isinstance(levels, Mapping) else [levels]))


def by_category(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ by category, each a dict of values by category."""
    return {name: dict(value) for name, value in options.items() if isinstance(value, Mapping)}


def with_void(options: Mapping[str, Any], void_where_invalid: bool) -> Mapping[str, Any]:
    """The options with an ignore_value for void pixels, which references need even if masks have no such value.

    >>> with_void({"levels": "pixel"}, True)
    {'levels': 'pixel', 'ignore_value': -1}
    """
    named = options.get("ignore_value") is not None
    return {**options, "ignore_value": VOID} if void_where_invalid and not named else options
