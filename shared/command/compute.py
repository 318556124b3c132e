"""The command `openworld-metrics compute`: a metric from files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from ..evaluation.samples import SAMPLES, samples_of
from ..loading import METRICS, metric_class
from ..metric.groups import GROUPS
from ..metric.states import COUNTS
from ..reading.reasons import rows_from
from ..reading.tables import columns as columns_of_files
from ..reports.plots import draw, sides_of
from ..reports.terminal.results import results_text
from ..scores import SCORES
from ..written.flat import KINDS
from ..written.results import as_json
from .files import check_json_and_picture, files_of, named_score, naming_files
from .flags import MetricCommand
from .messages import warn_of_idle_options
from .options import FOLDER, read_options
from .outputs import deliver, on_terminal, saving, show
from .printing import PRINTED, form_of, printing
from .report import check_report, error_report
from .terminal.people import for_people, width, with_quick_intervals, without_intervals

IMAGES = ("image_scores", "image_labels", "samples")
COLUMNS = ("predictions", "references", "open_scores", "open_labels", *IMAGES, COUNTS, GROUPS)


@click.command(cls=MetricCommand)
@click.argument("name", type=click.Choice(METRICS), metavar="NAME")
@click.option("--predictions", metavar="FILE", help="Scores or class ids, maps or boxes: see describe.")
@click.option("--references", metavar="FILE", help="True classes, labels, masks or boxes.")
@click.option(
    "--open-scores",
    metavar="FILE|SCORE",
    help=f"Open-set scores, higher is more unknown, or which to take of the predictions, logits: {', '.join(SCORES)}.",
)
@click.option("--open-labels", metavar="FILE", help="1 for unknown samples, 0 for known ones.")
@click.option("--image-scores", metavar="FILE", help="Anomaly scores of the images.")
@click.option("--image-labels", metavar="FILE", help="1 for anomalous images, 0 for normal ones.")
@click.option("--samples", metavar="FILE", help="Names of samples, if each has several images.")
@click.option("--counts", metavar="FILE", help="The count of each row, where an engine has grouped equal rows.")
@click.option("--groups", metavar="FILE", help="Names of groups; a blank for samples that belong to all groups.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the metric, such as k_list=1,5; the same as --k-list 1,5.",
)
@click.option(
    "--save", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write results to a .json."
)
@printing(*PRINTED)
@click.option("--save-samples", is_flag=True, help="Keep the samples in the .json, so that table can compare models.")
@click.option("--plot", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Draw results.")
@click.option("--report", type=FOLDER, help="Write a page of the most wrong samples to a folder.")
@click.option(
    "--images",
    metavar="FOLDER|FILE",
    help="The samples' images for --report: a folder, in order of names, or a .txt or FILE:COLUMN of paths.",
)
def compute(
    name: str,
    options: tuple[str, ...],
    form: str | None,
    percent: bool,
    save: Path | None,
    save_samples: bool,
    plot: Path | None,
    report: Path | None,
    images: str | None,
    **arguments: Any,
) -> None:
    """Compute a metric from files: .npy, .npz, .csv, .tsv, .parquet, .json, .jsonl or .pt.

    Each option of the metric is a flag: openworld-metrics compute openauc --help lists them.

    FILE may name its columns, as in scores.parquet:logits or table.csv:cat,dog; by default it is the only column, or
    the column named like the option (open_scores). FILE:-COLUMN is negated: scores are higher for unknown samples, and
    one named as a confidence needs a sign, - or +. FILE may be - for JSON, JSON lines or CSV on standard input. Parquet
    files are read in batches. In JSON results an infinite threshold is "Infinity" or "-Infinity".
    """
    chosen = metric_class(name)
    wanted = read_options(chosen, options, {**arguments, "percent": percent})
    percent = percent and "percent" not in wanted  # an option of accuracyk, whose results are in percent then
    form = form_of(form, percent)
    places = {column: arguments[column] for column in COLUMNS if arguments[column] is not None}
    if plot is not None and GROUPS in places:
        raise click.UsageError("expected --plot or --groups, got both: a plot shows one group")
    score = named_score(places)
    check_json_and_picture(save, plot, lambda: files_of(places))
    if report is not None:
        check_report(chosen, report, images)
        if GROUPS in places:
            raise click.UsageError("expected --report or --groups, got both: a page shows one group")
        if COUNTS in places:
            raise click.UsageError("expected --report or --counts, got both: a page shows each sample")
    elif images is not None:
        raise click.UsageError("expected --report with --images, got none")
    if save_samples and save is None:
        raise click.UsageError("expected --save with --save-samples, got none")
    metric = chosen(**(wanted if report is None else {**wanted, "per_sample": True}))
    metric.keeps_samples = save_samples
    warn_of_idle_options(metric, shows_intervals=on_terminal() or report is not None or plot is not None)
    with naming_files(places if score is None else {**places, "logits": places["predictions"]}):
        _add(metric, places, score)
        sides = None if plot is None else sides_of([*metric.prepared()], metric.state())
        kept = {SAMPLES: samples_of(metric, wanted)} if save_samples else {}
        count, with_level = len(metric), metric.confidence_level is not None
        reported = report is not None or plot is not None
        summary, note = with_quick_intervals(metric, type(metric).summary, reported=reported)
    shown, summary = summary, summary if with_level else without_intervals(summary)
    results = summary.as_dict()
    page = (
        []
        if report is None
        else [
            error_report(name, {**shown.as_dict(), "signature": shown.signature}, report, images, places, count, note)
        ]
    )
    if not wanted.get("per_sample"):
        results.pop("per_sample", None)
        shown.results.pop("per_sample", None)
    writes = saving(save, {**results, **summary.record(), **kept})
    if plot is not None:
        writes.append(partial(draw, name, {**shown.as_dict(), KINDS: summary.kinds()}, sides, plot))
    about = f"{count:,} {'sample' if count == 1 else 'samples'}"
    lay_out = partial(results_text, name, about, shown, note, percent=percent, width=width())
    text = for_people(lambda paint: lay_out(paint=paint)) if form == "text" else as_json(results)
    deliver(text, *writes, *page)
    if report is not None and on_terminal():
        show(f"\nreport: {report / 'index.html'}")


def _add(metric: Any, places: Mapping[str, str], score: Callable[..., Any] | None) -> None:
    """Add the columns to a metric, in batches with a progress bar if there is a Parquet file.

    With a score, the open-set scores are computed from the predictions, which are logits.
    """

    def add(columns: Mapping[str, Any]) -> None:
        more = {} if score is None else {"open_scores": score(columns["predictions"])}
        metric.add_batch(**columns, **more)

    opened = columns_of_files.open_columns([*places.items()], metric.unknownness)
    columns = dict(zip(places, opened))
    streamed = [column for column in columns.values() if isinstance(column, columns_of_files.ParquetColumn)]
    if not streamed:
        add(columns)
        return
    # disable=None: no bar unless standard error is a terminal
    with tqdm(total=len(streamed[0]), unit=" rows", unit_scale=True, disable=None, leave=False) as progress:
        for first, batch in columns_of_files.batches(columns):
            with rows_from(first):
                add(batch)
            progress.update(len(next(iter(batch.values()))))
