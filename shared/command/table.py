"""The command `openworld-metrics table`: put the results of several files in one table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..faces.tables import (
    FORMS,
    INTERVALS,
    RANK,
    ROW_KINDS,
    SECOND,
    ResultTable,
    escaped,
    keys_of,
    make_table,
    ranked,
    render,
    sorted_by,
)
from ..faces.terminal import width, wrapped
from ..leaderboard.seeds import OVERALL, Seeds, numbers_of
from ..leaderboard.undecided import undecided
from ..metric.signature import differing
from ..reading.reasons import some
from ..written.files import write_file
from ..written.results import MODELS, read_results
from .messages import on_terminal, warn
from .options import WaitingCommand
from .outputs import check_outputs, deliver, printing

_HELP = """Put the results of several files in one table.

\b
    openworld-metrics table results/*.json --seeds '-s[0-9]+' --groups all --keys auroc,fpr95tpr \\
        --percent --format latex

A FILE is JSON as --save writes it. Rows are files, or the groups of a single one. With --seeds, files with names that
differ only where the regular expression matches share a row, with the mean and the standard deviation (n − 1) of their
numbers; if it matches no file's name, groups such as seed0 and seed1 share one. If files keep their samples
(compute --save-samples), the best in each column with a known direction is bold, or begins with * in text, and so are
all that are not clearly worse by the p-values of compare, with Holm's correction for three models or more; where a file
was not compared, nothing is marked. With --seeds, each resample draws samples and seeds, in common for both models.
Files whose signatures differ, such as in an option of the metric, do not share a table.
"""


# of files without --format
_FORMS = {"": "text", ".txt": "text", ".md": "markdown", ".tex": "latex", ".html": "html", ".csv": "csv"}
_NOTE = ": the best, and all that are not clearly worse ({})."
_MARKS = {"text": "*"}  # of the best; bold in other forms
_UNMARKED = "Nothing is marked: fewer than two files have samples that can be compared (compute --save-samples)."
_ASIDE = {"latex": "% {}", "booktabs": "% {}", "html": "<p>{}</p>", "csv": "# {}"}  # forms that are no text for people
_RANKS = "Ranks order the numbers as they are, also those that do not clearly differ."
_SECOND = {"text": SECOND, "markdown": "Italics"}  # the mark of the second best; underlined in other forms
_CAPTION = r"\par{{\footnotesize {}\par}}"  # printed below a tabular, in a float and outside of one


@click.command(cls=WaitingCommand, help=_HELP)
@click.argument("files", nargs=-1, required=True, metavar="FILE …", type=click.Path(dir_okay=False, path_type=Path))
@printing(*FORMS, default="text")
@click.option("--rows", type=click.Choice(ROW_KINDS), help="What the rows are.  [default: files, or groups of one]")
@click.option(
    "--keys", metavar="KEY,KEY", help="Which results, or the last parts of their names, with *.  [default: all numbers]"
)
@click.option(
    "--groups", metavar="GROUP,GROUP", help="Which groups, with * for any characters; or mean; or all, mean too."
)
@click.option("--seeds", metavar="REGEX", help="The part of a name that identifies the seed.")
@click.option("--sort", metavar="KEY", help="Sort the rows by this result, the best first.")
@click.option(
    "--rank", is_flag=True, help="Add the rank of the value by --sort, or the mean of the ranks in all columns."
)
@click.option(
    "--second",
    is_flag=True,
    help=f"Mark the next best by its value, too, by {SECOND} in text; where the best are marked.",
)
@click.option("--rename", multiple=True, metavar="NAME=WORDS", help="A file, group or key, and its name in the table.")
@click.option("--arrows/--no-arrows", default=True, show_default=True, help="Show whether higher or lower is better.")
@click.option("--confidence-level", type=float, default=0.95, show_default=True, help="For comparisons with the best.")
@click.option("--mixed", is_flag=True, help="Show results of different signatures, in a table for each.")
@click.option("--digits", type=click.IntRange(0, 17), help="Decimals.  [default: 4, or 2 in percent; all in csv]")
@click.option(
    "--intervals", type=click.Choice(INTERVALS), default="brackets", show_default=True, help="How to print them."
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the table, too, in the form of --format or of the ending.",
)
def table(
    files: tuple[Path, ...],
    form: str | None,
    rows: str | None,
    keys: str | None,
    groups: str | None,
    seeds: str | None,
    sort: str | None,
    rank: bool,
    rename: tuple[str, ...],
    confidence_level: float,
    mixed: bool,
    save: Path | None,
    **rendered: Any,
) -> None:
    """Put the results of several files in one table; see `_HELP`."""
    check_outputs(filter(None, [save]), lambda: files)
    if save is not None and save.suffix.lower() not in _FORMS:
        raise ValueError(f"--save: expected a file ending in {', '.join(filter(None, _FORMS))}, got {save}")
    results = dict(one for name, path in zip(_names(files), files) for one in _models(name, path, len(files) == 1))
    patterns = None if keys is None else keys.split(",")
    names, among = _renamed(rename), None
    if groups is not None:
        among = ["*" if name == "all" else name for name in groups.split(",")]
    tables = {}
    for signature, each in _by_signature(results, mixed=mixed).items():
        alike = undecided(each, confidence_level, seeds, keys=keys_of(each, patterns))
        laid = make_table(each, rows=rows, keys=patterns, groups=among, seeds=seeds, undecided=alike, names=names)
        _warn(laid, each, alike)
        laid = ranked(laid, sort) if rank else laid
        laid = sorted_by(laid, sort or RANK) if rank or sort is not None else laid
        models = {*each} if seeds is None else {Seeds(seeds).without(name, OVERALL) for name in each}
        tables[signature] = laid, _note(laid, alike, confidence_level, seeds, len(models))

    def text(form: str, most: int | None = None) -> str:
        """The tables, on a terminal with captions in lines of at most `most` characters."""
        texts = []
        aside, gap = _ASIDE.get(form, "{}"), "\n" if form in _ASIDE else "\n\n"
        for signature, (laid, note) in tables.items():
            shown = render(laid, form, **rendered)
            caption = [] if note in ("", _UNMARKED) else [f"{_MARKS.get(form, 'Bold')}{note}"]
            if rendered["second"] and any(cell is not None and cell.second for _, cells in laid.rows for cell in cells):
                caption.append(f"{_SECOND.get(form, 'Underlined')}: the next best by its value.")
            caption += [_RANKS] if rank else []
            hints = [_UNMARKED] if note == _UNMARKED else []
            if form in ("latex", "booktabs"):
                shown += "".join(gap + aside.format(escaped(hint, "text")) for hint in hints)
                shown += gap + _CAPTION.format(escaped(" ".join(caption), form)) if caption else ""
            elif form != "csv" and hints + caption:
                words = escaped(" ".join(hints + caption), form)
                shown += gap + aside.format(words if most is None else wrapped(words, most))
            texts.append(shown if len(tables) == 1 else f"{aside.format(signature)}{gap}{shown}")
        return "\n\n".join(texts)

    def write(place: Path) -> None:
        write_file(place, text(form or _FORMS[place.suffix.lower()]) + "\n")

    deliver(text(form or "text", width() if on_terminal() else None), *([] if save is None else [partial(write, save)]))


def _note(
    table: ResultTable, alike: Mapping[Any, Any], confidence_level: float, seeds: str | None, num_models: int
) -> str:
    """The meaning of a mark, after its name, and its test, and cells without one; or why nothing is marked."""
    others = Counter((group, key) for (_, group, key), is_alike in alike.items() if is_alike is not None)
    compared = {key for _, key in others}
    if not compared:
        directed = any(cell and cell.direction for _, cells in table.rows for cell in cells)
        return _UNMARKED if directed and num_models > 1 else ""
    shown = Counter(cell.key for _, cells in table.rows for cell in cells if cell is not None and cell.direction)
    untested = [key for key, number in shown.items() if number > 1 and key not in compared and key != RANK]
    drawn = "paired bootstrap" if seeds is None else "paired bootstrap of samples and seeds"
    correction = ", Holm's correction" if max(others.values()) > 1 else ""
    note = _NOTE.format(f"{drawn}, {100 * confidence_level:.12g} %{correction}")
    return note + (f" Not tested, since the samples do not give it: {', '.join(untested)}." if untested else "")


def _by_signature(results: Mapping[str, Any], *, mixed: bool) -> dict[str, dict[str, Any]]:
    """Results by signature, "" for files without one; all together if the others have the same.

    Raises ValueError for several signatures, unless they may be `mixed`.
    """
    apart: dict[str, dict[str, Any]] = {}
    for name, result in results.items():
        apart.setdefault(str(result.get("signature", "")), {})[name] = result
    first, *others = [signature for signature in apart if signature] or [""]
    if not others:
        return {first: {**results}}
    if not mixed:
        one, other = (next(iter(apart[signature])) for signature in (first, others[0]))
        raise ValueError(
            f"{other}: expected the signature of {one}, {first}, got {others[0]}, which differs in "
            f"{', '.join(differing(first, others[0]))}; --mixed shows them apart"
        )
    return apart


def _renamed(pairs: Sequence[str]) -> dict[str, str]:
    """Names in the table, by the names that they replace. Raises BadParameter for other text."""
    for pair in pairs:
        if "=" not in pair:
            raise click.BadParameter(f"expected NAME=WORDS, got {pair!r}", param_hint="--rename")
    return {name: words for name, _, words in (pair.rpartition("=") for pair in pairs)}


def _warn(table: ResultTable, results: Mapping[str, Any], alike: Mapping[Any, Any]) -> None:
    """Warn of files that lack a number which others have, and of models that were not compared."""
    for name, cells in table.rows:
        lacking = [column for column, cell in zip(table.columns, cells) if cell is None]
        if lacking:
            warn(f"{name}: has no {some(lacking, 3)}")
    for name, result in results.items():
        if not any(numbers_of(result).values()):
            warn(f"{name}: has no numbers")
    for name in dict.fromkeys(name for (name, *_), is_alike in alike.items() if is_alike is None):
        warn(
            f"{name}: was not compared with the best, so that nothing is marked: one has no samples, or their samples,"
            " options or seeds differ"
        )


def _models(name: str, path: Path, alone: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """The results in a file by name: its own, or of several models theirs, with the file's where others are read."""
    results = read_results(path)
    models = results.get(MODELS)
    if not isinstance(models, dict) or not all(isinstance(result, dict) for result in models.values()):
        yield name, results
        return
    for model, result in models.items():
        yield model if alone else f"{name}: {model}", result


def _names(files: Sequence[Path]) -> list[str]:
    """The names of files without suffixes, with the folders in which they differ. Raises ValueError for duplicates."""
    absolute = [Path(os.path.abspath(path)) for path in files]
    folder = os.path.commonpath([path.parent for path in absolute])
    names = [path.relative_to(folder).with_suffix("").as_posix() for path in absolute]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{twice[0]}: expected each file once, got it twice")
    return names
