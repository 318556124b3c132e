"""The command `openworld-metrics table`: results of several files in one table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from ..formats.written.atomic import write_file
from ..formats.written.results import read_results
from ..reports.rendering import FORMS, INTERVALS, render
from ..reports.tables import ROW_KINDS, make_table
from .outputs import check_outputs, deliver

_HELP = """Put the results of several files in one table.

\b
    openworld-metrics table results/*.json --seeds '-s[0-9]+' --groups all --keys auroc,fpr95tpr \\
        --percent --format latex

A FILE is JSON as --save writes it. Rows are files, or the groups of a single one. With --seeds, files whose names
differ only where the regular expression matches are one row, with the mean and the standard deviation (of n − 1) of
their numbers; where it is in no file's name, so are groups, such as seed0 and seed1. Of two or more models the best of
a column is bold, or begins with * in text, where it is known which way is better.
"""


@click.command(help=_HELP)
@click.argument("files", nargs=-1, required=True, metavar="FILE …", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMS), default="text", show_default=True, help="How to print.")
@click.option("--rows", type=click.Choice(ROW_KINDS), help="What the rows are.  [default: files, or groups of one]")
@click.option("--keys", metavar="KEY,KEY", help="Which results, with * for any letters.  [default: all numbers]")
@click.option("--groups", metavar="GROUP,GROUP", help="Which groups, with * for any letters; all; mean is beside them.")
@click.option("--seeds", metavar="REGEX", help="What in a name says the seed.")
@click.option("--percent", is_flag=True, help="Rates times 100.")
@click.option("--digits", type=click.IntRange(0, 17), help="After the point.  [default: 4, or 2 of percent]")
@click.option(
    "--intervals", type=click.Choice(INTERVALS), default="brackets", show_default=True, help="How to print them."
)
@click.option("--save", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write the table, too.")
def table(
    files: tuple[Path, ...],
    form: str,
    rows: str | None,
    keys: str | None,
    groups: str | None,
    seeds: str | None,
    percent: bool,
    digits: int | None,
    intervals: str,
    save: Path | None,
) -> None:
    """Put the results of several files in one table; see `_HELP`."""
    check_outputs(filter(None, [save]), lambda: files)
    made = make_table(
        {name: read_results(path) for name, path in zip(_names(files), files)},
        rows=rows,
        keys=None if keys is None else keys.split(","),
        groups=None if groups is None else ["*"] if groups == "all" else groups.split(","),
        seeds=seeds,
    )
    text = render(made, form, percent=percent, digits=digits, intervals=intervals)
    deliver(text, *([] if save is None else [partial(write_file, save, text + "\n")]))


def _names(files: Sequence[Path]) -> list[str]:
    """The names of files without endings, with the folders in which they differ. Raises ValueError for duplicates."""
    absolute = [Path(os.path.abspath(path)) for path in files]
    folder = os.path.commonpath([path.parent for path in absolute])
    names = [path.relative_to(folder).with_suffix("").as_posix() for path in absolute]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{twice[0]}: expected each file once, got it twice")
    return names
