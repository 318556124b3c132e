"""The files that a command reads columns from and writes to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..arrays.checks import did_you_mean
from ..reading.reasons import with_text
from ..reading.rows.inputs import file_of
from ..reports.plots import check_picture
from ..scores import SCORES
from .outputs import check_outputs


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
