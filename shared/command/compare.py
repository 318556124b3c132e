"""The command `openworld-metrics compare`: two models on the same samples."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..answers.computing import compute_models
from ..answers.subject import subject_of
from ..comparison import SHARED, check_shared, compare as compare_models
from ..faces.plot import draw_differences
from ..faces.terminal import comparison_text, has_colour, joined, printed, quiet, width
from ..loading import metric_class
from ..metric.signature import signed
from ..reading.columns.metrics import layout_of
from ..reading.cures import CurableError
from ..reading.reading import Reading
from ..reading.rows.joins import AS_THEY_STAND, Sheet, order_by_key
from ..reading.tables.files import Table
from ..written.results import as_json, drawn_record
from .columns import (
    COLUMNS,
    OWN,
    Score,
    Source,
    column_flags,
    flag_of,
    model_names,
    of_names,
    stated,
    with_score,
    without_score,
)
from .messages import complain, say
from .options import INTERVALS, MetricCommand, MetricName, of_metric, read_options
from .outputs import PRINTED, check_json_and_picture, deliver, form_of, printing, saving, to_json, to_picture

_HELP = """Compare two models on the same samples: differences, their intervals and p-values.

\b
    openworld-metrics compare ood_bench --first-predictions ours.npy --second-predictions theirs.npy \\
        --references labels.npy --metrics auroc,fpr95tpr
    openworld-metrics compare ood_bench scores.csv --first-predictions knn --second-predictions energy

Files are those of compute, and name their columns in the same way: without a flag, a FILE holds the columns of both
models, and flags name columns in it, where it has those of more than two. Each resample draws the same samples for both
models, or the same images. The last column names the better model where p ≤ 1 − level, so that the interval excludes 0;
the level is 0.95 without --confidence-level.
"""
MODELS = ("first", "second")
_DEFAULTS = {name: inspect.signature(compare_models).parameters[name].default for name in INTERVALS}
_HELPS = {
    **{f"{which}_{column}": f"Of the {which}: {COLUMNS[column]}" for which in MODELS for column in OWN},
    **{column: f"Of both: {COLUMNS[column]}" for column in SHARED},
}


@click.command(cls=MetricCommand, help=_HELP)
@click.argument("name", type=MetricName(), metavar="NAME")
@click.argument("files", nargs=-1, metavar="[FILE …]")
@column_flags(_HELPS)
@of_metric
@printing(*PRINTED)
@to_json
@to_picture
def compare(
    name: str,
    files: tuple[str, ...],
    options: tuple[str, ...],
    flip: bool,
    by_position: bool,
    form: str | None,
    percent: bool,
    save: Path | None,
    plot: Path | None,
    **arguments: Any,
) -> None:
    """Compare two models on the same samples; see `_HELP`."""
    chosen = metric_class(name)
    wanted = read_options(chosen, options, {**arguments, "percent": percent})
    drawn = {key: wanted.pop(key, default) for key, default in _DEFAULTS.items()}
    percent = percent and "percent" not in wanted  # an option of accuracyk, whose results are in percent then
    form, metric = form_of(form, percent), chosen(**wanted)
    settings = chosen(**wanted, **drawn).loaded_options
    places = {column: arguments[column] for column in _HELPS if arguments[column] is not None}
    for needed in ("first_predictions", "second_predictions"):
        if needed not in places and not files:
            raise click.UsageError(f"expected {flag_of(needed)}, got none")
    sources = _sources(files, places)
    check_json_and_picture(save, plot, lambda: [path for source, _ in sources for path in source.inputs()])
    how = {"flip": flip, "by_position": by_position, **stated(wanted), **of_names(arguments)}
    reading = _reading(name, sources, **how)
    first, second = reading.models
    subject = subject_of(name)
    with Source(files, places).named():
        check_shared(metric, *reading.models.values())
        done = compute_models(subject, reading, settings, intervals=True, alone=False, bounded=False)
    comparison = done.compared(first, second)
    table, number = comparison.table(), drawn["n_resamples"]
    row = "image" if subject.images_are_rows else "row"
    record = drawn_record(comparison.drawn, reading.noun_of_clusters, number, row)
    writes = saving(save, {**table, **signed(metric, metric.loaded_options), **record})
    if plot is not None:
        title = f"{name}: {first} − {second}"
        writes.append(partial(draw_differences, table, plot, title=title, models=(first, second)))
    clusters = "" if comparison.drawn is None else f", {comparison.drawn.text(reading.noun_of_clusters)}"
    note = f"{number:,} paired resamples{clusters}"
    if form == "json":
        if clusters:
            complain(f"note: {note}")
        deliver(as_json(table), *writes)
        return
    shown: dict[str, Any] = {"percent": percent, "width": width(), "colour": has_colour()}
    rows = comparison_text(table, (first, second), level=drawn["confidence_level"], **shown)
    below = printed(quiet(note), colour=shown["colour"])
    deliver(joined(rows, below, by="\n"), *writes)


def _reading(name: str, sources: Sequence[tuple[Source, Score | None]], **how: Any) -> Reading:
    """The two models of one source, or of two. Raises ValueError for one model or more than two, or for other rows."""
    readings: list[Reading] = []
    for source, score in sources:
        with source.named():
            reading = source.read(name, **how).whole()
            heard = [note for one in readings for note in one.notes]
            new = [note for note in reading.notes if note not in heard]
            say(replace(reading, guesses=() if readings else reading.guesses, notes=new))
            readings.append(reading if score is None else with_score(reading, score))
    names = [model for one in readings for model in one.models]
    models = [columns for one in readings for columns in one.models.values()]
    if len(models) != 2:
        flags = " and ".join(f"--{which}-{layout_of(name).flag}" for which in MODELS)
        more = "table compares more, from files of compute --save --save-samples"
        got = f"{', '.join(names)}; choose two, with {flags}; {more}" if len(models) > 2 else "one"
        raise ValueError(f"expected two models, got {got}")
    if len(sources) > 1:
        if not how["by_position"]:
            _check_rows(*((source.shown(), one.table) for (source, _), one in zip(sources, readings)))
        places_of = [[place for column, place in source.places.items() if column in OWN] for source, _ in sources]
        names = [*model_names(*(places[-1 if sources[0][0].files else 0] for places in places_of))]
    return replace(readings[0], models=dict(zip(names, models)))


def _check_rows(*models: tuple[str, Table | None]) -> None:
    """Raise ValueError if the tables of two models name their rows, but not in one order."""
    (one, first), (other, second) = models
    if first is None or second is None:
        return
    key = order_by_key(Sheet(one, first), Sheet(other, second))
    if key is not None and (np.diff(key[0]) != 1).any():
        raise CurableError(
            f"{other}: expected the rows in the order of {one}, since the references do not name theirs, got another "
            "order",
            AS_THEY_STAND,
        )


def _sources(files: tuple[str, ...], places: Mapping[str, str]) -> list[tuple[Source, Score | None]]:
    """The places of each model's columns, or of both models' if no flag is of one model."""
    shared = {column: place for column, place in places.items() if column in SHARED}
    by_model = [{c: places[f"{which}_{c}"] for c in OWN if f"{which}_{c}" in places} for which in MODELS]
    if not any(by_model):
        return [(Source(files, shared), None)]
    if not all(by_model):
        got = ", ".join(column for column in places if column not in shared)
        raise click.UsageError(f"expected flags of both models, or of none, got {got}")
    return [without_score(Source(files, {**each, **shared}), f"{which}_") for which, each in zip(MODELS, by_model)]
