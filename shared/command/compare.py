"""The command `openworld-metrics compare`: two models on the same samples."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..comparison import SHARED, compare as compare_models
from ..faces.plot import draw_differences
from ..faces.terminal import comparison_text, has_colour, joined, printed, quiet, width
from ..loading import metric_class
from ..metric.signature import signed
from ..reading.read import read
from ..reading.rows.inputs import read_column
from ..reading.rows.metrics import LAYOUTS
from ..scores import SCORES
from ..written.results import as_json
from .files import (
    PRINTED,
    check_json_and_picture,
    deliver,
    files_of,
    form_of,
    named_score,
    naming_files,
    printing,
    saving,
)
from .intervals import model_names
from .messages import say
from .options import INTERVALS, MetricCommand, MetricName, read_options

_HELP = """Compare two models on the same samples: differences, their intervals and p-values.

\b
    openworld-metrics compare ood_bench --first-predictions ours.npy --second-predictions theirs.npy \\
        --references labels.npy --metrics auroc,fpr95tpr
    openworld-metrics compare ood_bench scores.csv --first-predictions knn --second-predictions energy

Files are those of compute, and name their columns in the same way: without a flag, a FILE holds the columns of both
models, and flags name columns in it, where it has those of more than two. Each resample draws the same samples for both
models, or the same images. The last column names the better model where p ≤ 1 − level, so that the interval excludes 0.
"""
DEFAULTS = {
    p.name: p.default for p in inspect.signature(compare_models).parameters.values() if p.kind == p.KEYWORD_ONLY
}
OWN = ("predictions", "open_scores", "image_scores")
_TEXTS = {
    "predictions": "The predictions",
    "open_scores": f"The open-set scores, or which to take of the predictions, logits ({', '.join(SCORES)}),",
    "image_scores": "The image scores",
}
COLUMNS = (*(f"{which}_{column}" for which in ("first", "second") for column in OWN), *SHARED)


def _columns(command: Callable[..., None]) -> Callable[..., None]:
    """Add options for the columns of each model, and for the columns that both share."""
    shared = [(column, f"The {column.replace('_', ' ')} of both.") for column in SHARED]
    own = [(f"{which}_{c}", f"{_TEXTS[c]} of the {which}.") for which in ("first", "second") for c in OWN]
    for name, text in reversed([*own, *shared]):
        command = click.option(f"--{name.replace('_', '-')}", metavar="FILE", help=text)(command)
    return command


@click.command(cls=MetricCommand, but=INTERVALS, help=_HELP)
@click.argument("name", type=MetricName(), metavar="NAME")
@click.argument("files", nargs=-1, metavar="[FILE …]")
@_columns
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the metric; the same as its flag."
)
@click.option(
    "--confidence-level", type=float, default=DEFAULTS["confidence_level"], show_default=True, help="Of the intervals."
)
@click.option("--n-resamples", type=int, default=DEFAULTS["n_resamples"], show_default=True, help="How many resamples.")
@click.option("--random-state", type=int, default=DEFAULTS["random_state"], show_default=True, help="The seed.")
@click.option("--flip", is_flag=True, help="Scores are higher for known samples: negate them.")
@printing(*PRINTED)
@click.option("--save", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write a .json, too.")
@click.option("--plot", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Draw the intervals.")
def compare(
    name: str,
    files: tuple[str, ...],
    options: tuple[str, ...],
    confidence_level: float,
    n_resamples: int,
    random_state: int,
    flip: bool,
    form: str | None,
    percent: bool,
    save: Path | None,
    plot: Path | None,
    **arguments: Any,
) -> None:
    """Compare two models on the same samples; see `_HELP`."""
    chosen = metric_class(name)
    wanted = read_options(chosen, options, {**arguments, "percent": percent, **dict.fromkeys(INTERVALS)})
    twice = next((option for option in INTERVALS if option in wanted), None)
    if twice is not None:
        raise click.BadParameter(f"expected the flag --{twice.replace('_', '-')}, got {twice}", param_hint="--option")
    percent = percent and "percent" not in wanted  # an option of accuracyk, whose results are in percent then
    form, metric = form_of(form, percent), chosen(**wanted)
    places = {column: arguments[column] for column in COLUMNS if arguments[column] is not None}
    for needed in ("first_predictions", "second_predictions"):
        if needed not in places and not files:
            raise click.UsageError(f"expected --{needed.replace('_', '-')}, got none")
    scores = [None if files else named_score(places, f"{which}_") for which in ("first", "second")]
    check_json_and_picture(save, plot, lambda: [*map(Path, files), *files_of({} if files else places)])
    for column in () if files else [each for each in places if _own(each) not in LAYOUTS[name].names]:
        read_column(places[column], _own(column))  # of siblings, which the metric ignores
    with naming_files({} if files else places):
        names, models = _models(name, files, places, flip=flip)
    for which, model, score in zip(("first", "second"), models, scores):
        if score is not None:
            with naming_files({"logits": places.get(f"{which}_predictions", "")}):
                model["open_scores"] = score(model["predictions"])
    with naming_files(places):
        table = compare_models(
            metric,
            *models,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
    writes = saving(save, {**table, **signed(metric, metric.loaded_options)})
    if plot is not None:
        writes.append(partial(draw_differences, table, plot, title=f"{name}: {names[0]} − {names[1]}", models=names))
    deliver(_text(table, names, confidence_level, n_resamples, percent) if form == "text" else as_json(table), *writes)


def _text(table: Mapping[str, Any], names: tuple[str, str], level: float, n_resamples: int, percent: bool) -> str:
    colour = has_colour()
    rows = comparison_text(table, names, level=level, percent=percent, width=width(), colour=colour)
    return joined(rows, printed(quiet(f"{n_resamples:,} paired resamples"), colour=colour), by="\n")


def _models(
    name: str, files: tuple[str, ...], places: Mapping[str, str], *, flip: bool
) -> tuple[tuple[str, str], list[dict[str, Any]]]:
    """The names and the columns of two models, from files that hold both, or each column from its place."""
    known = {column: place for column, place in places.items() if _own(column) in LAYOUTS[name].names}
    shared = {column: place for column, place in known.items() if column in SHARED}
    first, second = ({c: place for c, place in known.items() if c.startswith(which)} for which in ("first", "second"))
    if files and bool(first) != bool(second):
        raise click.UsageError(f"expected flags of both models, or of none, got {', '.join({**first, **second})}")
    readings = []
    for own in (first, second) if first else ({},):
        columns: dict[str, Any] = {_own(column): place for column, place in {**own, **shared}.items()}
        columns = {column: place.split(",") for column, place in columns.items()} if files else columns
        readings.append(read(name, *([[*files]] if files else []), columns=columns, flip=flip))
    say(readings[0])
    if first:
        labels = [[*own.values()][-1 if files else 0] for own in (first, second)]
        return model_names(*labels), [dict(reading.columns) for reading in readings]
    models = readings[0].models
    if len(models) != 2:
        flag = LAYOUTS[name].flag
        choice = " ".join(f"--{which}-{flag} {shlex.quote(model)}" for which, model in zip(("first", "second"), models))
        cure = f"{', '.join(models)}; choose two, as with {choice}" if len(models) > 2 else "one"
        raise ValueError(f"expected two models, got {cure}")
    one, other = models
    return (one, other), [*map(dict, models.values())]


def _own(column: str) -> str:
    """The name of a column without the model that it is of."""
    return column.removeprefix("first_").removeprefix("second_")
