"""A control for each option of a metric, and the conversion between their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gradio as gr

from ..page import Option, one_line


def control(option: Option, value: Any, default: Any, text: str, elem_id: str) -> Any:
    """Make the control of an option with its initial value; one line of the docstring explains it."""
    info = one_line(text)
    if "efault" not in info:
        info += f" Default: {default!r}."
    kind = CONTROLS[option.control]
    return kind.make(option, label=option.name, info=info, value=kind.show(value), elem_id=elem_id)


def shown(option: Option, value: Any) -> Any:
    """The control's value for a value of its option."""
    return CONTROLS[option.control].show(value)


def parse(option: Option, value: Any, default: Any) -> Any:
    """The option's value; an unreadable value is passed on, and the metric says what it expected."""
    if value is None or value == "" or value == []:
        return default if CONTROLS[option.control].blank_is_default else None
    return CONTROLS[option.control].parse(value)


def options_of(
    page_options: tuple[Option, ...], held: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """All options, from the values of their controls in `held`; options without one get their defaults."""
    return {
        option.name: parse(option, held[option.name], defaults[option.name]) if option.name in held else default
        for option in page_options
        for default in [defaults[option.name]]
    }


def _number(text: Any) -> Any:
    """The text as an int if it is whole, else as a float, else unchanged.

    >>> _number("3"), _number("0.5"), _number(2.0), _number("five")
    (3, 0.5, 2, 'five')
    """
    for kind in (int, float):
        try:
            number = kind(text)
        except (ValueError, TypeError, OverflowError):
            continue
        if kind is float or number == float(text):
            return number
    return text


def _numbers(text: str) -> tuple[Any, ...]:
    return tuple(_number(item.strip()) for item in str(text).split(",") if item.strip())


def _commas(value: Any) -> str:
    return "" if value is None else ", ".join(map(str, value if isinstance(value, (list, tuple)) else [value]))


_NONE = "none"
CLASSES = "classes"  # the control for class ids, which also takes names


class _Kind(NamedTuple):
    make: Callable[..., Any]
    parse: Callable[[Any], Any] = lambda value: value
    show: Callable[[Any], Any] = lambda value: value
    blank_is_default: bool = True


def _fraction(option: Option, **kwargs: Any) -> Any:
    return gr.Slider(0, 1, step=0.01, **kwargs)


def _several(option: Option, **kwargs: Any) -> Any:
    return gr.Dropdown(list(option.choices), multiselect=True, allow_custom_value=True, **kwargs)


def _word_or_number(option: Option, **kwargs: Any) -> Any:
    return gr.Dropdown(list(option.choices), allow_custom_value=True, **kwargs)


CONTROLS: Mapping[str, _Kind] = {
    "flag": _Kind(lambda option, **kwargs: gr.Checkbox(**kwargs)),
    "choice": _Kind(lambda option, **kwargs: gr.Radio(list(option.choices), **kwargs)),
    "fraction": _Kind(_fraction, parse=_number),
    "number": _Kind(
        lambda option, **kwargs: gr.Textbox(max_lines=1, placeholder="a number", **kwargs), _number, _commas
    ),
    "numbers": _Kind(
        lambda option, **kwargs: gr.Textbox(max_lines=1, placeholder="numbers, as in 1, 3, 5", **kwargs),
        _numbers,
        _commas,
    ),
    CLASSES: _Kind(
        lambda option, **kwargs: gr.Textbox(max_lines=1, placeholder="ids, or names where the data have any", **kwargs),
        _numbers,
        _commas,
    ),
    "several": _Kind(_several, parse=tuple, show=lambda value: list(value)),
    "checks": _Kind(
        lambda option, **kwargs: gr.CheckboxGroup(list(option.choices), **kwargs),
        parse=tuple,
        show=lambda value: list(value),
        blank_is_default=False,
    ),
    "number or none": _Kind(
        lambda option, **kwargs: gr.Textbox(max_lines=1, placeholder="none", **kwargs),
        _number,
        _commas,
        blank_is_default=False,
    ),
    "choice or none": _Kind(
        lambda option, **kwargs: gr.Radio([_NONE, *option.choices], **kwargs),
        parse=lambda value: None if value == _NONE else value,
        show=lambda value: _NONE if value is None else value,
    ),
    "word or number": _Kind(_word_or_number, parse=_number, show=str),
}
