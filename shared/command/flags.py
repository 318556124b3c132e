"""The spelling of cures on a command line: flags of the command that is running."""

from __future__ import annotations

import shlex
from typing import Any

import click

from ..reading.cures import Cure, Or, in_python


def in_flags(cure: Cure) -> str:
    """The choices of a cure as flags, or as arguments in Python where the command has no flag."""
    context = click.get_current_context()
    flags = {param.name: param for param in context.command.get_params(context) if isinstance(param, click.Option)}
    column = "COLUMN" if context.params.get("files") else "FILE:COLUMN"
    named = {name: value for name, value in cure.choices.items() if name != "columns"}
    of_columns = cure.choices.get("columns", {}).items()
    named |= {name: ",".join(value) if isinstance(value, list) else value or column for name, value in of_columns}
    if not named.keys() <= flags.keys():
        return f"in Python, {in_python(cure)}"
    return f"use {' '.join(_flag(flags[name], value) for name, value in named.items())}"


def _flag(flag: click.Option, value: Any) -> str:
    """A flag with its value, or with several values of which any will do."""
    if isinstance(value, bool):
        return flag.opts[0] if value else flag.secondary_opts[0]
    if isinstance(value, Or):
        of_user = f"{flag.opts[0]} {flag.metavar or flag.type.name.upper()}"
        return " or ".join(_flag(flag, one) for one in value) or of_user
    words = value if isinstance(value, (list, tuple)) else [value]
    return f"{flag.opts[0]} {getattr(flag, 'between', ' ').join(shlex.quote(_word(word)) for word in words)}"


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
