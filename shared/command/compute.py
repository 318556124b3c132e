"""The command `openworld-metrics compute`: a metric from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..answers.answer import Answer
from ..answers.answers import answers_from, sentence, shown_of, unnamed
from ..answers.computing import Computation, compute_models, note_of
from ..answers.intervals import LEVEL
from ..answers.models import best_of, differences_of, leading_keys, mean_over, verdicts_of
from ..answers.subject import Subject, subject_of
from ..faces.plot import draw_answer
from ..faces.terminal import comparison_text, has_colour, models_text, results_text, width
from ..leaderboard.undecided import samples_of
from ..loading import metric_class
from ..metric.results import Summary
from ..metric.states import COUNTS
from ..reading.boxes.classes import with_class_ids
from ..reading.columns.kinds import Images
from ..reading.columns.metrics import layout_of
from ..reading.cures import spelled
from ..written.results import MODELS, SAMPLES, as_json, census_record
from .columns import COLUMNS, Source, column_flags, flag_of, of_names, stated
from .flags import in_flags
from .messages import complain, guessed, on_terminal, say, say_sign, show, warn_of_idle_options
from .options import MetricCommand, MetricName, of_metric, read_options, without_classes
from .outputs import (
    FOLDER,
    PRINTED,
    check_json_and_picture,
    deliver,
    drawn_by,
    form_of,
    printing,
    saving,
    to_json,
    to_picture,
    without_intervals,
)
from .report import check_report, pictures_of, writing_report


@click.command(cls=MetricCommand)
@click.argument("name", type=MetricName(), metavar="NAME")
@click.argument("files", nargs=-1, metavar="[FILE …]")
@column_flags(COLUMNS)
@of_metric
@click.option("--leave-out", is_flag=True, help="Leave out rows that cannot be read, and say how many.")
@to_json
@printing(*PRINTED)
@click.option("--save-samples", is_flag=True, help="Keep the samples in the .json, so that table can compare models.")
@to_picture
@click.option("--report", type=FOLDER, help="Write a page of the results and the most wrong samples to a folder.")
@click.option(
    "--images",
    metavar="FOLDER|FILE",
    help="The samples' images for --report, by their names in the rows: a folder, or a .txt or FILE:COLUMN of paths.",
)
def compute(
    name: str,
    files: tuple[str, ...],
    options: tuple[str, ...],
    flip: bool,
    by_position: bool,
    leave_out: bool,
    form: str | None,
    percent: bool,
    save: Path | None,
    save_samples: bool,
    plot: Path | None,
    report: Path | None,
    images: str | None,
    **arguments: Any,
) -> None:
    """Compute a metric from files: .npy, .npz, .csv, .tsv, .txt, .parquet, .json, .jsonl or .pt.

    Each option of the metric is a flag: openworld-metrics compute openauc --help lists them.

    The rows of several files are joined by a column that names them in each, such as id or image, in any order; without
    one they are matched by position. Either is said.

    A FILE without a flag holds tables or arrays, whose columns are recognised by their names and values; a flag then
    names a column in it: openworld-metrics compute ood_bench scores.csv --predictions energy.

    FILE may name its columns, as in scores.parquet:logits or table.csv:cat,dog; by default it is the only column, or
    the column named like the option (open_scores). Without a line of names, columns are named by position, as in
    scores.txt:0; in nested JSON, by a path, as in x.json:predictions.real. FILE:-COLUMN is negated: scores are higher
    for unknown samples, and one named as a confidence needs a sign, - or +. FILE may be - for JSON, JSON lines or CSV
    on standard input. Parquet files are read in batches. In JSON results an infinite threshold is "Infinity" or
    "-Infinity".

    A table with the scores of several models gives the results of each by name, and says which differ, as pages do; a
    flag chooses some: --predictions knn,energy. Comparisons are saved with --confidence-level.
    """
    chosen = metric_class(name)
    wanted = read_options(chosen, options, {**arguments, "percent": percent})
    percent = percent and "percent" not in wanted  # an option of accuracyk, whose results are in percent then
    form = form_of(form, percent)
    places = {column: arguments[column] for column in COLUMNS if arguments[column] is not None}
    source = Source.of(files, places)
    check_json_and_picture(save, plot, source.inputs)
    if report is not None:
        check_report(chosen, report, images)
        if images is not None and COUNTS in places:
            raise click.UsageError("expected --images or --counts, got both: an image is of one sample")
    elif images is not None:
        raise click.UsageError("expected --report with --images, got none")
    if save_samples and save is None:
        raise click.UsageError("expected --save with --save-samples, got none")
    is_drawn = report is not None or plot is not None
    metric = chosen(**without_classes(wanted))
    warn_of_idle_options(metric, shows_intervals=on_terminal() or is_drawn, shows_decisions=is_drawn)
    if not files and "predictions" not in places:
        raise click.UsageError(_example(name))
    with source.named():
        choices = {
            "flip": flip,
            "by_position": by_position,
            "leave_out": leave_out,
            **stated(wanted),
            **of_names(arguments),
        }
        reading = source.read(name, wanted, **choices)
        reading = reading if images is not None else replace(reading, table=None)  # which may hold the file
        wanted = with_class_ids(wanted, reading.classes)
        say(reading, wanted)
        if len(reading.models) > 1 and (note := _below(arguments)):
            complain(f"note: {note}")
        reading = reading.whole() if is_drawn else reading
        subject, settings = subject_of(name), {**chosen.options, **reading.options, **wanted}
        done = compute_models(
            subject,
            reading,
            settings,
            intervals=None if on_terminal() or is_drawn else False,
            shown=shown_of(subject) if is_drawn else None,
            keeps_samples=save_samples,
            bounded=False,
            progress=reading.is_streamed,
        )
        shown, count = _summaries(done), done.num_samples
        samples = {
            model: {SAMPLES: samples_of(of_model, wanted)} if save_samples else {}
            for model, of_model in done.metrics.items()
        }
        note, decimals = note_of(done, settings), _decimals(subject, done) if form == "text" else {}
        answer = _answer(subject, done, settings, guessed(reading, wanted)) if is_drawn else None
    if done.unasked:
        complain(f"note: {spelled(done.unasked, in_flags)}")
    if source.score is None:
        say_sign(reading, wanted)
    has_clusters = any(columns.get("clusters") is not None for columns in reading.models.values())
    if has_clusters and done.level is None:
        complain("note: clusters are drawn for intervals alone, which --confidence-level gives")
    elif has_clusters and form == "json":
        complain(f"note: {note}")
    drawn = metric.confidence_level is not None
    bare = {model: summary if drawn else without_intervals(summary) for model, summary in shown.items()}
    results = _results({model: summary.as_dict() for model, summary in bare.items()}, done, drawn)
    full = {model: {**summary.as_dict(), **summary.record(), **samples[model]} for model, summary in bare.items()}
    record = census_record(reading.census)
    if drawn and done.level is not None:
        record |= drawn_by(done, subject, settings)
    writes = saving(save, {**_results(full, done, drawn), **record})
    if answer is not None and plot is not None:
        writes.append(partial(draw_answer, answer, plot))
    if answer is not None and report is not None:
        pictures = pictures_of(images, count, reading, by_position=by_position)
        writes.append(writing_report(answer, report, pictures, files, source.places))
    about = f"{count:,} {'sample' if count == 1 else 'samples'}"
    how: dict[str, Any] = {"percent": percent, "width": width(), "colour": has_colour()}
    if form == "json":
        text = as_json(results)
    elif len(shown) == 1:
        text = results_text(name, about, next(iter(shown.values())), note, thresholds=decimals, **how)
    else:
        over = mean_over(subject, next(iter(shown.values())))
        about = ", ".join(filter(None, [about, over]))
        text = models_text(name, about, shown, _compared(subject, done, how), note, **how)
    deliver(text, *writes)
    if report is not None and on_terminal():
        show(f"\nreport: {report / 'index.html'}")


def _below(arguments: Mapping[str, Any]) -> str:
    """The cure for files with the same names of rows, which are rows of one model, where names are read."""
    if not of_names(arguments) or arguments["groups_from_name"] is not None:
        return ""
    return "each is a model; --groups-from-name of a word in the files' names takes their rows one below another"


def _example(name: str) -> str:
    """An example of the command with the columns that a metric needs."""
    needed = [column.name for column in layout_of(name).columns if column.required and column.name in COLUMNS]
    command, flags = f"openworld-metrics compute {name}", [f"{flag_of(each)} {each}.npy" for each in needed]
    table = "" if isinstance(layout_of(name).columns[0], Images) else f"{command} table.csv, or: "
    return f"expected files, as in {table}{command} {' '.join(flags)}; see also: openworld-metrics describe {name}"


def _decimals(subject: Subject, done: Computation) -> dict[str, str]:
    """The thresholds of an only model as the shortest decimals that make the same decisions, if it has samples."""
    one = next(iter(done.models.values()))
    keys = [key for key, rate in one.summary.rates().items() if isinstance(key, str) and rate.threshold is not None]
    return {key: subject.threshold(one, key) for key in keys} if one.state and one.summary.groups is None else {}


def _summaries(done: Computation) -> dict[str, Summary]:
    return {model: one.summary for model, one in done.models.items()}


def _results(models: Mapping[str, Mapping[str, Any]], done: Computation, drawn: bool) -> dict[str, Any]:
    """The results of the only model, or of several by name, with the comparison of every two if intervals are asked."""
    if len(models) == 1:
        return {**next(iter(models.values()))}
    pairs = done.comparisons.items() if drawn else ()
    tables = [{"first_model": first, "second_model": second, **each.table()} for (first, second), each in pairs]
    return {MODELS: {**models}, **({"comparisons": tables} if tables else {})}


def _compared(subject: Subject, done: Computation, how: Mapping[str, Any]) -> list[str]:
    """The comparison of two models, or sentences on the best of several and its rivals; none without intervals."""
    if not done.comparisons:
        return [f"{done.uncompared}"] if done.uncompared else []
    summaries = _summaries(done)
    if len(summaries) == 2:
        first, second = summaries
        kinds = {**summaries[first].kinds(), **summaries[second].kinds()}
        table = done.compared(first, second).table()
        return [comparison_text(table, (first, second), kinds=kinds, level=done.level or LEVEL, **how)]
    key, *_ = leading_keys(subject, summaries[next(iter(summaries))])
    best = best_of(summaries, key)
    return ["\n".join(verdicts_of(differences_of(summaries, done, best), best, key, key, minus="-"))]


def _answer(subject: Subject, done: Computation, options: Mapping[str, Any], guesses: Sequence[str]) -> Answer:
    """The answer of the only model, or of the best, without a table of its samples; its first notes are of guesses."""
    models = {
        model: replace(one, summary=one.summary._replace(results=_without_samples(one.summary.results)))
        for model, one in done.models.items()
    }
    answers = answers_from(subject, replace(done, models=models), options)
    first = next(iter(answers.values()))
    answer = unnamed(first) if len(answers) == 1 else answers[first.best]
    drawn = [] if done.level is None else [f"{note_of(done, options)}."]
    notes = [*map(sentence, guesses), *answer.notes, *drawn]
    return replace(answer, notes=[*dict.fromkeys(notes)])


def _without_samples(results: Mapping[str, Any]) -> dict[str, Any]:
    return {key: result for key, result in results.items() if key != "per_sample"}
