"""The query of a page's address, which holds page, example and options: written for links, read when one is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from ..page import Option, Page
from .controls import shown
from .form import TABLE, Form, sample_of, titles

MAX_TEXT = 500  # characters of an option


def query_of(page: Page, defaults: Mapping[str, Any], form: Form) -> str:
    """The query: page, chosen example, and each option that differs from the example's value or the default."""
    entries = {"tab": page.name}
    if form.example in titles(page):
        entries["example"] = form.example
    usual = {**defaults, **options_of_title(page, form.example)}
    for option in page.options:
        value = form.options[option.name]
        if value != shown(option, usual[option.name]):
            entries[option.name] = _text(value)[:MAX_TEXT]
    return f"?{urlencode(entries)}"


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
