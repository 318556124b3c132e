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
from ..answers.models import mean_over
from ..answers.subject import subject_of
from ..comparison import SHARED, check_shared, compare as compare_models
from ..faces.plot import draw_differences
from ..faces.terminal import comparison_text, has_colour, joined, printed, quiet, width
from ..loading import metric_class
from ..metric.signature import signed
from ..reading.boxes.classes import with_class_ids
from ..reading.columns.kinds import Images, Scores
from ..reading.columns.metrics import layout_of
from ..reading.cures import CurableError
from ..reading.reading import Reading
from ..reading.rows.joins import AS_THEY_STAND, Sheet, order_by_key
from ..written.results import as_json
from .columns import COLUMNS, OWN, Source, column_flags, flag_of, model_names, of_names, stated
from .messages import complain, say, say_sign
from .options import INTERVALS, MetricCommand, MetricName, of_metric, read_options, without_classes
from .outputs import PRINTED, check_json_and_picture, deliver, drawn_by, form_of, printing, saving, to_json, to_picture

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
    form = form_of(form, percent)
    chosen(**without_classes(wanted), **drawn)  # of which a wrong option is an error before files are read
    places = {column: arguments[column] for column in _HELPS if arguments[column] is not None}
    sources = _sources(name, files, places)
    check_json_and_picture(save, plot, lambda: [path for source in sources for path in source.inputs()])
    how = {"flip": flip, "by_position": by_position, **stated(wanted), **of_names(arguments)}
    reading = _reading(name, sources, wanted, **how)
    first, second = reading.models
    wanted = with_class_ids(wanted, reading.classes)
    metric = chosen(**{**reading.options, **wanted})
    settings = {**metric.loaded_options, **drawn}
    with Source(files, places).named():
        check_shared(metric, *reading.models.values())
        done = compute_models(subject_of(name), reading, settings, intervals=True, alone=False, bounded=False)
    if all(source.score is None for source in sources):
        say_sign(reading, wanted, of_places=len(sources) > 1)
    table = done.compared(first, second).table()
    record = {**signed(metric, metric.loaded_options), **drawn_by(done, subject_of(name), settings)}
    writes = saving(save, {**table, **record})
    if plot is not None:
        title = f"{name}: {first} − {second}"
        writes.append(partial(draw_differences, table, plot, title=title, models=(first, second)))
    over = mean_over(subject_of(name), done.models[first].summary)
    note = f"{settings['n_resamples']:,} paired resamples{f', {done.drawn_clusters}' if done.draws else ''}"
    note = "; ".join(filter(None, [over, note]))
    if form == "json":
        if done.draws:
            complain(f"note: {note}")
        deliver(as_json(table), *writes)
        return
    shown: dict[str, Any] = {"percent": percent, "width": width(), "colour": has_colour()}
    rows = comparison_text(table, (first, second), level=drawn["confidence_level"], **shown)
    deliver(joined(rows, printed(quiet(note), colour=shown["colour"]), by="\n"), *writes)


def _sources(name: str, files: tuple[str, ...], places: Mapping[str, str]) -> list[Source]:
    """The places of each model's columns, or of both models' if no flag is of one model, or each is one column."""
    shared = {column: place for column, place in places.items() if column in SHARED}
    by_model = [{c: places[f"{which}_{c}"] for c in OWN if f"{which}_{c}" in places} for which in MODELS]
    lacking = [f"{which}_predictions" for which in MODELS if f"{which}_predictions" not in places]
    if lacking and not files:
        raise click.UsageError(f"expected {flag_of(lacking[0])}, got none")
    if not any(by_model):
        return [Source(files, shared)]
    if not all(by_model):
        got = ", ".join(column for column in places if column not in shared)
        raise click.UsageError(f"expected flags of both models, or of none, got {got}")
    columns = dict.fromkeys(each.get("predictions", "") for each in by_model)
    is_column = isinstance(layout_of(name).columns[0], (Scores, Images)) and "," not in "".join(columns)
    if files and is_column and len(columns) == 2 and all(len(each) == 1 for each in by_model):
        return [Source(files, {**shared, "predictions": ",".join(columns)})]
    return [Source.of(files, {**each, **shared}, f"{which}_") for which, each in zip(MODELS, by_model)]


def _reading(name: str, sources: Sequence[Source], options: Mapping[str, Any], **how: Any) -> Reading:
    """The two models of one source, or of two. Raises ValueError for one model or more than two, or for other rows."""
    images = [source.images(name) for source in sources]
    if len(sources) > 1 and all(images):
        named = dict(zip(model_names(*(one.model_places[0] for one in sources)), (files for files, _ in images)))
        reading = sources[0].read_images(name, [named, images[0][1]], options, how)
        say(reading, options)
        return reading
    readings: list[Reading] = []
    for source in sources:
        with source.named():
            readings.append(source.read(name, options, **how).whole())
    say(replace(readings[0], notes=[*dict.fromkeys(note for one in readings for note in one.notes)]), options)
    names = [model for one in readings for model in one.models]
    models = [columns for one in readings for columns in one.models.values()]
    if len(models) != 2:
        flags = " and ".join(f"--{which}-{layout_of(name).flag}" for which in MODELS)
        more = "table compares more, from files of compute --save --save-samples"
        got = f"{', '.join(names)}; choose two, with {flags}; {more}" if len(models) > 2 else "one"
        raise ValueError(f"expected two models, got {got}")
    if len(sources) > 1:
        if not how["by_position"]:
            _check_order(sources, readings)
        names = [*model_names(*(one.model_places[-1 if one.files else 0] for one in sources))]
    return replace(readings[0], models=dict(zip(names, models)))


def _check_order(sources: Sequence[Source], readings: Sequence[Reading]) -> None:
    """Raise ValueError if the tables of two models name their rows, but not in one order."""
    sheets = [Sheet(source.shown(), each.table) for source, each in zip(sources, readings) if each.table is not None]
    one, other = sheets[0], sheets[-1]
    key = order_by_key(one, other) if len(sheets) > 1 else None
    if key is not None and (np.diff(key[0]) != 1).any():
        raise CurableError(
            f"{other.name}: expected the rows in the order of {one.name}, since the references do not name theirs, got "
            "another order",
            AS_THEY_STAND,
        )
