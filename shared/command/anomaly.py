"""The command `openworld-metrics anomaly`: evaluate folders of anomaly maps against a data set on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..anomaly.anomaly_suite import AnomalySuite
from ..evaluation.anomaly import evaluate_maps
from ..evaluation.anomaly_comparison import compared_runs
from ..evaluation.anomaly_intervals import RESAMPLES, quick_options, without_intervals
from ..evaluation.anomaly_text import per_image_csv, save_anomaly_results
from ..evaluation.category_options import needs_masks
from ..evaluation.detection import check_ending
from ..evaluation.differences import differences
from ..reading.maps.layouts import LAYOUTS, NAMES, PAIR
from ..reading.maps.maps import WAYS, file_problems
from ..reading.maps.pairing import list_models
from ..reports.anomaly.numbers import numbers_of_runs, with_image_intervals
from ..reports.anomaly.report import write_anomaly_report
from ..reports.page import check_report_folder
from ..written.atomic import write_file
from ..written.results import as_json
from .fitted import fitted_thresholds, is_fitted
from .flags import MetricCommand
from .messages import one_line, warn
from .options import FOLDER, read_options
from .outputs import check_outputs, deliver, on_terminal, show
from .printing import PRINTED, form_of, printing
from .terminal.maps import anomaly_text

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
    text = anomaly_text(numbers, results.get("comparison"), percent) if form == "text" else as_json(results)
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
