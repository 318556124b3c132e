"""Convert options that are classes between names, which the page shows if the data have any, and ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...arrays.arrays import reads_as_number
from ...reading.boxes.dataset import class_ids
from ..page import Classes, Page
from .controls import CLASSES


def with_class_ids(page: Page, options: Mapping[str, Any], classes: Classes) -> dict[str, Any]:
    """Replace class names in options by ids. Raises ValueError for a name that is not in the data."""
    if not classes:
        return dict(options)
    named = {name: tuple(_ids(name, options[name], classes)) for name in _of_classes(page, options)}
    return {**options, **named}


def with_class_names(page: Page, options: Mapping[str, Any], classes: Classes) -> dict[str, Any]:
    """Replace class ids in options by names, if every class has a unique name that can be typed."""
    times = Counter(classes.values())
    typed = {key: name for key, name in classes.items() if times[name] == 1 and _can_be_typed(name)}
    named = {
        name: tuple(typed[label] for label in options[name])
        for name in _of_classes(page, options)
        if {*options[name]} <= {*typed}
    }
    return {**options, **named}


def _of_classes(page: Page, options: Mapping[str, Any]) -> list[str]:
    return [option.name for option in page.options if option.control == CLASSES and options.get(option.name)]


def _ids(name: str, words: Any, classes: Classes) -> list[int]:
    try:
        return class_ids([str(word) for word in words], classes)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _can_be_typed(name: str) -> bool:
    """Whether a name in a list with commas is read back unchanged.

    >>> _can_be_typed("traffic light"), _can_be_typed("cat, black"), _can_be_typed("7"), _can_be_typed(" cat")
    (True, False, False, False)
    """
    return name == name.strip() != "" and "," not in name and not reads_as_number(name)
