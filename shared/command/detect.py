"""The command `openworld-metrics detect`: open-set detection, from files or from a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..detection.false_positives import NEARBY
from ..detection.openset_detection import OpenSetDetection
from ..evaluation.detection import check_ending, compare_detections, evaluate_detections, save_results
from ..evaluation.validator import OpenSetValidator
from ..formats.boxes.aliases import aliases_of
from ..formats.boxes.class_names import read_names
from ..formats.boxes.dataset import Detections
from ..formats.boxes.named import class_ids
from ..formats.boxes.opening import read_detections, texts_read
from ..formats.boxes.yolo.data import class_names, read_yaml
from ..formats.written.atomic import check_file, check_folder, nearest_folder
from ..formats.written.results import as_json
from ..reports.detection.report import write_report
from .fitted import Threshold
from .flags import MetricCommand
from .messages import warn
from .options import FOLDER, read_options
from .outputs import check_outputs, deliver, on_terminal, show
from .printing import PRINTED, form_of, printing
from .terminal.detectors import detection_text

_Run = tuple[Any, list[int], Any, dict[str, Any]]  # detections, known classes, results, options
_IOU_OF_A_MODEL = (
    "--iou is the IoU of a model's non-maximum suppression, and does nothing to saved predictions;"
    " boxes are matched at --iou-threshold"
)
_HELP = """Evaluate a detector where some objects are of unknown classes.

From files, as in

\b
    openworld-metrics detect --predictions runs/detect/predict/labels \\
        --references data.yaml --known-classes 0 1 2 3 4 --unknown-id 999

or from an Ultralytics model, with --model M --data data.yaml. A CLASS is an id, or a name where the files or --names
give names. With --compare, a paired bootstrap says which of two detectors is better in each rate. Results are a text
on a terminal, JSON in a pipe.
"""


@click.command(
    cls=MetricCommand,
    metric=OpenSetDetection,
    but=("known_classes", "unknown_class_id", "conf_threshold", "previously_known", "box_format"),
    lists=("--known-classes", "--names", "--previously-known"),
    help=_HELP,
)
@click.option("--predictions", type=click.Path(), help="Folder of YOLO or VOC .txt, COCO results, or dicts.")
@click.option("--references", type=click.Path(), help="YOLO labels, data.yaml, COCO .json, VOC .xml folder, or dicts.")
@click.option("--compare", type=click.Path(), help="Predictions of another detector on the same images.")
@click.option("--images", type=click.Path(), help="Folder of the images, where the layout does not say.")
@click.option("--model", help="Ultralytics model to run instead. Needs ultralytics, whose licence is AGPL-3.0.")
@click.option("--data", type=click.Path(), help="data.yaml of the data set; the same as --references.")
@click.option("--split", help="Split of the data set.  [default: val]")
@click.option("--image-set", type=click.Path(), help="File that lists the images to evaluate, one a line.")
@click.option("--known-classes", multiple=True, required=True, metavar="CLASS …", help="Ids or names.")
@click.option("--unknown-id", default=-1, show_default=True, help='Class by which the detector says "unknown".')
@click.option("--names", multiple=True, metavar="NAME …", help="Names of the predicted classes from 0, or their file.")
@click.option(
    "--conf",
    type=Threshold(click.FloatRange(0, 1), reached=True),
    default=0.001,
    show_default=True,
    help="Leave out predictions with a lower confidence, or with none above the threshold of a file.",
)
@click.option("--iou", type=float, help="IoU of the model's non-maximum suppression.  [default: 0.6]")
@click.option("--previously-known", multiple=True, metavar="CLASS …", help="Known classes of earlier tasks, for owod.")
@click.option("--standard/--no-standard", default=True, show_default=True, help="mAP, precision, recall (pycocotools).")
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
    run = _from_files if arguments["model"] is None else _from_model
    references = _references(arguments)
    for path in save:
        check_ending(path)
    check_outputs(save, lambda: _inputs(arguments, references))
    if report is not None:
        check_folder(nearest_folder(report))
        if report.is_dir():
            check_file(report / "index.html")
    other = None if arguments["compare"] is None else _read(arguments, references, arguments["compare"])
    detections, known, results, options = run(arguments, references)
    _warn_of_unnamed(detections, known, options)
    if other is not None:
        _warn_of_unnamed(other, known, options)
        results["other"] = evaluate_detections(other, known, standard=arguments["standard"], progress=True, **options)
        results["comparison"] = compare_detections(detections, other, known, **options)
    writes: list[Callable[[], object]] = [partial(save_results, results, path) for path in save]
    if report is not None:
        names = _short_names([arguments["model"] or arguments["predictions"], *filter(None, [arguments["compare"]])])
        drawn = partial(write_report, detections, results, report, known, other=other, names=names, data=references)
        writes.append(partial(drawn, progress=True, **options))
    places = (str(arguments["predictions"] or arguments["model"]), arguments["compare"])
    lay_out = partial(detection_text, results, places, options.get("confidence_level"), percent=arguments["percent"])
    deliver(lay_out() if form == "text" else as_json(results), *writes)
    if report is not None and on_terminal():
        show(f"\nreport: {report / 'index.html'}")


def _warn_of_unnamed(detections: Any, known: list[int], options: Mapping[str, Any]) -> None:
    """Warn where a predicted class is neither one of the data set nor "unknown"."""
    true, found = (
        {label for boxes in images for label in boxes["labels"].tolist()}
        for images in (detections.dataset.references, detections.predictions)
    )
    unnamed = sorted(found - true - {*known, *detections.dataset.classes, options["unknown_class_id"]})
    if unnamed:
        warn(
            f"class {unnamed[0]} is predicted, which is neither one of the data set nor --unknown-id"
            f" ({options['unknown_class_id']}); it counts as a false known object"
        )


def _warn_of_aliases(aliases: Mapping[str, str]) -> None:
    """Say which class names are spelled otherwise in the references."""
    if aliases:
        pairs = ", ".join(f"{name} is {ours}" for name, ours in aliases.items())
        warn(f"classes that COCO and Pascal VOC spell differently: {pairs}, as the references spell it")


def _references(given: Mapping[str, Any]) -> str:
    """The place of the references. Raises UsageError for arguments that exclude each other."""
    references = given["references"] or given["data"]
    if given["model"] is None:
        if given["predictions"] is None or references is None or None not in (given["references"], given["data"]):
            raise click.UsageError("expected --predictions and --references, or --model and --data")
        return str(references)
    data = given["data"] or references
    if data is None or Path(data).suffix not in (".yaml", ".yml"):
        raise click.UsageError("expected --data data.yaml with --model")
    for name in ("predictions", "compare", "images", "image_set", "names", "score_field"):
        if given[name]:
            raise click.UsageError(f"expected no --{name.replace('_', '-')} with --model, got {given[name]}")
    return str(data)


def _inputs(given: Mapping[str, Any], references: str) -> Iterator[Path]:
    """The files that are read and have the ending of one that could be written."""
    yield from map(Path, _words(given["names"]))
    for predictions in (given["predictions"], *filter(None, [given["compare"]])):
        yield from texts_read(predictions, references, given["split"] or "val", given["image_set"])


def _read(given: Mapping[str, Any], references: str, predictions: str) -> Detections:
    """The detections of one detector. Warns of class names in two spellings."""
    names = _words(given["names"])
    detections = read_detections(
        predictions,
        references,
        images=given["images"],
        split=given["split"],
        image_set=given["image_set"],
        classes=read_names(names) if names else None,
        unknown_class_id=given["unknown_id"],
        one_based=not given["voc_from_zero"],
        score_field=given["score_field"],
    )
    named = [*_words(given["known_classes"]), *_words(given["previously_known"])]
    _warn_of_aliases({**aliases_of(named, detections.dataset.classes.values()), **detections.aliases})
    return detections


def _from_files(given: Mapping[str, Any], references: str) -> _Run:
    detections = _read(given, references, given["predictions"])
    classes = detections.dataset.classes
    known, options = class_ids(_words(given["known_classes"]), classes), _options(given, classes)
    results = evaluate_detections(detections, known, standard=given["standard"], progress=True, **options)
    if given["iou"] is not None:
        warn(_IOU_OF_A_MODEL)
    return detections, known, results, options


def _from_model(given: Mapping[str, Any], references: str) -> _Run:
    classes = class_names(read_yaml(Path(references)), Path(references))
    known, options = class_ids(_words(given["known_classes"]), classes), _options(given, classes)
    iou = 0.6 if given["iou"] is None else given["iou"]
    options.pop("conf_threshold")
    validator = OpenSetValidator(given["model"], references, known, conf=given["conf"], iou=iou, **options)
    results = validator.validate(given["split"] or "val", standard=given["standard"], progress=True)
    return validator.detections, known, results, validator.options


def _options(given: Mapping[str, Any], classes: Mapping[int, str]) -> dict[str, Any]:
    """The options of the metric that were given."""
    options: dict[str, Any] = {"unknown_class_id": given["unknown_id"], "conf_threshold": given["conf"]}
    if given["previously_known"]:
        options["previously_known"] = class_ids(_words(given["previously_known"]), classes)
    flags = {**given, "known_classes": None, "previously_known": None}  # which may be names, and are read elsewhere
    more = read_options(OpenSetDetection, given["more"], flags)
    for name in ("known_classes", "box_format"):
        if name in more:
            raise click.BadParameter(f"expected other options than {name}, got {more[name]!r}", param_hint="--option")
    options |= more
    threshold = options.get("iou_threshold", OpenSetDetection.iou_threshold)
    if given["report"] is not None and isinstance(threshold, (int, float)) and threshold < NEARBY:
        raise click.UsageError(f"--report: expected an --iou-threshold of at least 0.1, got {threshold}")
    return options


def _short_names(places: Sequence[str]) -> list[str]:
    """Two paths by the first part in which they differ from the end; one as it is.

    >>> _short_names(["runs/softmax/labels", "runs/energy/labels"])
    ['softmax', 'energy']
    """
    if len(places) < 2:
        return [*places]
    parts = zip(*(Path(place).parts[::-1] for place in places))
    return next(([*several] for several in parts if len({*several}) > 1), [*places])


def _words(given: Sequence[str]) -> list[str]:
    """The words of a list option, which commas may separate too."""
    return [word for part in given for word in part.split(",") if word]
