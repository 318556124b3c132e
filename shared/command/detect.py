"""The command `openworld-metrics detect`: open-set detection, from files or from a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..detection.openset_detection import OpenSetDetection
from ..evaluation.detection import (
    DEFAULT_CONF,
    LEFT_OUT,
    check_ending,
    compare_detections,
    evaluate_detections,
    save_results,
)
from ..reports.detection.report import write_report
from ..written.atomic import check_file, check_folder, nearest_folder
from ..written.results import as_json
from .detections import (
    files_read,
    from_files,
    from_model,
    left_out,
    place_text,
    places_of_references,
    warn_of_confidences,
    warn_of_limit,
    warn_of_unnamed,
)
from .fitted import Threshold
from .flags import MetricCommand
from .options import FOLDER
from .outputs import check_outputs, deliver, on_terminal, show
from .printing import PRINTED, form_of, printing
from .terminal.detectors import detection_text
from .terminal.people import QuickIntervals

_HELP = """Evaluate a detector where some objects are of unknown classes.

From files, as in

\b
    openworld-metrics detect --predictions runs/detect/predict/labels \\
        --references data.yaml --known-classes 0 1 2 3 4 --unknown-id 999

or from an Ultralytics model, with --model M --data data.yaml. A CLASS is an id, or a name if the files or --names
have names. With --compare, a paired bootstrap says which of two detectors is better in each rate. Results are text
on a terminal, JSON in a pipe.
"""


@click.command(
    cls=MetricCommand,
    metric=OpenSetDetection,
    but=("known_classes", "unknown_class_id", "conf_threshold", "previously_known", "box_format"),
    lists=("--predictions", "--references", "--compare", "--known-classes", "--names", "--previously-known"),
    help=_HELP,
)
@click.option(
    "--predictions", multiple=True, metavar="PLACE …", help="Folder, .zip or files of YOLO, VOC, COCO, dicts."
)
@click.option("--references", multiple=True, metavar="PLACE …", help="The same of labels, with a data.yaml or without.")
@click.option("--compare", multiple=True, metavar="PLACE …", help="Predictions of another detector on the same images.")
@click.option("--images", type=click.Path(), help="Folder of the images, if the layout does not tell.")
@click.option("--model", help="Ultralytics model to run instead. Needs ultralytics, whose licence is AGPL-3.0.")
@click.option("--data", type=click.Path(), help="data.yaml of the data set; the same as --references.")
@click.option("--split", help="Split of the data set.  [default: val]")
@click.option("--image-set", type=click.Path(), help="File that lists the images to evaluate, one a line.")
@click.option("--known-classes", multiple=True, required=True, metavar="CLASS …", help="Ids or names.")
@click.option(
    "--unknown-id",
    type=int,
    help='The detector\'s class for "unknown".  [default: the class of such a name, or else -1]',
)
@click.option("--names", multiple=True, metavar="NAME …", help="Names of the predicted classes from 0, or their file.")
@click.option(
    "--conf",
    type=Threshold(click.FloatRange(0, 1), reached=True),
    default=DEFAULT_CONF,
    show_default=True,
    help="Leave out predictions with a lower confidence, or with none above the threshold of a file.",
)
@click.option("--iou", type=float, help="IoU of the model's non-maximum suppression.  [default: 0.6]")
@click.option("--previously-known", multiple=True, metavar="CLASS …", help="Known classes of earlier tasks, for owod.")
@click.option("--standard/--no-standard", default=True, show_default=True, help="mAP, precision, recall, as COCO.")
@click.option(
    "--max-detections",
    type=click.IntRange(1),
    metavar="N",
    help="For mAP, count the N most confident boxes of each image and class; COCO counts 100.",
)
@click.option("--leave-out", is_flag=True, help="Leave out labels and predictions of images that are not there.")
@click.option("--voc-from-zero", is_flag=True, help="Pascal VOC files whose pixels count from 0, not 1.")
@click.option("--score-field", metavar="NAME", help="Name of the confidence in COCO results.  [default: score]")
@click.option("--option", "more", multiple=True, metavar="KEY=VALUE", help="Another option of openset_detection.")
@printing(*PRINTED)
@click.option("--save", multiple=True, type=click.Path(dir_okay=False, path_type=Path), help="Write a .txt or .json.")
@click.option("--report", type=FOLDER, help="Draw the worst images to a folder.")
def detect(save: tuple[Path, ...], **arguments: Any) -> None:
    """Evaluate a detector where some objects are of unknown classes; see `_HELP`."""
    report: Path | None = arguments["report"]
    form = form_of(arguments["form"], arguments["percent"])
    run = from_files if arguments["model"] is None else from_model
    references = places_of_references(arguments)
    for path in save:
        check_ending(path)
    check_outputs(save, lambda: files_read(arguments, references))
    if report is not None:
        check_folder(nearest_folder(report))
        if report.is_dir():
            check_file(report / "index.html")
    quick = QuickIntervals()
    both, known, results, options = run(arguments, references, quick)
    detections, other = both[0], both[1] if len(both) > 1 else None
    if text := left_out(both):
        results[LEFT_OUT] = text
    for each in both:
        warn_of_unnamed(each, known, options)
        warn_of_confidences(each, options.get("conf_threshold", 0.0))
    if other is not None:
        limits = {name: arguments[name] for name in ("standard", "max_detections")}
        results["other"] = evaluate_detections(other, known, progress=True, **limits, **options)
        results["comparison"] = compare_detections(detections, other, known, **options)
    if arguments["standard"] and arguments["max_detections"] is None:
        warn_of_limit(results, detections, known, options)
        if other is not None:
            warn_of_limit(results["other"], other, known, options)
    writes: list[Callable[[], object]] = [partial(save_results, results, path) for path in save]
    first = arguments["model"] or place_text(arguments["predictions"])
    second = place_text(arguments["compare"]) if arguments["compare"] else None
    if report is not None:
        names, data = _short_names([first, *filter(None, [second])]), place_text(references)
        drawn = partial(write_report, detections, results, report, known, other=other, names=names, data=data)
        writes.append(partial(drawn, progress=True, **options))
    level = options.get("confidence_level")
    lay_out = partial(detection_text, results, (first, second), level, quick, percent=arguments["percent"])
    deliver(lay_out() if form == "text" else as_json(results), *writes)
    if report is not None and on_terminal():
        show(f"\nreport: {report / 'index.html'}")


def _short_names(places: Sequence[str]) -> list[str]:
    """Name two paths by the last part in which they differ; a single path keeps its name.

    >>> _short_names(["runs/softmax/labels", "runs/energy/labels"])
    ['softmax', 'energy']
    """
    if len(places) < 2:
        return [*places]
    parts = zip(*(Path(place).parts[::-1] for place in places))
    return next(([*several] for several in parts if len({*several}) > 1), [*places])
