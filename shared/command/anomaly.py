"""The command `openworld-metrics anomaly`: evaluate folders of anomaly maps against a data set on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..anomaly.anomaly_suite import AnomalySuite
from ..answers.anomaly import NEXT
from ..answers.answers import shown_of
from ..answers.computing import note_of
from ..answers.folders import CHOICES, Folders, compute_maps, needs_masks
from ..answers.intervals import LEVEL
from ..answers.models import leading_keys, mean_over
from ..answers.subject import subject_of
from ..faces.report.anomaly import write_anomaly_report
from ..faces.report.frame import check_report_folder
from ..faces.summaries import check_ending, described, save_anomaly_results
from ..faces.terminal import (
    aligned,
    comparison_text,
    has_colour,
    joined,
    noted,
    printed,
    quiet,
    results_text,
    strong,
    text_width,
    width,
)
from ..metric.groups import prefixes
from ..metric.results import Rate, Results, Summary, rates_of
from ..metric.rounding import with_arrow
from ..reading.cures import CurableError, Cure, cures_of, sentence_of, spelled
from ..reading.maps.files import WAYS, file_problems
from ..reading.maps.layouts import LAYOUTS, NAMES, PLAIN
from ..reading.maps.pairing import AnomalyMaps, check_names
from ..reading.maps.reading import reading_of
from ..reading.maps.sources import list_models
from ..written.files import csv_text, write_file
from ..written.results import KINDS, as_json
from .columns import flag_of, model_names
from .fitted import fitted_thresholds, is_fitted
from .flags import in_flags
from .messages import complain, on_terminal, one_line, show, warn
from .options import MetricCommand, of_images, read_options
from .outputs import FOLDER, PRINTED, check_outputs, deliver, form_of, printing, without_intervals

_COLUMNS = 5  # rates in the table by category
_COLUMNS_OF_LISTS = {
    "images": "images",
    "predictions": "maps, or of several models",
    "references": "masks",
    "image_labels": "defects",
    "groups": "categories",
}
_LAYOUTS = ", ".join(f"{layout.name} ({layout.title})" for layout in LAYOUTS)
_HELP = f"""Evaluate anomaly maps of a data set on disk, category by category.

\b
    openworld-metrics anomaly --maps maps --data mvtec_ad --report report
    openworld-metrics anomaly --maps images.csv

Layouts: {_LAYOUTS}, and {PLAIN.name}, a plain folder of masks,
where a map without a mask belongs to a normal image, and _mask, _label or _gt may end a mask's name. A .csv or .jsonl
may list the images instead, with columns of their paths and words: image, map, mask, defect, category.
Maps are .tiff, .npy, .npz, or .png of 16 bits, such as maps/bottle/test/crack/000.tiff: found by category, name, and
the folder of the defect if names repeat. A mask holds 0 and one other value, which is anomalous, besides the
--ignore-value; --mask-threshold cuts one that was resized or compressed with loss. Thresholds are numbers, or a file of
`openworld-metrics threshold --maps`, by category. Results are tables on a terminal, with intervals where these take
some seconds, or those of images; with --confidence-level, all have intervals. In a pipe they are JSON.
"""


def _columns_of_lists(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags of the columns of a list."""
    for name, holds in reversed(_COLUMNS_OF_LISTS.items()):
        command = click.option(flag_of(name), metavar="COLUMN", help=f"Of a list: the column of {holds}.")(command)
    return command


@click.command(
    cls=MetricCommand,
    metric=AnomalySuite,
    but=("per_image",),  # a file here
    lists=("--category",),
    help=_HELP,
)
@click.option("--maps", required=True, type=click.Path(path_type=Path), help="Folder, .zip or list of a model's maps.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder, .zip or list of the data, unless --maps has it.")
@click.option("--layout", type=click.Choice(NAMES), help="Layout of the data set.  [default: recognised]")
@click.option("--category", "categories", multiple=True, metavar="NAME …", help="Categories.  [default: all]")
@click.option("--resize", type=click.Choice(WAYS), help="Resize maps to their masks or images.")
@click.option(
    "--sample-pattern",
    metavar="REGEX",
    help="Its first group is the id of a sample in the images' names.  [default: the layout's, of real-iad]",
)
@_columns_of_lists
@of_images
@click.option("--mask-threshold", type=float, help="Mask values above it are anomalous.  [default: 0 and one value]")
@click.option("--void-where-invalid", is_flag=True, help="Leave out pixels without a point, in MVTec 3D-AD's clouds.")
@click.option("--leave-out", is_flag=True, help="Leave out unpaired files, and others whose names are a problem.")
@click.option("--list-problems", is_flag=True, help="Read all files, and only say what is wrong, a line each.")
@click.option("--compare", type=click.Path(path_type=Path), help="Another model's maps of the same images.")
@printing(*PRINTED)
@click.option("--save", multiple=True, type=click.Path(dir_okay=False, path_type=Path), help="Write a .txt or .json.")
@click.option(
    "--per-image",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a .csv of the images: score, decision, IoU.",
)
@click.option("--report", type=FOLDER, help="Write a page: which is better, curves, the worst images.")
def anomaly(
    maps: Path,
    data: Path | None,
    compare: Path | None,
    save: tuple[Path, ...],
    per_image: Path | None,
    report: Path | None,
    form: str | None,
    percent: bool,
    **arguments: Any,
) -> None:
    """Evaluate anomaly maps of a data set on disk; see `_HELP`."""
    form = form_of(form, percent)
    folders = [maps] if compare is None else [maps, compare]
    _check_outputs(save, per_image, report, [*([] if data is None else [data]), *folders])
    options = {**_options(arguments), "per_image": per_image is not None}
    choices = {name: arguments[name] for name in CHOICES}
    choices |= {name: options[name] for name in ("ignore_value", "regions") if name in options}
    clusters = {name: arguments[name] for name in ("clusters", "clusters_from_name")}
    names = [_name(maps)] if compare is None else model_names(str(maps), str(compare))
    which: dict[str, Any] = {name: arguments[name] or None for name in ("layout", "categories")}
    which |= {"needs_masks": needs_masks(options), "leave_out": arguments["leave_out"]}
    which["columns"] = {name: value.split(",") for name in _COLUMNS_OF_LISTS if (value := arguments.pop(name))}
    models = list_models(dict(zip(names, folders)), data, **which)
    names = [*models]
    if len(names) > 2:
        raise CurableError(
            f"expected one model or two, got {', '.join(names)}",
            Cure("to choose some", {"columns": {"predictions": names[:2]}}),
        )
    if arguments["list_problems"]:
        del choices["sample_pattern"]
        _list_problems([*models.values()], choices)
        return
    for model in models.values():
        if model.leaves_out and model.census.left_out:
            warn(f"left out: {model.census.text()}")
    _check_names(models.values())
    reading = reading_of(models, groups=True, **choices, **clusters)
    if reading.doubt:
        warn(reading.doubt)
    unused = dict.fromkeys(model.note for model in models.values() if model.note)
    for note in [*unused, *reading.joined]:
        complain(f"note: {note}")
    # automatic intervals are shown and reported, but not saved: results do not depend on the terminal
    computed = compute_maps(
        reading,
        options,
        intervals=None if on_terminal() or report is not None else False,
        shown=None if report is None else shown_of(subject_of(AnomalySuite.name)),
        progress=True,
    )
    _warn_of_empty_masks(reading.empty_masks)
    shown = {model: one.summary for model, one in computed.done.models.items()}
    drawn = options.get("confidence_level") is not None
    saved = {model: summary if drawn else without_intervals(summary) for model, summary in shown.items()}
    results, *others = (computed.results(*each) for each in saved.items())
    for other in others:
        results |= {"other": other, "comparison": computed.compared(results, other, drawn=drawn)}
    writes: list[Callable[[], object]] = [partial(save_anomaly_results, results, path) for path in save]
    if per_image is not None:
        writes.append(partial(write_file, per_image, per_image_csv(computed, *names)))
    if report is not None:
        writes.append(partial(write_anomaly_report, computed, report, progress=True, face=in_flags))
    if form == "text":
        table = computed.compared(results, others[0]) if others else None
        text = _text(computed, results, table, names, percent)
    else:
        text = as_json(results)
    deliver(text, *writes)
    if report is not None and on_terminal():
        show(f"\nreport: {report / 'index.html'}")


def _name(folder: Path) -> str:
    """The name of an only model: that of its folder."""
    return folder.resolve().name or str(folder)


def _options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the metric; thresholds of a file are by category, if it has categories."""
    options = read_options(AnomalySuite, (), arguments, numbers=False)
    reduction = options.get("image_reduction", AnomalySuite.options["image_reduction"])
    for name, value in options.items():
        if is_fitted(name, value):
            thresholds = fitted_thresholds(name, value)
            options[name] = thresholds.get("", thresholds)
            if name == "image_threshold" and "" not in thresholds and reduction != "max":
                raise ValueError(
                    f"{value}: expected an image_reduction of max, since its thresholds are for the highest pixels, "
                    f"got {reduction!r}"
                )
    return options


def _warn_of_empty_masks(masks: Sequence[Path]) -> None:
    """Warn of images in a folder of anomalous images with masks that have no anomalous pixel."""
    if masks:
        warn(
            f"{masks[0]}: no pixel is anomalous, but the image counts as anomalous because of its folder"
            f" ({len(masks)} such {'image' if len(masks) == 1 else 'images'})"
        )


def _check_outputs(save: Sequence[Path], per_image: Path | None, report: Path | None, folders: Sequence[Path]) -> None:
    """Raise ValueError or OSError for outputs that cannot be written, or would overwrite inputs."""

    def tables() -> Iterator[Path]:
        for folder in folders:
            yield from [folder] if folder.is_file() else ()
            yield from (path for path in folder.rglob("*") if path.suffix in (".csv", ".json", ".txt"))

    for path in save:
        check_ending(path)
    if per_image is not None and per_image.suffix != ".csv":
        raise ValueError(f"--per-image: expected a file ending in .csv, got {per_image}")
    check_outputs([*save, *([] if per_image is None else [per_image])], tables)
    if report is not None:
        check_report_folder(report, [folder for folder in folders if folder.is_dir()])


def _check_names(models: Iterable[AnomalyMaps]) -> None:
    """Raise the error of `check_names`, with the flag that lists all of several problems."""
    for model in models:
        try:
            check_names(model)
        except CurableError as error:
            number = len(model.problems)
            to_list = [Cure(f"to list all {number:,}", {"list_problems": True})] if number > 1 else []
            raise CurableError(sentence_of(error), *to_list, *cures_of(error)) from None


def _list_problems(models: Sequence[Any], reading: Mapping[str, Any]) -> None:
    """Print the problems of the files, and exit with 2 if there are any."""
    problems = [spelled(line, in_flags) for model in models for line in file_problems(model, progress=True, **reading)]
    problems = list(dict.fromkeys(problems))  # masks are the same for both models
    if problems:
        show("\n".join(map(one_line, problems)))
        click.get_current_context().exit(2)
    count = len(models[0].pairs)
    show(f"no problems: {count:,} images of {models[0].data.layout.name}")
    for text in dict.fromkeys(model.census.text() for model in models if model.census.left_out):
        show(f"left out: {text}")


def _text(
    computed: Folders, results: Results, table: Mapping[str, Any] | None, names: Sequence[str], percent: bool
) -> str:
    """A row for each rate, or for its mean over the categories, and a table by category.

    Parameters: the computation, with the intervals to show; results of the first model; table, of the differences of
    two models, which the rows are then of; percent, whether rates are times 100.
    """
    done, subject = computed.done, subject_of(AnomalySuite.name)
    summary = done.models[names[0]].summary
    groups = summary.groups or {}
    leaves, has_defects = groups.keys() - prefixes(groups), bool(prefixes(groups))
    means = mean_over(subject, summary) if len(leaves) > 1 else ""
    lines = [f"by {'group' if has_defects else 'category'}: --save, --report"] if means else []
    about, note = described(results, means), "\n".join([_on_intervals(computed), *lines])
    colour = has_colour()
    shown: dict[str, Any] = {"percent": percent, "width": width(), "colour": colour}
    if table is not None:
        rows = comparison_text(table, names, kinds=results[KINDS], level=done.level or LEVEL, **shown)
        head = printed((strong("anomaly"), quiet(f"  {about}")), colour=colour)
        return joined(head, joined(rows, noted(note, width=width(), colour=colour), by="\n"))
    values = summary.results if means else next(iter(groups.values()))
    rates = {key: values[key] for key in _ordered(summary) if key in values}
    if not means:
        return results_text("anomaly", about, Summary(rates), note, **shown)
    means_of_rates = results_text("anomaly", about, Summary(rates), **shown)
    categories = _by_category(summary, percent, colour)
    return joined(means_of_rates, joined(categories, noted(note, width=width(), colour=colour), by="\n"))


def _on_intervals(computed: Folders) -> str:
    """How the intervals were computed, and how to get the missing ones."""
    done, more = computed.done, f"--confidence-level {LEVEL}"
    if done.level is None:
        return f"{done.why} With {more}, there are some." if done.why else f"intervals: {more}"
    note = note_of(done, computed.settings)
    return f"{note}; of all rates: {more}" if done.of else note


def _ordered(summary: Summary) -> list[str]:
    """The keys of rates, most important first."""
    leading = leading_keys(subject_of(AnomalySuite.name), summary)
    rates = rates_of(summary.results)
    return [*dict.fromkeys([*leading, *(key for key in NEXT if key in rates), *rates])]


def _by_category(summary: Summary, percent: bool, colour: bool) -> str:
    """The most important rates of each category, as many as fit a line."""
    groups = summary.groups or {}
    columns = [
        [quiet("category"), *map(strong, groups)],
        [quiet("images"), *(str(row["images"]) for row in groups.values())],
    ]
    for key in _ordered(summary)[:_COLUMNS]:
        rates = [row.get(key) for row in groups.values()]
        texts = [rate.text(percent=percent) if isinstance(rate, Rate) else "–" for rate in rates]
        columns.append([quiet(with_arrow(key, summary.results[key].higher)), *texts])
        if len(columns) > 3 and text_width(aligned([*zip(*columns)])) > width():
            columns.pop()
            break
    return aligned([*zip(*columns)], colour=colour)


def per_image_csv(computed: Folders, model: str, other: str | None = None) -> str:
    """CSV with a line for each row of the table of images and its files: the map, and the masks between semicolons.

    Parameters: the computation of models with tables; model, its name; other, the name of another model, which adds its
    columns and its map. Undefined values, such as the IoU of two empty masks, are left empty.
    """
    table, named = computed.table(model), computed.reading.archives.named
    columns = {**table, "map": [named(str(path)) for _, path in computed.files(model)]}
    columns["mask"] = [named(";".join(map(str, image.masks))) for image, _ in computed.files(model)]
    if other:
        added = {key: column for key, column in computed.table(other).items() if key not in ("group", "image", "label")}
        columns |= {f"other_{key}": column for key, column in added.items()}
        columns["other_map"] = [named(str(path)) for _, path in computed.files(other)]
    return csv_text([columns, *zip(*columns.values())])
