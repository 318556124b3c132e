"""Outputs of a command: the files that it writes, checked before the computation, and the form that it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..answers.computing import Computation
from ..answers.subject import Subject
from ..faces.plot import check_picture
from ..faces.terminal import check_layout
from ..metric.results import Rate, Summary
from ..written.files import check_file, write_file
from ..written.results import as_json, drawn_record
from .messages import complain, on_terminal, show
from .options import INTERVALS

PRINTED = ("text", "json")


class _Folder(click.Path):
    """A folder to write to; an empty name, which would mean the current folder, is an error."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "":
            self.fail("expected a folder, got an empty name", param, ctx)
        return super().convert(value, param, ctx)


FOLDER = _Folder(file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, writable=True, path_type=Path)
to_json = click.option("--save", type=_FILE, help="Write results to a .json.")
to_picture = click.option("--plot", type=_FILE, help="Draw results.")


def check_json_and_picture(save: Path | None, plot: Path | None, inputs: Callable[[], Iterable[Path]]) -> None:
    """Check the suffixes of --save and --plot, and that matplotlib is installed, besides `check_outputs`."""
    if save is not None and save.suffix != ".json":
        raise ValueError(f"--save: expected a file ending in .json, got {save}")
    if plot is not None:
        check_picture(plot)
    check_outputs(filter(None, (save, plot)), inputs)


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


def printing(*forms: str, default: str = "by the terminal") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The flags --format, one of the forms or None, and --percent, as parameters `form` and `percent` of a command."""
    of_form = click.option("--format", "form", type=click.Choice(forms), help=f"How to print.  [default: {default}]")
    of_percent = click.option("--percent", is_flag=True, help="Rates times 100, in a text or a table.")
    return lambda command: of_form(of_percent(command))


def form_of(form: str | None, percent: bool) -> str:
    """The form of the output: as chosen, else text on a terminal or with --percent, else JSON.

    On a terminal without rich it is JSON, too, and a note names the extra that brings rich. Raises UsageError for
    percent in JSON, ImportError for text that is asked for without rich.
    """
    by_the_terminal = form is None and not percent
    form = form or ("text" if percent or on_terminal() else "json")
    if form == "text":
        try:
            check_layout()
        except ImportError as error:
            if not by_the_terminal:
                raise
            complain(f"note: results are printed as JSON: {error}")
            form = "json"
    if percent and form == "json":
        raise click.UsageError("expected --percent with a table, got it with JSON, whose rates are in [0, 1]")
    return form


def drawn_by(done: Computation, subject: Subject, options: Mapping[str, Any]) -> dict[str, Any]:
    """The record of the rows or clusters that the resamples of a computation drew."""
    row = "image" if subject.images_are_rows else "row"
    return drawn_record(done.draws, done.noun_of_clusters, options["n_resamples"], row)


def without_intervals(summary: Summary) -> Summary:
    """A summary without its automatic intervals, so that saved results do not depend on the terminal."""

    def bare(results: Any) -> Any:
        return {
            key: result._replace(interval=None) if isinstance(result, Rate) else result
            for key, result in results.items()
        }

    groups = summary.groups
    rows = groups and {name: bare(row) for name, row in groups.items()}
    options = {name: value for name, value in summary.options.items() if name not in INTERVALS}
    return summary._replace(results=bare(summary.results), groups=rows, options=options)
