"""The query of an address: example, options, and what is shown of the results; written and read for links."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from ..page import Option, Page
from .controls import shown
from .form import TABLE, Form, sample_of, titles

MAX_TEXT = 500  # characters of an option


def query_of(page: Page, defaults: Mapping[str, Any], form: Form) -> str:
    """The query: chosen example, options that differ from the example's or the defaults, and the place."""
    entries: dict[str, str] = {}
    if form.example in titles(page):
        entries["example"] = form.example
    usual = {**defaults, **options_of_title(page, form.example)}
    for option in page.options:
        value = form.options[option.name]
        if value != shown(option, usual[option.name]):
            entries[option.name] = _text(value)[:MAX_TEXT]
    image = int(form.image or 0) if page.images else 0
    place = query_of_place(Place(form.detector or "", image, place_in(form.place).at))
    query = "&".join(filter(None, [urlencode(entries), place]))
    return query and f"?{query}"


class Place(NamedTuple):
    """The detector, the image, from 1, and the threshold that are shown; "" and 0 for the usual ones."""

    detector: str = ""
    image: int = 0
    at: str = ""


DETECTOR, IMAGE, AT = "detector", "image", "at"  # in a query, where `threshold` is an option


def place_of(query: Mapping[str, str]) -> Place:
    """The place in a query, without an image or a threshold that is no number.

    >>> place_of({"detector": "knn", "image": "3", "at": "-0.394"}), place_of({"image": "-1", "at": "<b>"})
    (Place(detector='knn', image=3, at='-0.394'), Place(detector='', image=0, at=''))
    """
    image, at = query.get(IMAGE, "")[:MAX_TEXT], query.get(AT, "")[:MAX_TEXT]
    return Place(
        query.get(DETECTOR, "")[:MAX_TEXT],
        int(image) if image.isascii() and image.isdigit() and len(image) < 10 else 0,
        at if _is_number(at) else "",
    )


def place_in(text: str) -> Place:
    """The place in the text of a query."""
    return place_of(dict(parse_qsl(text)))


def query_of_place(place: Place) -> str:
    """The query of a place, without the usual ones."""
    return urlencode({key: value for key, value in zip((DETECTOR, IMAGE, AT), place) if value})


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def options_of_title(page: Page, title: str) -> Mapping[str, Any]:
    """The options of the example with this title."""
    sample = sample_of(page, title)
    if sample:
        return sample.options
    return next((example.options for example in page.examples if f"{TABLE}{example.title}" == title), {})


def from_query(page: Page, query: Mapping[str, str]) -> dict[str, Any]:
    """The values of controls in a query, without unknown options and values that a control cannot hold."""
    values = {}
    for option in page.options:
        text = query.get(option.name, "")[:MAX_TEXT]
        value = _control_value(option, text) if option.name in query else None
        if value is not None:
            values[option.name] = value
    return values


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(int(value)) if isinstance(value, bool) else str(value)


def _control_value(option: Option, text: str) -> Any:
    """The value of an option's control, read from text; None for text that it cannot hold."""
    items = [item.strip() for item in text.split(",") if item.strip()]
    if option.control == "flag":
        return text in ("1", "true", "True")
    if option.control == "fraction":
        try:
            number = float(text)
        except ValueError:
            return None
        return number if 0 <= number <= 1 else None
    if option.control in ("choice", "choice or none"):
        return text if text in (*option.choices, *(["none"] if option.control == "choice or none" else [])) else None
    if option.control == "checks":
        return items if set(items) <= set(option.choices) else None
    return items if option.control == "several" else text
