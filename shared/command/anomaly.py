"""The command `openworld-metrics anomaly`: evaluate folders of anomaly maps against a data set on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..anomaly.anomaly_suite import AnomalySuite
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
from ..metric.results import Rate, Summary
from ..metric.rounding import number_text, with_arrow
from ..reading.maps.layouts import LAYOUTS, NAMES, PAIR
from ..reading.maps.maps import WAYS, file_problems, inverted_masks
from ..reading.maps.pairing import list_models
from ..suites.anomaly import AnomalyRun, evaluate_maps, images_table, needs_masks
from ..suites.differences import ENDS, LEVEL, RESAMPLES, compared_runs, differences, quick_options, without_intervals
from ..suites.intervals import Numbers, numbers_of_runs, with_image_intervals
from ..written.files import csv_text, write_file
from ..written.results import KINDS, as_json
from .columns import model_names
from .fitted import fitted_thresholds, is_fitted
from .messages import on_terminal, one_line, show, warn
from .options import MetricCommand, read_options
from .outputs import FOLDER, PRINTED, check_outputs, deliver, form_of, printing

_COLUMNS = 5  # rates in the table by category
_HELP = f"""Evaluate anomaly maps of a data set on disk, category by category.

\b
    openworld-metrics anomaly --maps maps --data mvtec_ad --report report

Layouts: {", ".join(f"{layout.name} ({layout.title})" for layout in LAYOUTS)}, and {PAIR}, a plain folder of masks,
where a map without a mask belongs to a normal image, and _mask, _label or _gt may end a mask's name.
Maps are .tiff, .npy, .npz, or .png of 16 bits, such as maps/bottle/test/crack/000.tiff: found by category, name, and
the folder of the defect if names repeat. A mask holds 0 and one other value, which is anomalous, besides the
--ignore-value; --mask-threshold cuts one that was resized or compressed with loss. Thresholds are numbers, or a file of
`openworld-metrics threshold --maps`, by category. Results are tables on a terminal, with intervals that take about a
second or less; with --confidence-level, all have intervals. In a pipe they are JSON.
"""


@click.command(
    cls=MetricCommand,
    metric=AnomalySuite,
    but=("per_image",),  # a file here
    lists=("--category",),
    help=_HELP,
)
@click.option("--maps", required=True, type=click.Path(path_type=Path), help="Folder or .zip of a model's maps.")
@click.option("--data", required=True, type=click.Path(path_type=Path), help="Folder or .zip of the data, or of masks.")
@click.option("--layout", type=click.Choice(NAMES), help="Layout of the data set.  [default: recognised]")
@click.option("--category", "categories", multiple=True, metavar="NAME …", help="Categories.  [default: all]")
@click.option("--resize", type=click.Choice(WAYS), help="Resize maps to their masks or images.")
@click.option(
    "--sample-pattern",
    metavar="REGEX",
    help="Its first group is the id of a sample in the images' names.  [default: the layout's, of real-iad]",
)
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
    data: Path,
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
    folders = {"maps": maps} if compare is None else {"maps": maps, "compare": compare}
    _check_outputs(save, per_image, report, [data, *folders.values()])
    options = {**_options(arguments), "per_image": per_image is not None}
    reading = {name: arguments[name] for name in ("resize", "void_where_invalid", "mask_threshold")}
    which: dict[str, Any] = {name: arguments[name] or None for name in ("layout", "categories")}
    which |= {"needs_masks": needs_masks(options), "leave_out": arguments["leave_out"]}
    models = [*list_models(folders, data, **which).values()]
    if arguments["list_problems"]:
        names = ("ignore_value", "regions")
        _list_problems(models, reading | {name: options[name] for name in names if name in options})
        return
    for model in models:
        if model.leaves_out and model.census.left_out:
            warn(f"left out: {model.census.text()}")
    ignore_value, regions = ({**AnomalySuite.options, **options}[name] for name in ("ignore_value", "regions"))
    if inverted := inverted_masks(models[0], ignore_value, regions, reading["mask_threshold"]):
        warn(inverted)
    # automatic intervals are shown and reported, but not saved: results do not depend on the terminal
    shown = on_terminal() or report is not None
    quick = quick_options(models, options, reported=report is not None) if shown else {}
    alone = {**options, **quick} if compare is None or report is not None else options  # those of the first model
    runs = [
        evaluate_maps(
            model,
            **reading,
            sample_pattern=arguments["sample_pattern"],
            progress=True,
            curves=report is not None,
            **(options if number else alone),
        )
        for number, model in enumerate(models)
    ]
    _warn_of_empty_masks(runs[0].images)
    first, *others = runs
    results, other, comparison = without_intervals(first, options) if quick else first.results, None, None
    for other in others:
        comparison = compared_runs(first, other, **{**options, **quick})
        bare = differences(results, other.results) if quick else comparison
        results = {**results, "other": other.results, "comparison": bare}
    if shown and not quick and options.get("confidence_level") is None:
        numbers = with_image_intervals(first, other, options.get("n_resamples", RESAMPLES))
    else:
        numbers = numbers_of_runs(first, other, comparison, {**options, **quick})
    writes: list[Callable[[], object]] = [partial(save_anomaly_results, results, path) for path in save]
    if per_image is not None:
        writes.append(partial(write_file, per_image, per_image_csv(first, other)))
    if report is not None:
        page = partial(write_anomaly_report, first, report, other=other, comparison=comparison, numbers=numbers)
        writes.append(partial(page, progress=True))
    text = _text(numbers, results.get("comparison"), percent) if form == "text" else as_json(results)
    deliver(text, *writes)
    if report is not None and on_terminal():
        show(f"\nreport: {report / 'index.html'}")


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


def _warn_of_empty_masks(images: Sequence[Any]) -> None:
    """Warn of images in a folder of anomalous images with masks that have no anomalous pixel."""
    empty = [image.image for image in images if image.lacks_pixels]
    if empty:
        warn(
            f"{empty[0].masks[0]}: no pixel is anomalous, but the image counts as anomalous because of its folder"
            f" ({len(empty)} such {'image' if len(empty) == 1 else 'images'})"
        )


def _check_outputs(save: Sequence[Path], per_image: Path | None, report: Path | None, folders: Sequence[Path]) -> None:
    """Raise ValueError or OSError for outputs that cannot be written, or would overwrite inputs."""

    def tables() -> Iterator[Path]:
        for folder in folders:
            yield from (path for path in folder.rglob("*") if path.suffix in (".csv", ".json", ".txt"))

    for path in save:
        check_ending(path)
    if per_image is not None and per_image.suffix != ".csv":
        raise ValueError(f"--per-image: expected a file ending in .csv, got {per_image}")
    check_outputs([*save, *([] if per_image is None else [per_image])], tables)
    if report is not None:
        check_report_folder(report, folders)


def _list_problems(models: Sequence[Any], reading: Mapping[str, Any]) -> None:
    """Print the problems of the files, and exit with 2 if there are any."""
    problems = [line for model in models for line in file_problems(model, progress=True, **reading)]
    problems = list(dict.fromkeys(problems))  # masks are the same for both models
    if problems:
        show("\n".join(map(one_line, problems)))
        click.get_current_context().exit(2)
    count = len(models[0].pairs)
    show(f"no problems: {count:,} images of {models[0].data.layout_name}")
    for text in dict.fromkeys(model.census.text() for model in models if model.census.left_out):
        show(f"left out: {text}")


def _text(numbers: Numbers, differences: Mapping[str, Any] | None, percent: bool) -> str:
    """A row for each rate, or for its mean over the categories, and a table by category.

    Parameters: numbers, with the intervals to show; differences of two models, which the rows are then of; percent,
    whether rates are times 100.
    """
    results, names = numbers.results, numbers.results["groups"]["group"]
    leaves = [name for name in names if not any(other.startswith(f"{name}/") for other in names)]
    kind = "categories" if leaves == names else "groups"
    means = f", means over {len(leaves)} {kind}" if len(leaves) > 1 else ""
    lines = [f"by {'category' if leaves == names else 'group'}: --save, --report"] if means else []
    about, note = f"{described(results)}{means}", "\n".join([*_on_intervals(numbers), *lines])
    colour = has_colour()
    shown: dict[str, Any] = {"percent": percent, "width": width(), "colour": colour}
    if differences is not None:
        folders = [each["evaluation"]["maps"] for each in (results, numbers.other or results)]
        table, models = _with_intervals(differences, numbers.comparison), model_names(*folders)
        level = results["evaluation"]["options"]["confidence_level"] or LEVEL
        rows = comparison_text(table, models, kinds=results[KINDS], level=level, **shown)
        head = printed((strong("anomaly"), quiet(f"  {about}")), colour=colour)
        return joined(head, joined(rows, noted(note, width=width(), colour=colour), by="\n"))
    summary = Summary({key: _rate(numbers, key) for key in numbers.keys})
    if not means:
        return results_text("anomaly", about, summary, note, **shown)
    means_of_rates = results_text("anomaly", about, summary, **shown)
    categories = _by_category(numbers, percent, colour)
    return joined(means_of_rates, joined(categories, noted(note, width=width(), colour=colour), by="\n"))


def _on_intervals(numbers: Numbers) -> list[str]:
    """How the intervals were computed, and how to get those that are not there."""
    if numbers.intervals == "none":
        return [f"intervals: --confidence-level {LEVEL}"]
    more = f"; of all rates: --confidence-level {LEVEL}" if numbers.of_images_only else ""
    return [f"intervals {numbers.intervals}{more}"]


def _with_intervals(differences: Mapping[str, Any], comparison: Mapping[str, Any] | None) -> dict[str, list[Any]]:
    """The differences of all rates, with the intervals of those that a comparison has."""
    sure = {key: i for i, key in enumerate(comparison["key"])} if comparison is not None else {}
    ends = {end: comparison[end] for end in ENDS} if comparison is not None and "low" in comparison else {}
    keys = differences["key"]
    table = {name: differences[name] for name in ("key", "first", "second", "difference")}
    return table | {end: [column[sure[key]] if key in sure else None for key in keys] for end, column in ends.items()}


def _rate(numbers: Numbers, key: str) -> Rate:
    """A rate with its interval and, if there is one category, its threshold."""
    results, kind = numbers.results, numbers.results[KINDS][key]
    low, high = (results.get(f"{key}_{end}") for end in ("low", "high"))
    thresholds = results["groups"].get(f"{key}_threshold", ())
    return Rate(
        results[key],
        kind["higher"],
        kind["share"],
        error=results.get(f"{key}_error"),
        threshold=thresholds[0] if len(thresholds) == 1 else None,
        interval=None if low is None or high is None else (low, high),
    )


def _by_category(numbers: Numbers, percent: bool, colour: bool) -> str:
    """The most important rates of each category, as many as fit a line."""
    table = numbers.results["groups"]
    columns = [[quiet("category"), *map(strong, table["group"])], [quiet("images"), *map(str, table["images"])]]
    for key in numbers.keys[:_COLUMNS]:
        share = percent and numbers.results[KINDS][key]["share"]
        column = [number_text(value, percent=share) for value in table[key]]
        columns.append([quiet(with_arrow(key, numbers.higher(key))), *column])
        if len(columns) > 3 and text_width(aligned([*zip(*columns)])) > width():
            columns.pop()
            break
    return aligned([*zip(*columns)], colour=colour)


def per_image_csv(run: AnomalyRun, other: AnomalyRun | None = None) -> str:
    """CSV with a line for each row of `images_table` and its files: the map, and the masks, separated by semicolons.

    Parameters: run, of a model with tables; other, the run of another model on the same images, which adds its columns
    and its map. Undefined values, such as the IoU of two empty masks, are left empty.
    """
    table, files = images_table(run), {image.image.key: image for image in run.images}
    places = [(group.partition("/")[0], name) for group, name in zip(table["group"], table["image"])]
    columns = {**table, "map": [run.listed.archives.named(str(files[place].map_file)) for place in places]}
    columns["mask"] = [run.listed.archives.named(";".join(map(str, files[place].image.masks))) for place in places]
    if other:
        theirs, maps = images_table(other), {image.image.key: image for image in other.images}
        at = {row: i for i, row in enumerate(zip(theirs["group"], theirs["image"]))}
        order = [at[row] for row in zip(table["group"], table["image"])]
        own = {key: column for key, column in theirs.items() if key not in ("group", "image", "label")}
        columns |= {f"other_{key}": [column[i] for i in order] for key, column in own.items()}
        columns["other_map"] = [other.listed.archives.named(str(maps[place].map_file)) for place in places]
    return csv_text([columns, *zip(*columns.values())])
