"""The command `openworld-metrics compare`: two models on the same samples."""

from __future__ import annotations

import inspect
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
from ..reading.rows.inputs import read_column
from ..reading.rows.metrics import LAYOUTS
from ..reading.rows.rows import read_rows
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
from .options import INTERVALS, MetricCommand, MetricName, read_options

_HELP = """Compare two models on the same samples: differences, their intervals and p-values.

\b
    openworld-metrics compare ood_bench --first-predictions ours.npy --second-predictions theirs.npy \\
        --references labels.npy --metrics auroc,fpr95tpr

Files are those of compute, and name their columns in the same way. Each resample draws the same samples for both
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
        if needed not in places:
            raise click.UsageError(f"expected --{needed.replace('_', '-')}, got none")
    scores = [named_score(places, f"{which}_") for which in ("first", "second")]
    check_json_and_picture(save, plot, lambda: files_of(places))
    own = {name for name in places if _own(name) in LAYOUTS[chosen.name].names}
    shared = {name: places[name] for name in SHARED if name in own}
    for column in places.keys() - own:  # of siblings, which the metric ignores
        read_column(places[column], _own(column))
    models = []
    for which in ("first", "second"):
        of_model = {_own(name): places[name] for name in own if name.startswith(which)}
        models.append(read_rows(chosen.name, columns={**of_model, **shared}, flip=flip).columns)
    for which, model, score in zip(("first", "second"), models, scores):
        if score is not None:
            with naming_files({"logits": places[f"{which}_predictions"]}):
                model["open_scores"] = score(model["predictions"])
    with naming_files(places):
        table = compare_models(
            metric,
            *models,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            random_state=random_state,
        )
    names = model_names(arguments["first_predictions"], arguments["second_predictions"])
    writes = saving(save, {**table, **signed(metric, metric.loaded_options)})
    if plot is not None:
        writes.append(partial(draw_differences, table, plot, title=f"{name}: {names[0]} − {names[1]}", models=names))
    deliver(_text(table, names, confidence_level, n_resamples, percent) if form == "text" else as_json(table), *writes)


def _text(table: Mapping[str, Any], names: tuple[str, str], level: float, n_resamples: int, percent: bool) -> str:
    colour = has_colour()
    rows = comparison_text(table, names, level=level, percent=percent, width=width(), colour=colour)
    return joined(rows, printed(quiet(f"{n_resamples:,} paired resamples"), colour=colour), by="\n")


def _own(column: str) -> str:
    """The name of a column without the model that it is of."""
    return column.removeprefix("first_").removeprefix("second_")
