"""The command `openworld-metrics detect`: open-set detection, from files or from a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from ..answers.computing import note_of
from ..answers.folders import compute_detections, detection_results, limit_note
from ..answers.intervals import LEVEL
from ..arrays.box_objects import UNKNOWN_CLASS_ID
from ..detection.errors import NEARBY
from ..detection.no_objects import no_objects_notes
from ..detection.openset_detection import OpenSetDetection
from ..faces.report.detection import write_report
from ..faces.summaries import LEFT_OUT, check_ending, save_results, summary
from ..faces.terminal import comparison_text, has_colour, joined, noted, width
from ..integrations.ultralytics import DEFAULT_CONF, OpenSetValidator
from ..metric.results import Summary
from ..metric.rounding import DIGITS
from ..reading.boxes.classes import CLOSED_SET, NAMED, class_options, says_unknown, with_class_ids
from ..reading.boxes.dataset import Detections, aliases_of, labels_of, objects_of, spelled_as_one
from ..reading.boxes.reading import RELATIVE, read_boxes, read_names, reading_of, texts_read
from ..reading.boxes.yolo import YAML, class_names, read_yaml
from ..reading.image_clusters import clusters_of_images
from ..reading.reading import Census
from ..reading.reasons import some
from ..reading.sides import means_unknown
from ..written.files import check_file, check_folder, nearest_folder
from ..written.results import KINDS, as_json, census_record
from .columns import model_names
from .fitted import Threshold
from .flags import in_flags
from .messages import complain, on_terminal, say, show, warn
from .options import MetricCommand, of_images, read_options
from .outputs import FOLDER, PRINTED, check_outputs, deliver, form_of, printing, without_intervals


class Run(NamedTuple):
    """The detections of one detector or of two, known classes, options, and a function that names the guesses."""

    both: list[Detections]
    known: list[int]
    options: dict[str, Any]
    tell: Callable[[], object]


_IOU_OF_A_MODEL = (
    "--iou is the IoU of a model's non-maximum suppression, and does nothing to saved predictions;"
    " boxes are matched at --iou-threshold"
)
_HELP = """Evaluate a detector where some objects are of unknown classes.

From files, as in

\b
    openworld-metrics detect --predictions runs/detect/predict/labels \\
        --references data.yaml --known-classes 0 1 2 3 4 --unknown-id 999

or from an Ultralytics model, with --model M --data data.yaml. A CLASS is an id, or a name if the files or --names
have names; without any, those of files are guessed from the predicted ones, and the guess is said. With --compare, a
paired bootstrap says which of two detectors is better in each rate. Results are text on a terminal, JSON in a pipe.
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
@click.option(
    "--known-classes", multiple=True, metavar="CLASS …", help="Ids or names.  [default: the predicted ones, and said]"
)
@click.option(
    "--unknown-id",
    "unknown_class_id",
    type=int,
    metavar="N",
    help='The detector\'s class for "unknown".  [default: the class of such a name, or else one '
    "that is predicted and never annotated, and said]",
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
@of_images
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
    references = _places_of_references(arguments)
    for path in save:
        check_ending(path)
    check_outputs(save, lambda: _files_read(arguments, references))
    if report is not None:
        check_folder(nearest_folder(report))
        if report.is_dir():
            check_file(report / "index.html")
    both, known, options, tell = run(arguments, references)
    detections, *others = both
    names = _names(arguments)
    clusters = clusters_of_images(detections.dataset.names, arguments["clusters"], arguments["clusters_from_name"])
    detectors = compute_detections(
        reading_of(dict(zip(names, both)), clusters),
        {**options, "known_classes": known},
        intervals=True if others else None if on_terminal() or report is not None else False,
        progress=True,
    )
    limits = {name: arguments[name] for name in ("standard", "max_detections")}
    chosen = {**options, "known_classes": known}
    with_level = options.get("confidence_level") is not None
    results, *rest = (
        detection_results(summary if with_level else without_intervals(summary), one, state, chosen, **limits)
        for summary, one, state in zip(detectors.values(), both, detectors.states.values())
    )
    tell()
    for note in clusters.notes:
        complain(f"note: {note}")
    census = Census.of([detections.dataset.census, *(one.census for one in both)])
    if text := census.text():
        warn(f"left out: {text}")
        results |= {LEFT_OUT: text, **census_record(census)}
    for each in both:
        _warn_of_boxes(each, known, options)
    for note in no_objects_notes(*objects_of(detections.dataset), known, detections.dataset.classes):
        warn(note)
    if others:
        results |= {"other": rest[0], "comparison": detectors.compared()}
    if arguments["standard"] and arguments["max_detections"] is None:
        for result, each in zip([results, results.get("other", {})], both):
            if note := limit_note(result, each, known, **options):
                warn(note)
    writes: list[Callable[[], object]] = [partial(save_results, results, path) for path in save]
    if report is not None:
        drawn = partial(write_report, detections, results, report, known, other=others[0] if others else None)
        shown: dict[str, Any] = {
            "names": names,
            "detectors": detectors,
            "data": _place_text(references),
            "face": in_flags,
        }
        writes.append(partial(drawn, **shown, progress=True, **options))
    if form == "text":
        with_intervals, note = next(iter(detectors.values())), note_of(detectors.done, detectors.settings)
        text = _text(
            results, names, options.get("confidence_level") or LEVEL, with_intervals, note, arguments["percent"]
        )
    else:
        text = as_json(results)
    deliver(text, *writes)
    if report is not None and on_terminal():
        show(f"\nreport: {report / 'index.html'}")


def _text(
    results: Mapping[str, Any], names: Sequence[str], level: float, with_intervals: Summary, note: str, percent: bool
) -> str:
    """The results of one detector, or of two, with a row for each metric and the better detector below.

    A single detector has the intervals of its own summary, if any, and a note on them; with two, those of the
    differences say more.
    """
    alone = {name: value for name, value in results.items() if name != "comparison"}
    shown: dict[str, Any] = {"percent": percent, "width": width(), "colour": has_colour()}
    if "comparison" in results:
        table = comparison_text(results["comparison"], (names[0], names[1]), kinds=results[KINDS], level=level, **shown)
        table = joined(table, noted(note, width=width(), colour=has_colour()), by="\n")
        return joined(summary(alone, digits=DIGITS, **shown), table)
    rates = {key: value for key, value in with_intervals.as_dict().items() if not isinstance(value, Mapping)}
    alone["openset_metrics"] = {**results["openset_metrics"], **rates}
    return joined(summary(alone, digits=DIGITS, **shown), noted(note, width=width(), colour=has_colour()))


def _warn_of_boxes(detections: Detections, known: list[int], options: Mapping[str, Any]) -> None:
    """Warn of a class that is neither in the data set nor "unknown", and of predictions that are left out."""
    seen = labels_of(detections.predictions) - labels_of(detections.dataset.references)
    if unnamed := sorted(seen - {*known, *detections.dataset.classes, options["unknown_class_id"]}):
        warn(
            f"class {unnamed[0]} is predicted, but is neither in the data set nor --unknown-id"
            f" ({options['unknown_class_id']}); it counts as a false known object"
        )
    confidences = np.concatenate([np.zeros(0), *(boxes["scores"] for boxes in detections.predictions)])
    lowest = options.get("conf_threshold", 0.0)
    if negative := np.count_nonzero(confidences < 0):
        numbers = f"{negative:,} of {len(confidences):,} confidences are below 0, such as {confidences.min():g}"
        warn(f"{numbers}: these predictions are left out; a confidence is from 0 to 1")
    elif len(confidences) and confidences.max() < lowest:
        warn(f"all predictions are left out: the highest confidence is {confidences.max():g}, below --conf {lowest:g}")


def _warn_of_names(arguments: Mapping[str, Any], several: Sequence[Detections], options: Mapping[str, Any]) -> None:
    """Warn of classes with two spellings, of one that is unknown by its name, and of predictions that cannot be."""
    classes, words = several[0].dataset.classes, _words(arguments["names"])
    names = read_names(words) if words else {}
    known = [*_words(arguments["known_classes"]), *_words(arguments["previously_known"])]
    aliases = aliases_of(known, classes.values())
    for one in several:
        aliases |= one.aliases
    if aliases:
        warn(spelled_as_one(aliases))
    unknown = [i for i, name in names.items() if means_unknown(name)]
    unknown += [i for i in classes if i == options["unknown_class_id"] and means_unknown(classes[i])]
    if arguments["unknown_class_id"] is None and unknown:
        name = {**classes, **names}[unknown[0]]
        warn(f"class {unknown[0]}, {name!r}, is taken for the unknown class; --unknown-id N sets another")
    if not any(says_unknown(one, options) for one in several):
        warn(CLOSED_SET)


def _places_of_references(arguments: Mapping[str, Any]) -> Sequence[str]:
    """The places of the references. Raises UsageError for arguments that exclude each other."""
    data = [arguments["data"]] if arguments["data"] else []
    references = [*arguments["references"]] or data
    if arguments["max_detections"] is not None and not arguments["standard"]:
        raise click.UsageError("expected no --max-detections with --no-standard, which computes no mAP")
    if arguments["model"] is None:
        if not arguments["predictions"] or not references or (arguments["references"] and data):
            raise click.UsageError("expected --predictions and --references, or --model and --data")
        return references
    data = data or references
    if not arguments["known_classes"]:
        raise click.UsageError("expected --known-classes with --model, got none")
    if len(data) != 1 or Path(data[0]).suffix not in YAML:
        raise click.UsageError("expected --data data.yaml with --model")
    for name in ("predictions", "compare", "images", "image_set", "names", "score_field"):
        if arguments[name]:
            flag, came = name.replace("_", "-"), _place_text(arguments[name])
            raise click.UsageError(f"expected no --{flag} with --model, got {came}")
    return data


def _names(arguments: Mapping[str, Any]) -> Sequence[str]:
    """The names of the detectors, by their places."""
    place = arguments["model"] or _place_text(arguments["predictions"])
    return model_names(place, _place_text(arguments["compare"])) if arguments["compare"] else [place]


def _place_text(places: str | Sequence[str]) -> str:
    """The places of an input in words.

    >>> _place_text("runs"), _place_text(["a.txt", "b.txt", "c.txt"])
    ('runs', 'a.txt and 2 more')
    """
    return some([places] if isinstance(places, str) else places, 1)


def _files_read(arguments: Mapping[str, Any], references: Sequence[str]) -> Iterator[Path]:
    """The input files with the suffix of an output."""
    yield from map(Path, [*_words(arguments["names"]), *filter(None, [arguments["image_set"]])])
    for place in (*arguments["predictions"], *arguments["compare"], *references):
        yield from texts_read(place, arguments["split"] or "val")


def from_files(arguments: Mapping[str, Any], references: Sequence[str]) -> Run:
    """Read the detections of one detector, or of two, from the files in the arguments."""
    names = _words(arguments["names"])
    reading = read_boxes(
        dict(zip(_names(arguments), (arguments[name] for name in ("predictions", "compare") if arguments[name]))),
        references,
        images=arguments["images"],
        split=arguments["split"],
        image_set=arguments["image_set"],
        names=names or None,
        unknown_class_id=arguments["unknown_class_id"],
        one_based=not arguments["voc_from_zero"],
        score_field=arguments["score_field"],
        leave_out=arguments["leave_out"],
    )
    both, classes = [*reading.detections.values()], reading.classes
    unknown_id = next((one.unknown_class_id for one in both if one.unknown_class_id is not None), None)
    options = _options(arguments, classes)
    stated = {name for name, value in options.items() if value is not None}
    guesses = {name: value for name, value in reading.options.items() if name not in stated}
    # the usual id, or a class of such a name, which a warning says: `class_options` takes them by itself
    is_usual = guesses.get("unknown_class_id") in (UNKNOWN_CLASS_ID, *classes)
    if is_usual and "known_classes" in stated:
        del guesses["unknown_class_id"]
    options |= guesses
    if unknown_id is not None:
        options["unknown_class_id"] = None  # it may be another class of the data set
    options = class_options(options, *both)
    known = options.pop("known_classes", None)
    if any(says_unknown(one, options) for one in both):  # the other detector, too, is asked for unknown objects
        both = [one._replace(unknown_class_id=options["unknown_class_id"]) for one in both]

    def tell() -> None:
        say(replace(reading, notes=[]), {*stated, *["unknown_class_id"] * is_usual})
        _warn_of_names(arguments, both, options)
        for note in reading.doubts:
            warn(note)
        if both[0].dataset.relative:
            warn(RELATIVE)
        if arguments["iou"] is not None:
            warn(_IOU_OF_A_MODEL)

    return Run(both, known, options, tell)


def from_model(arguments: Mapping[str, Any], references: Sequence[str]) -> Run:
    """Run a model, by its path, on the images of a data.yaml."""
    (data,) = references
    classes = class_names(read_yaml(Path(data)), Path(data))
    options = _options(arguments, classes)
    known = options.pop("known_classes")
    iou = 0.6 if arguments["iou"] is None else arguments["iou"]
    options.pop("conf_threshold")
    validator = OpenSetValidator(arguments["model"], data, known, conf=arguments["conf"], iou=iou, **options)
    detections, known = validator.detect(arguments["split"] or "val", progress=True)
    tell = partial(_warn_of_names, arguments, [detections], validator.options)
    return Run([detections], known, validator.options, tell)


def _options(arguments: Mapping[str, Any], classes: Mapping[int, str]) -> dict[str, Any]:
    """The options of the metric among the arguments."""
    options: dict[str, Any] = {"unknown_class_id": arguments["unknown_class_id"], "conf_threshold": arguments["conf"]}
    options |= with_class_ids({name: _words(arguments[name]) for name in NAMED if arguments[name]}, classes)
    flags = {**arguments, "unknown_class_id": None, **dict.fromkeys(NAMED)}  # read elsewhere
    more = read_options(OpenSetDetection, arguments["more"], flags)
    for name in ("known_classes", "box_format"):
        if name in more:
            raise click.BadParameter(f"expected other options than {name}, got {more[name]!r}", param_hint="--option")
    options |= more
    threshold = options.get("iou_threshold", OpenSetDetection.iou_threshold)
    if arguments["report"] is not None and isinstance(threshold, (int, float)) and threshold < NEARBY:
        raise click.UsageError(f"--report: expected an --iou-threshold of at least 0.1, got {threshold}")
    return options


def _words(words: Sequence[str]) -> list[str]:
    """The words of a list option, also split at commas."""
    return [word.strip() for part in words for word in part.split(",") if word.strip()]
