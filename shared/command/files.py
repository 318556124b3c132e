"""The files that a command reads and writes, and how results are printed: checked before the computation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..arrays.checks import did_you_mean
from ..faces.plot import check_picture
from ..reading.reasons import with_text
from ..reading.rows.inputs import file_of
from ..scores import SCORES
from ..written.files import check_file, write_file
from ..written.results import as_json
from .messages import on_terminal, show

PRINTED = ("text", "json")


class _Folder(click.Path):
    """A folder to write to; an empty name, which would mean the current folder, is an error."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "":
            self.fail("expected a folder, got an empty name", param, ctx)
        return super().convert(value, param, ctx)


FOLDER = _Folder(file_okay=False, path_type=Path)


def files_of(places: Mapping[str, str]) -> Iterator[Path]:
    """The files that columns are read from, without standard input."""
    return filter(None, map(file_of, places.values()))


def check_json_and_picture(save: Path | None, plot: Path | None, inputs: Callable[[], Iterable[Path]]) -> None:
    """Check the suffixes of --save and --plot, and that matplotlib is installed, besides `check_outputs`."""
    if save is not None and save.suffix != ".json":
        raise ValueError(f"--save: expected a file ending in .json, got {save}")
    if plot is not None:
        check_picture(plot)
    check_outputs(filter(None, (save, plot)), inputs)


def named_score(places: dict[str, str], model: str = "") -> Callable[..., Any] | None:
    """Take the open-set scores out of `places` if they are the name of a score, and return its function of logits.

    Parameters: places of the columns; model, what the columns of a model begin with, such as first_. Raises UsageError
    without predictions, the logits, and ValueError for a word that is neither a file nor a score.
    """
    column, logits = f"{model}open_scores", f"{model}predictions"
    name = places.get(column)
    file = None if name is None else file_of(name)
    if file is None or file.suffix:
        return None
    flag = f"--{column.replace('_', '-')}"
    if name not in SCORES:
        scores = ", ".join(SCORES)
        raise ValueError(f"{flag}: expected a file, or one of {scores}, got {name}{did_you_mean(str(name), SCORES)}")
    if logits not in places:
        needed = logits.replace("_", "-")
        raise click.UsageError(f"expected --{needed} with {flag} {name}, which is computed from them")
    return SCORES[places.pop(column)]


@contextmanager
def naming_files(places: Mapping[str, str]) -> Iterator[None]:
    """Prefix errors that begin with the name of a column with the file of the column."""
    try:
        yield
    except (ValueError, TypeError) as error:
        place = places.get(str(error).partition(":")[0])
        if place is None:
            raise
        raise with_text(error, f"{place}: {error}") from error


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
