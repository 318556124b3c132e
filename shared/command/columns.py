"""The columns of a metric as flags, which are places of columns or, if there are files, the names of columns in them.

A flag is of the metric's only model, as --predictions, or of one of two, as --first-predictions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from ..arrays.checks import did_you_mean
from ..loading import metric_class
from ..metric.clusters import CLUSTERS
from ..metric.groups import GROUPS
from ..metric.metric import SIBLING_COLUMNS, unknown_name
from ..metric.states import COUNTS
from ..reading.columns.kinds import Images
from ..reading.columns.metrics import layout_of
from ..reading.cures import sentence_of
from ..reading.read import are_whole, holds, options_read, read
from ..reading.reading import Input, Reading
from ..reading.reasons import with_text
from ..reading.rows.from_names import FROM_NAMES
from ..reading.rows.inputs import file_of, read_column, split_place
from ..scores import SCORES

COLUMNS = {
    "predictions": "Scores or class ids, maps or boxes: see describe.",
    "references": "True classes, labels, masks or boxes.",
    "open_scores": "Open-set scores, higher is more unknown, or which to take of the predictions, logits: "
    f"{', '.join(SCORES)}.",
    "open_labels": "1 for unknown samples, 0 for known ones.",
    "qualities": "Qualities of answers, in [0, 1], in place of references.",
    "image_scores": "Anomaly scores of the images.",
    "image_labels": "1 for anomalous images, 0 for normal ones.",
    "samples": "Names of samples, if each has several images.",
    COUNTS: "The count of each row, where an engine has grouped equal rows.",
    GROUPS: "Names of groups; a blank for samples that belong to all groups.",
    CLUSTERS: "Names of what rows depend on, such as speakers: intervals draw each with all of its rows.",
}
VALUES = ("in_value", "out_value", "ignore_value")  # options on what labels mean
OWN = ("predictions", "open_scores", "image_scores")  # of each of two models
Command = Callable[..., Any]
Score = Callable[..., Any]  # of logits


def flag_of(column: str) -> str:
    """The flag of a column or of an option, such as --open-scores of open_scores."""
    return f"--{column.replace('_', '-')}"


def column_flags(helps: dict[str, str]) -> Callable[[Command], Command]:
    """Add the flags of columns to a command, by their helps."""

    def add(command: Command) -> Command:
        for name, text in reversed([*helps.items()]):
            command = click.option(flag_of(name), metavar="FILE", help=text)(command)
        return command

    return add


def stated(options: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """How `read` takes labels whose values options explain: as they stand, whatever the name of their column says."""
    values = {name: options[name] for name in VALUES if name in options}
    return {"stated": values} if {*values} - {"ignore_value"} else {}


def of_names(arguments: Mapping[str, Any]) -> dict[str, str]:
    """The regular expressions that make columns of names, which `read` takes."""
    return {name: arguments[name] for name in FROM_NAMES if arguments.get(name) is not None}


class Source(NamedTuple):
    """Where the columns of a model come from.

    files: that hold columns, which are recognised; none if each column has a place
    places: of columns, such as scores.csv:energy; with files, the names of columns in these
    score: of logits, which makes open-set scores of the predictions; None if these are read
    """

    files: tuple[str, ...]
    places: dict[str, str]
    score: Score | None = None

    @classmethod
    def of(cls, files: tuple[str, ...], places: dict[str, str], model: str = "") -> Source:
        """A source in which open-set scores may be the name of a score of logits, such as energy.

        Parameters: model, with which flags begin, such as first_. Raises UsageError without predictions, the logits,
        and ValueError for a word that is neither a file nor a score.
        """
        name = places.get("open_scores")
        file = None if name is None or files else file_of(name)
        if name is None or file is None or file.suffix:
            return cls(files, places)
        flag, logits = flag_of(f"{model}open_scores"), flag_of(f"{model}predictions")
        if name not in SCORES:
            scores = ", ".join(SCORES)
            raise ValueError(f"{flag}: expected a file, or one of {scores}, got {name}{did_you_mean(name, SCORES)}")
        if "predictions" not in places:
            raise click.UsageError(f"expected {logits} with {flag} {name}, which is computed from them")
        return cls(files, {column: places[column] for column in places if column != "open_scores"}, SCORES[name])

    def inputs(self) -> list[Path]:
        """The files to read, without standard input."""
        if self.files:
            return [*map(Path, self.files)]
        return [file for file in map(file_of, self.places.values()) if file is not None]

    @property
    def model_places(self) -> list[str]:
        """The places of the model's own columns."""
        return [place for column, place in self.places.items() if column in OWN]

    def shown(self) -> str:
        """The files of the model's own columns, or of all."""
        return ", ".join(dict.fromkeys(map(str, self.files or filter(None, map(file_of, self.model_places)))))

    def read(self, name: str, options: Mapping[str, Any], **how: Any) -> Reading:
        """The columns of a metric, with scores of logits; options, of the metric; how, as for `read`.

        Of a metric with two inputs, the last of several files is the second one. Columns of siblings are read, too, and
        ignored. Raises TypeError for a column that the metric would have to know, such as qualities, and for a flag of
        tables beside files of images.
        """
        reading = self._read(name, options, how)
        return reading if self.score is None else _with_score(reading, self.score)

    def _read(self, name: str, options: Mapping[str, Any], how: Mapping[str, Any]) -> Reading:
        metric = metric_class(name)
        wrong = next((one for one in self.places if one not in SIBLING_COLUMNS and one not in metric.columns), None)
        if wrong is not None:
            raise unknown_name(metric, wrong, metric.columns)
        known = {column: place for column, place in self.places.items() if column in layout_of(name).names}
        if images := self.images(name):
            return self.read_images(name, images, options, how)
        if self.files:
            columns: dict[str, Any] = {column: self._names(place) for column, place in known.items()}
            return read(name, *self._inputs(name), columns=columns, **how)
        for column in self.places.keys() - known.keys():
            read_column(self.places[column], column)
        return read(name, columns=known, **how)

    def _inputs(self, name: str) -> list[list[Path]]:
        """The files of each input of a metric: of flags of whole files, where there are no others."""
        needed = [column.name for column in layout_of(name).columns if isinstance(column, Images)]
        if not self.files and {*needed} <= self.places.keys():
            split = [split_place(self.places[column]) for column in needed]
            return [] if any(names for _, names in split) else [[file] for file, _ in split]
        files = [*map(Path, self.files)]
        return [files[:-1], files[-1:]] if layout_of(name).inputs > 1 and len(files) > 1 else [files]

    def images(self, name: str) -> list[list[Path]]:
        """The files of each input, if these are of boxes, or of maps and masks; all of one, if they are lists."""
        lists = [[*map(Path, self.files)]]
        inputs = lists if are_whole(name, lists) else self._inputs(name)
        return inputs if holds(name, inputs) else []

    def read_images(
        self, name: str, inputs: Sequence[Input], options: Mapping[str, Any], how: Mapping[str, Any]
    ) -> Reading:
        """Files of boxes, or of maps and masks, with clusters by their names."""
        how = {key: value for key, value in how.items() if value}
        of_files = [column.name for column in layout_of(name).columns if isinstance(column, Images) and not self.files]
        taken = [*of_files, CLUSTERS, "leave_out", "clusters_from_name"]
        of_lists = [column for column in self.places if len(inputs) == 1 and column != CLUSTERS]
        taken += of_lists
        idle = [one for one in (*self.places, *how) if one not in taken]
        if idle:
            raise TypeError(f"expected {flag_of(idle[0])} with tables or arrays, got it with files of images")
        more: dict[str, Any] = {CLUSTERS: self.places[CLUSTERS]} if CLUSTERS in self.places else {}
        more |= {"columns": {column: self._names(self.places[column]) for column in of_lists}} if of_lists else {}
        return read(name, *inputs, **options_read(name, options), **how, **more)

    def _names(self, place: str) -> list[str]:
        """The names of columns in the files, of which a place may name one, as in scores.csv:group."""
        file, names = split_place(place)
        return names if names and str(file) in map(os.path.normpath, self.files) else place.split(",")

    @contextmanager
    def named(self) -> Iterator[None]:
        """Prefix errors that begin with the name of a column with its place; logits are the predictions."""
        try:
            yield
        except (ValueError, TypeError) as error:
            column = str(error).partition(":")[0]
            place = self.places.get("predictions" if column == "logits" else column)
            if place is None or self.files:
                raise
            raise with_text(error, f"{place}: {sentence_of(error)}") from error


def _with_score(reading: Reading, score: Score) -> Reading:
    """A reading with open-set scores that are computed from the predictions, which are logits."""

    def scored(columns: Mapping[str, Any]) -> dict[str, Any]:
        return {**columns, "open_scores": score(columns["predictions"])}

    if reading.is_streamed:
        return replace(reading, change=lambda columns: scored(reading.change(columns)))
    return replace(reading, models={model: scored(columns) for model, columns in reading.models.items()})


def model_names(first: str, second: str) -> tuple[str, str]:
    """Name two models by their files: by column, or by the ends of their paths.

    >>> model_names("scores.csv:knn", "scores.csv:energy"), model_names("a/s.npy", "b/s.npy"), model_names("-", "-")
    (('knn', 'energy'), ('a/s.npy', 'b/s.npy'), ('first', 'second'))
    """

    def names(place: str) -> list[str]:
        path, colon, column = place.rpartition(":")
        return [*([column] if colon and path else [""]), Path(place).stem, "/".join(Path(place).parts[-2:])]

    pairs = ((one, other) for one, other in zip(names(first), names(second)) if one and other and one != other)
    return next(pairs, ("first", "second"))
