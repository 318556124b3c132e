"""Output of a command: results and, on standard error, warnings, notes and errors in a line each, and progress."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import click

from ..faces.terminal import Painted, printable, width, wrapped
from ..loading import metric_class
from ..metric.metric import Metric
from ..reading.columns.meaning import wrong_way
from ..reading.columns.metrics import layout_of
from ..reading.cures import choices_of, spelled
from ..reading.reading import Reading
from ..reading.reasons import listed, place_of_bug, reason, some
from ..reading.rows.score_files import Scores
from .columns import VALUES
from .flags import in_flags

LONGEST = 500  # characters of a line
_NAME = "openworld-metrics: "
_TAIL = 150
_FILES = 3  # that a note names
_AFTER, _EVERY = 2.0, 0.5  # seconds
_CLEAR = "\r\x1b[K"


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


def warn(text: str) -> None:
    """Print one line on standard error, marked as a warning, after the name of the command."""
    complain(f"warning: {spelled(text, in_flags)}")


def warn_of_idle_options(metric: Metric, *, shows_intervals: bool, shows_decisions: bool = False) -> None:
    """Print a warning for each option of a metric that is set but changes nothing that is shown."""
    drawn = {"n_resamples", "random_state"} if shows_intervals else set()
    drawn |= {"threshold"} if shows_decisions else set()
    for option in [name for name in metric.idle_options if name not in drawn]:
        warn(f"--{option.replace('_', '-')} changes none of the results")


def guessed(reading: Reading, options: Collection[str] = ()) -> list[str]:
    """The guesses of a reading, other than of options that are stated: a line of columns, and one for each option."""
    guesses = [guess for guess in reading.guesses if choices_of(guess).isdisjoint(options)]
    columns = "; ".join(guess for guess in guesses if not choices_of(guess))
    return [line for line in (columns, *(spelled(guess, in_flags) for guess in guesses if choices_of(guess))) if line]


def say(reading: Reading, options: Collection[str] = ()) -> None:
    """Print the lines of guesses, other than of options that are stated, and one for each note."""
    for note in (*guessed(reading, options), *(spelled(note, in_flags) for note in reading.notes)):
        complain(f"note: {note}")


def say_sign(reading: Reading, options: Collection[str], *, of_places: bool = False) -> None:
    """Print a line of each model whose scores rank unknown samples below known ones, beyond chance.

    None if options say what labels mean. Parameters: of_places, whether models are not named by their columns.
    """
    if reading.is_streamed or not {*VALUES}.isdisjoint(options):
        return
    swap = "--in-value 1 --out-value 0" if "in_value" in metric_class(reading.metric).options else "FILE:-COLUMN"
    for model, columns in reading.models.items():
        value = wrong_way(layout_of(reading.metric), columns)
        if value is None:
            continue
        several = len(reading.models) > 1
        cure = "use --flip" if not several else "write FILE:-COLUMN" if of_places else f"name it -{model}"
        cure = f"if higher scores mean in-distribution here, {cure}"
        if reading.assumed:
            cure += f"; if 1 in {reading.assumed} does, use {swap}"
        complain(f"note: {f'{model}: ' * several}AUROC {value:.3f} is below 0.5; {cure}")


def say_scores(sides: Mapping[str, Scores]) -> None:
    """Print lines about scores that are negated, by the names of their columns, on names of rows, and on guesses."""
    for place, note in ((place, note) for place, side in sides.items() for note in side.notes):
        complain(f"note: {place}: {spelled(note, in_flags)}")
    negated = [place for place, side in sides.items() if side.negated]
    if negated:
        name, others = sides[negated[0]].negated, f" and {len(negated) - 1} more" if len(negated) > 1 else ""
        complain(
            f"note: {name} of {negated[0]}{others} is a confidence, higher for known samples, and is negated here; "
            f"FILE:+{name} takes it as it is"
        )
    places: dict[str, list[str]] = {}
    for place, side in sides.items():
        places.setdefault(side.guess, []).append(place)
    guesses = [f"{guess} of {some(files, _FILES)}" for guess, files in places.items() if guess]
    if guesses:
        complain(f"note: scores are {listed(guesses)}; FILE:COLUMN chooses another column")


def complain(text: str) -> None:
    """Print an error as one line on standard error, after the name of the command; a terminal has it between words."""
    end_waiting()
    line = one_line(_NAME + text)
    on_screen = sys.stderr is not None and sys.stderr.isatty()
    click.echo(wrapped(line, width(sys.stderr)) if on_screen else line, err=True)


def one_line(text: str) -> str:
    r"""A text as one line of at most 500 characters; a longer text loses its middle, since its ends matter most.

    >>> one_line("a column\x1b]0;name\x07 of\n a file")
    'a column\\x1b]0;name\\x07 of a file'
    """
    line = printable(" ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - _TAIL - 3]} … {line[-_TAIL:]}"


def explain(error: Exception) -> str:
    """The message of an error for the user; for a bug of the package, with its type, and the file and line."""
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        name = error.filename if isinstance(error.filename, int) else os.fsdecode(error.filename)
        return f"{name}: {error.strerror}"
    place = place_of_bug(error)
    return f"{type(error).__name__}: {reason(error)} ({place})" if place else reason(error)


_lines: list[tuple[threading.Event, threading.Thread]] = []


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show a line with the time that has passed while the body runs, where standard error can rewrite a line."""
    if sys.stderr is not None and sys.stderr.isatty():
        ended = threading.Event()
        _lines.append((ended, threading.Thread(target=_rewrite, args=(words, ended), daemon=True)))
        _lines[-1][1].start()
    try:
        yield
    finally:
        end_waiting()


def _rewrite(words: str, ended: threading.Event) -> None:
    start, wait, drawn = time.monotonic(), _AFTER, False
    while not ended.wait(wait):
        wait = _EVERY
        if not _bars():
            print(f"{_CLEAR}{words}, {time.monotonic() - start:.0f} s", end="", file=sys.stderr, flush=True)
            drawn = True
    if drawn and not _bars():
        print(_CLEAR, end="", file=sys.stderr, flush=True)


def end_waiting() -> None:
    """Remove the progress line, if there is one, before other text is printed."""
    while _lines:
        ended, thread = _lines.pop()
        ended.set()
        thread.join()


def _bars() -> bool:
    """Whether a progress bar of tqdm occupies the line."""
    tqdm = sys.modules.get("tqdm")
    return bool(tqdm is not None and getattr(tqdm.tqdm, "_instances", ()))
