"""The work of a page that may be long, in a process that can be ended: reading files, and computing answers."""

from __future__ import annotations

import logging
import pickle
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import numpy as np

from ...answers.answer import Answer, Decisions, Image
from ...answers.answers import answers_of, decisions_at, results_of, sentence
from ...answers.python import Source
from ...answers.subject import subject_of
from ...arrays.arrays import reads_as_number
from ...loading import METRICS, metric_class, task_of
from ...metric.clusters import CLUSTERS
from ...metric.metric import OF_EVERY_METRIC
from ...metric.rounding import score_text
from ...reading.boxes.classes import NAMED, with_class_ids
from ...reading.columns.cells import as_it_stands, num_dimensions
from ...reading.columns.kinds import FLIPPED
from ...reading.columns.meaning import wrong_way
from ...reading.columns.metrics import MadeOf, layout_of
from ...reading.cures import advice_of, cures_of, reworded
from ...reading.limits import PAGES, RefusedError
from ...reading.maps.files import check_sizes, read_all
from ...reading.places import unsigned
from ...reading.read import READERS, are_whole, holds, options_read
from ...reading.reading import Reading
from ...reading.reasons import out_of_memory, place_of_bug
from ...reading.rows.inputs import split_place
from ...reading.rows.rows import COLUMNS, Rows, rows_of
from ...reading.rows.uses import NAMES
from ...written.files import write_file
from .vocabulary import roles_of

MAX_MODELS = 20
MAX_IMAGES = 48
MAX_WORDS = 2_000  # characters of a message
_ROWS, _COLUMNS, _CELL = 4, 9, 24  # that the first rows show
_NAMED = 4  # columns of one role that are named
_OF_LABELS = ("in_value", "out_value", "ignore_value")  # options on what labels mean


@dataclass(frozen=True)
class Request:
    """A request of a page to its worker.

    files: of each input, the paths of each model's files by its name
    pasted: of each input, pasted cells
    wishes: names of arrays for some columns, kept if the data have them; the others are guessed
    by_position: whether rows of several files are taken as they stand, rather than joined by their names
    choices: of the reader of boxes or maps
    options: all options that the page shows
    photographs: paths of pictures to show behind the images
    added: the paths of files whose models are added to the ones of wishes
    are_new: whether files are newer than the wishes
    """

    metric: str
    files: Sequence[Mapping[str, Sequence[str]]]
    pasted: Sequence[str] = ()
    wishes: MadeOf = field(default_factory=dict)
    read_as: str = "automatic"
    leave_out: bool = False
    by_position: bool = False
    choices: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    photographs: Sequence[str] = ()
    added: Sequence[str] = ()
    are_new: bool = False


@dataclass(frozen=True)
class Look:
    """The content of files.

    contents: of each input, in words; first: name, role and first cells of columns
    offers, made_of: the arrays that each column may be made of, and is made of, by name
    options: options that follow from the data
    notes: sentences; error: why nothing can be computed yet, with its cures
    out: the things that could be left out, such as "3 rows"
    lacks: the index of an input without files, where the others cannot be computed without it; None if there is none
    roles: names of columns and their use, in words; groups, columns of a few repeated words, which may be groups
    clusters: columns that may name what rows, or the images of a table, depend on
    flipped: the names of the scores after wrong signs are flipped, if any is wrong
    """

    contents: Sequence[str] = ()
    first: Sequence[tuple[str, str, Sequence[str]]] = ()
    offers: MadeOf = field(default_factory=dict)
    made_of: MadeOf = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    error: str = ""
    out: str = ""
    lacks: int | None = None
    roles: Sequence[tuple[str, str]] = ()
    groups: Sequence[str] = ()
    clusters: Sequence[str] = ()
    flipped: Sequence[str] = ()


class LackingError(ValueError):
    """Files of one input alone, where another input, at this place, needs files, too."""

    def __init__(self, place: int) -> None:
        super().__init__("expected files of each input, got none of one")
        self.place = place


class PageError(Exception):
    """An error in words for a visitor, which names no folder of the server."""


def warm() -> None:
    """Import the modules of the first answer before anyone waits for it."""
    for metric in METRICS:
        subject_of(metric)


def look(request: Request) -> Look:
    """Read files and describe their content; an error of the data is part of the description."""
    rows: Rows | None = None
    with TemporaryDirectory() as folder:
        try:
            held, rows = read_request(request, Path(folder))
            if rows is not None:
                if rows.unread is not None and not rows.leaves_out:
                    return _seen(request.metric, rows, error=rows.unread.complaint)
                lacks = next((place for place, table in enumerate(rows.tables) if not table.arrays), None)
                if rows.missing and lacks is not None:
                    raise LackingError(lacks)
                held = rows.reading()
            else:
                read_all(held)
            return _described(request, held, rows)
        except Exception as error:
            lacks = error.place if isinstance(error, LackingError) else None
            seen = _seen(request.metric, rows, error=explain(error), lacks=lacks)
            to_choose = {name for cure in cures_of(error) for name in cure.choices.get("columns", ())}
            places = [place for cure in cures_of(error) for place in cure.choices.get(CLUSTERS, ())]
            return replace(
                seen,
                made_of={**seen.made_of, **{name: [] for name in to_choose & {*seen.made_of}}},
                clusters=[name for place in places for name in split_place(place)[1]],
            )


def compute(
    request: Request, intervals: bool | None = None, shown: str = "", early: Path | None = None
) -> dict[str, Answer]:
    """The answers of the models, as of `answers_of`, with the pictures of the one that is shown. Raises PageError.

    Parameters: shown, the name of a model, "" for the best one; early, a file for the answers without intervals and
    pictures, which is written where these are still to come.
    """
    with TemporaryDirectory() as folder:
        try:
            reading, options, rows = _models(request, Path(folder))
            how: dict[str, Any] = {
                "source": _source(request, rows),
                "photographs": [*map(Path, request.photographs)],
            }
            tell = None if early is None else partial(_tell, early)
            answers = answers_of(request.metric, reading, options, intervals=intervals, numbers=tell, **how)
            best = shown or best_of(answers).model
            if early is not None and answers[best].images and not early.exists():
                _tell(early, answers)
            return _pictured(answers, best)
        except Exception as error:
            raise PageError(explain(error)) from None


def decided(request: Request, model: str, threshold: float) -> Decisions:
    """The decisions of a model at one threshold, as of `decisions_at`. Raises PageError."""
    with TemporaryDirectory() as folder:
        try:
            reading, options, _ = _models(request, Path(folder))
            return decisions_at(request.metric, reading, options, model, threshold)
        except Exception as error:
            raise PageError(explain(error)) from None


def _models(request: Request, folder: Path) -> tuple[Reading, dict[str, Any], Rows | None]:
    """The reading of the models, the options that differ from the defaults, and tables as of `read_request`."""
    held, rows = read_request(request, folder)
    reading = held if rows is None else rows.reading()
    if len(reading.models) > MAX_MODELS:
        raise RefusedError(f"pages take at most {MAX_MODELS} models, not {len(reading.models)}")
    usual = metric_class(request.metric).options
    # options that follow from the data are guesses, which the form may have changed, or choices of the reader
    changed = {name: value for name, value in request.options.items() if value != usual.get(name)}
    read = {name: value for name, value in reading.options.items() if name in request.choices}
    return reading, with_class_ids({**changed, **read}, reading.classes), rows


def pictures(request: Request, model: str) -> Sequence[Image]:
    """The pictures of a model. Raises PageError."""
    return compute(request, False, model)[model].images


def _pictured(answers: Mapping[str, Answer], model: str = "") -> dict[str, Answer]:
    """Answers of a page, with the pictures of a model."""
    return {name: replace(one, images=_drawn(one) if name == model else ()) for name, one in answers.items()}


def _tell(early: Path, answers: Mapping[str, Answer]) -> None:
    """Write answers to a file, for the page to read while the worker goes on."""
    write_file(early, pickle.dumps(_pictured(answers)))


def best_of(answers: Mapping[str, Answer]) -> Answer:
    """The answer of the best model, or of the first if none is best."""
    first = next(iter(answers.values()))
    return answers.get(first.best, first)


def _drawn(answer: Answer) -> Sequence[Image]:
    """The first images of an answer, drawn, without the images beside them."""
    return [replace(image, beside=()) for image in answer.images[:MAX_IMAGES]]


def report(answer: Answer) -> str:
    """The report of an answer, as HTML. Raises PageError."""
    try:
        from ..report import report_html

        return report_html(answer)
    except Exception as error:
        raise PageError(explain(error)) from None


def results(metric: str, columns: Any, options: Any) -> dict[str, Any]:
    """The results of a call of the endpoint, by columns and options by name. Raises PageError."""
    try:
        for name, value in (("columns", columns), ("options", options)):
            if not isinstance(value, Mapping):
                raise TypeError(f"{name}: expected an object of values by name, got {type(value).__name__}")
        kind = metric_class(metric)
        allowed = [name for name in kind.options if name not in ({*OF_EVERY_METRIC} - {"confidence_level"})]
        others = {name: value for name, value in columns.items() if name not in allowed}
        options = {**options, **{name: value for name, value in columns.items() if name in allowed}}
        unknown = [name for name in options if name not in allowed]
        if unknown:
            raise TypeError(f"{metric} has no argument {unknown[0]!r}; its options are {', '.join(allowed)}")
        return results_of(metric, others, options)
    except Exception as error:
        raise PageError(explain(error)) from None


def read_request(request: Request, folder: Path) -> tuple[Reading, Rows | None]:
    """The reading of boxes or maps, or else the tables of the inputs; pasted cells become files of a folder.

    Raises the errors of the readers.
    """
    inputs: list[dict[str, list[Path]]] = []
    for place, models in enumerate(request.files):
        paths = {
            name: [*map(Path, sorted(model_files, key=lambda path: Path(path).name))]
            for name, model_files in models.items()
        }
        text = request.pasted[place] if place < len(request.pasted) else ""
        if text:
            pasted = folder / f"pasted{place or ''}.csv"
            pasted.write_text(text, encoding="utf-8")
            paths = {"pasted": [pasted]}
        inputs.append(paths)
    flat = [[path for model_files in models.values() for path in model_files] for models in inputs]
    for places in (*flat, [split_place(path)[0] for path in [request.choices.get(CLUSTERS)] if path]):
        PAGES.check_files(places)
    if not any(flat):
        raise ValueError("expected a file, got none")
    for places in flat:
        twice = next((path for path, number in Counter(places).items() if number > 1), None)
        if twice is not None:
            raise ValueError(f"{twice.name}: expected another file, got the one that is there")
    if holds(request.metric, flat):
        if not all(flat) and not are_whole(request.metric, flat):
            raise LackingError([*map(bool, flat)].index(False))
        several = [one if len(one) > 1 else paths for one, paths in zip(inputs, flat) if paths]
        reader = READERS[task_of(request.metric)]
        held = reader.read(*several, leave_out=request.leave_out, limits=PAGES, **_choices(request))
        check_sizes(held, PAGES)
        return replace(held, notes=[reworded(note, _public) for note in held.notes]), None
    called = _called(flat, folder)
    rows = rows_of(
        request.metric,
        *([called[path] for path in places] for places in flat),
        wishes={name: names for name, names in request.wishes.items() if names},
        read_as=request.read_as,
        leave_out=request.leave_out,
        by_position=request.by_position,
        added=[called[Path(path)] for path in request.added],
        are_new=request.are_new,
        stated=_stated(request),
        limits=PAGES,
    )
    return Reading(request.metric, {}), rows


def _called(inputs: Sequence[Sequence[Path]], folder: Path) -> dict[Path, Path]:
    """Files by their paths, linked under other names where several have one: the folder of an upload says nothing."""
    called: dict[Path, Path] = {}
    for paths in inputs:
        names: set[str] = set()
        for path in paths:
            options = (path.name, *(f"{path.stem} {number}{path.suffix}" for number in range(2, len(paths) + 1)))
            name = next(name for name in options if name not in names)
            names.add(name)
            called[path] = path if name == path.name else Path(mkdtemp(dir=folder), name)
            if name != path.name:
                called[path].symlink_to(path.absolute())
    return called


def _choices(request: Request) -> dict[str, Any]:
    """The choices of the reader of boxes or maps, with the options that it takes, too."""
    return {**options_read(request.metric, request.options), **request.choices}


def _stated(request: Request) -> dict[str, Any]:
    """The options on the meaning of labels, unless known and unknown samples have their usual ones."""
    usual = metric_class(request.metric).options
    values = {name: request.options.get(name, usual[name]) for name in _OF_LABELS if name in usual}
    return values if any(values[name] != usual[name] for name in _OF_LABELS[:2] if name in usual) else {}


def _source(request: Request, rows: Rows | None) -> Source | None:
    """How Python reads the same files; None for pasted cells."""
    if any(request.pasted):
        return None
    inputs: list[Any] = []
    for models in request.files:
        files = {name: [Path(path).name for path in sorted(paths)] for name, paths in models.items()}
        places = files if len(files) > 1 and rows is None else [path for paths in files.values() for path in paths]
        if files or rows is not None:
            inputs.append(places[0] if isinstance(places, list) and len(places) == 1 else places)
    choices: dict[str, Any] = {}
    if rows is not None:
        columns = {name: [*names] for name, names in rows.made_of.items() if [*names] != [*rows.guesses[name]]}
        choices = ({"columns": columns} if columns else {}) | (
            {"read_as": rows.read_as} if rows.read_as != "automatic" else {}
        )
        choices |= {"stated": stated} if (stated := _stated(request)) else {}
    else:
        choices = _choices(request)
        if CLUSTERS in choices:
            choices[CLUSTERS] = Path(choices[CLUSTERS]).name
    flags = {"leave_out": request.leave_out, "by_position": rows is not None and request.by_position}
    return Source(inputs, choices | {name: True for name, is_set in flags.items() if is_set})


def _described(request: Request, reading: Reading, rows: Rows | None) -> Look:
    """A look at data that can be computed."""
    guesses = reading.guesses if rows is None else rows.layout.implied(reading.models)[1]  # others are roles of columns
    notes = dict.fromkeys(map(sentence, [*guesses, *reading.notes]))
    layout = layout_of(request.metric) if rows is None else rows.layout
    arrays = rows.arrays_of_models if rows is not None else {}
    aurocs = {arrays.get(name, name): wrong_way(layout, columns) for name, columns in reading.models.items()}
    turned = {name: value for name, value in aurocs.items() if value is not None}
    column = layout.scores()
    names = rows.made_of[column.name] if rows is not None and column is not None else []
    if len(reading.models) == 1 and turned and names:
        turned = {names[0]: next(iter(turned.values()))}
    swap = f"; if 1 in {reading.assumed} does, choose -{reading.assumed} under Columns" if reading.assumed else ""
    notes |= dict.fromkeys(
        f"{name}: AUROC {value:.3f} is below 0.5. If higher scores mean in-distribution here, flip the sign{swap}."
        for name, value in turned.items()
    )
    flipped = [_turn(name) if name in turned else name for name in names] if {*names} & {*turned} else []
    named = with_class_names(reading.options, reading.classes)
    out = ""
    if request.leave_out:
        number = sum(len(names) for (kind, _), names in reading.census.left_out.items() if kind != COLUMNS)
        out = f"{number:,} {'row' if rows is not None else 'file'}{'s' * (number != 1)}"
    offered = {} if rows is None else {"groups": rows.likely_groups, "clusters": rows.likely_clusters}
    seen = _seen(request.metric, rows, notes=[*notes], options=named, out=out, flipped=flipped, **offered)
    return seen if rows is not None else Look(reading.contents, notes=seen.notes, options=named, out=out)


def _seen(metric: str, rows: Rows | None, **others: Any) -> Look:
    """A look at tables: their size, and the role and first cells of each column."""
    if rows is None:
        return Look(**others)
    roles = roles_of(metric, rows)
    first: list[tuple[str, str, Sequence[str]]] = []
    for column, use in rows.uses.items():
        if [*use.roles] == [NAMES] and column.name:
            roles[column.name] = ["names the rows"]
    for table in rows.tables:
        shown = [name for name in table.arrays if name in roles] + [name for name in table.arrays if name not in roles]
        for name in sorted(shown[:_COLUMNS], key=[*table.arrays].index):
            array = table.arrays[name]
            cells = [_cell(value) for value in array[:_ROWS]] if num_dimensions(array) == 1 else [_shape(array)]
            first.append((name, ", ".join(roles.get(name, ())), cells))
    contents = [
        f"{max((len(array) for array in table.arrays.values()), default=0):,} rows · {len(table.arrays):,} columns"
        for table in rows.tables
        if table.arrays
    ]
    by_role: dict[str, list[str]] = {}
    for name, role_names in roles.items():
        by_role.setdefault(", ".join(role_names), []).append(name)
    listed = [(_shortened(names), role) for role, names in by_role.items()]
    return Look(contents, first, rows.offers, rows.made_of, roles=listed, **others)


def _shortened(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _NAMED else f"{names[0]} … {names[-1]} ({len(names):,})"


def _cell(value: Any) -> str:
    text = score_text(float(value), 5) if isinstance(value, (float, np.floating)) else str(value)
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"


def _shape(array: Any) -> str:
    return " × ".join(f"{size:,}" for size in np.shape(array)) if isinstance(array, np.ndarray) else f"{len(array):,}"


def _turn(name: str) -> str:
    if not name.startswith(FLIPPED):
        return FLIPPED + unsigned(name)
    return as_it_stands(name[1:])


def with_class_names(options: Mapping[str, Any], classes: Mapping[int, str]) -> dict[str, Any]:
    """Options with names in place of ids of classes, if every class has one that can be typed in a list."""
    times = Counter(classes.values())
    typed = {
        key: name
        for key, name in classes.items()
        if times[name] == 1 and name == name.strip() != "" and "," not in name and not reads_as_number(name)
    }
    named = {
        name: tuple(typed[label] for label in options[name])
        for name in NAMED
        if options.get(name) and {*options[name]} <= {*typed}
    }
    return {**options, **named}


def explain(error: Exception) -> str:
    """The message of an error of the data with its cures; of any other error, its type, and where it is from.

    >>> explain(ValueError("/tmp/gradio/1b2c/mask.png: no image")), explain(OSError("/etc"))
    ('mask.png: no image', 'Something went wrong on our side (OSError). Your data were not changed.')
    """
    if out_of_memory(error):
        return "There is not enough memory for this."
    place = place_of_bug(error)
    if place or not isinstance(error, (ValueError, TypeError)):
        logging.getLogger(__name__).error("unexpected", exc_info=error)
        where = f" at {'/'.join(Path(place).parts[-2:])}" if place else ""
        return f"Something went wrong on our side ({type(error).__name__}{where}). Your data were not changed."
    return reworded(advice_of(error), _public)


def _public(text: str) -> str:
    """A sentence without folders of the server, of a length that a page shows."""
    text = re.sub(r" at 0x[0-9a-fA-F]+(?=>)", "", text)
    text = re.sub(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][^\\/\s'\":]+)+[\\/]", "", text)  # folders
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]}…"
