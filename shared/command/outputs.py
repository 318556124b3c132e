"""Outputs of a command: checked before the computation, printed before they are saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..written.atomic import check_file, write_file
from ..written.results import as_json
from .messages import printable
from .terminal.waiting import end_waiting


class Painted(str):
    """A text with colours and no other control characters, which have been escaped (see `people.for_people`)."""


def check_outputs(outputs: Iterable[Path], inputs: Callable[[], Iterable[Path]]) -> None:
    """Raise OSError or ValueError for an output that cannot be written, or is also an input.

    Parameters: outputs, the files to write; inputs, a function that lists the files to read, called only if an output
    exists.
    """
    there = []
    for path in outputs:
        check_file(path)
        there += [path] if path.exists() else []
    for path in inputs() if there else ():
        for output in there:
            if path.exists() and path.samefile(output):
                raise ValueError(f"{output}: expected another file to write to, got one that is read")


def saving(save: Path | None, results: Mapping[str, Any]) -> list[Callable[[], object]]:
    """The functions for `deliver` that write results to a .json; none without a file."""
    return [] if save is None else [partial(write_file, save, as_json(results, indent=2) + "\n")]


def deliver(text: str, *writes: Callable[[], object]) -> None:
    """Print results and then write them, each even if another fails. Raises the last error."""
    with ExitStack() as rest:
        for write in reversed(writes):
            rest.callback(write)
        show(text)


def on_terminal() -> bool:
    """Whether results are printed on a terminal, rather than for a program."""
    return sys.stdout is not None and sys.stdout.isatty()


def show(text: str) -> None:
    """Print a text. Raises OSError or ValueError if that fails."""
    if sys.stdout is None:
        raise ValueError("standard output: expected it to be open, got it closed")
    end_waiting()
    try:
        click.echo(text if isinstance(text, Painted) else printable(text))
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            # the rest of the buffer would fail once more at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise OSError(error.errno, error.strerror, "standard output") from error
        raise
