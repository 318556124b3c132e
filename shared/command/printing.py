"""The flags --format and --percent, which all commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from .outputs import on_terminal

PRINTED = ("text", "json")


def printing(*forms: str, default: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The flags --format, one of the forms, and --percent, as parameters `form` and `percent` of a command."""
    help_text = "How to print." if default is not None else "How to print.  [default: by the terminal]"
    of_form = click.option(
        "--format", "form", type=click.Choice(forms), default=default, show_default=default is not None, help=help_text
    )
    of_percent = click.option("--percent", is_flag=True, help="Rates times 100, in a text or a table.")
    return lambda command: of_form(of_percent(command))


def form_of(form: str | None, percent: bool) -> str:
    """The form of the output: as chosen, else text on a terminal or with --percent, else JSON.

    Raises UsageError for percent in JSON.
    """
    form = form or ("text" if percent or on_terminal() else "json")
    if percent and form == "json":
        raise click.UsageError("expected --percent with a table, got it with JSON, whose rates are in [0, 1]")
    return form
