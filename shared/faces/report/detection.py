"""The report of detections: numbers, what became of the objects, and the images with the most errors. Needs Pillow."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...answers.answer import Bars, Box, Difference, Image, Matrix, Number
from ...detection.closed_set import closed_set_note
from ...detection.errors import FATES, KEYS_OF_TABLES, MISSED
from ...metric.numbers import percent_text
from ...metric.results import Results
from ...reading.boxes.dataset import Dataset, Detections, class_words
from ...reading.progress import progress_bar
from ...suites.detection import class_options, openset_summary
from ...suites.image_errors import FOUND, OBJECT, OF_NO_OBJECT, DetectionErrors, ErrorBox, detection_errors
from ...written.files import write_file
from ...written.results import KINDS
from . import frame
from .frame import Block, Section, Tile
from .pictures import photograph, picture_of

MOST = 60  # the most boxes to draw; more would hide the image
_CLOSED_SET = closed_set_note("--unknown-id", "--unknown-below")
_HEADLINES = (
    {
        "U-Recall": "of the unknown objects were found and called unknown",
        "U-AP": "average precision of the predictions called unknown",
        "mAP": "mean average precision of the known classes",
    },
    {
        "U-Recall": "of the unknown objects were found and called unknown",
        "WI": "known objects called unknown, for each known object",
        "A-OSE": "errors of any kind, for each object",
    },
)
# what intervals may take to come by themselves, about a second: images, or with average precisions predictions, where
# a class takes as long as 900
_SURE, _CLASS = 20_000, 900
_HINT = "Intervals of so many boxes take a while: add them with --confidence-level 0.95."
_TABLES = ("per_class", "per_image", "errors")
_MISNAMED = ("called another known", "called unknown", "called known")
_ROLES = {
    FOUND: "right",
    "called another known": "wrong",
    "called unknown": "rejected",
    "called known": "unknown",
    "badly placed": "misplaced",
    "both": "both",
    MISSED: "missed",
}
_SIDES = ("unknown", "known")
_MATRIX = 8  # the most rows and columns of the confusion matrix
_DECISIONS = ("right class", "wrong class", "unknown", "badly placed", "missed")
_WORDS = {
    ("unknown", "called known"): "unknown, called known",
    ("known", "called unknown"): "known, called unknown",
    ("known", "called another known"): "known, wrong class",
    ("unknown", "badly placed"): "badly placed",
    ("known", "badly placed"): "badly placed",
    ("unknown", "both"): "badly placed and misnamed",
    ("known", "both"): "badly placed and misnamed",
    ("unknown", MISSED): "unknown, missed",
    ("known", MISSED): "known, missed",
}
_FILTERS = {frame.filter_key(word): word[:1].upper() + word[1:] for word in (*_WORDS.values(), *OF_NO_OBJECT)}
LEGEND = (
    ("unknown", "unknown, called known", ""),
    ("rejected", "known, called unknown", ""),
    ("wrong", "known, wrong class", ""),
    ("misplaced", "badly placed; its object dotted", ""),
    ("missed", "missed", ""),
    ("right", "right", ""),
    ("nothing", "nothing there", ""),
)
_BOX_ROLES = {
    FOUND: "right",
    OBJECT: "object",
    MISSED: "missed",
    "known called another known": "wrong",
    "known called unknown": "rejected",
    "unknown called known": "unknown",
}  # those that begin with "badly" and "both" are misplaced, all other kinds lie on nothing
_LAST = {kind: place for place, kind in enumerate((FOUND, *OF_NO_OBJECT), 1)}  # drawn below the errors on objects
# pixels of a picture and quality of its JPEG, by how many there are at most: a thousand take less than 20 MB
_SIZES = ((60, (512, 82)), (300, (384, 80)))
_SMALLEST = (256, 70)


def write_report(
    detections: Detections,
    results: Results,
    folder: str | Path,
    known_classes: Sequence[int],
    *,
    other: Detections | None = None,
    names: Sequence[str] = ("detector", "other"),
    data: str = "",
    images: int = 24,
    progress: bool = False,
    **options: Any,
) -> Path:
    """Write a report of one HTML file, which holds its pictures.

    detections; results of `evaluate_detections`, with "comparison" for the comparison with another detector
    folder: created if missing; known_classes, ids
    other: the other detector's detections; names of the detectors; data, a description of the data
    images: the largest number of images to draw, those with the most errors
    progress: whether to show a bar on a terminal; options of the metric

    Returns the path of the page, index.html. Raises ValueError for an iou_threshold below 1/10, below which no box is
    badly placed, and OSError for a folder that cannot be created or written to, where an earlier report then stays.
    """
    dataset, page = detections.dataset, Path(folder) / "index.html"
    both = dict(zip(names, filter(None, (detections, other))))
    options = class_options({**options, "known_classes": list(known_classes)}, *both.values())
    labels = class_words(dataset.classes, options["unknown_class_id"])
    errors = {name: detection_errors(one, **options) for name, one in both.items()}
    first = errors[names[0]]
    sections = [
        _fates_section(errors, labels),
        _decisions_section(first),
        _images_section(first, dataset, labels, first.worst(images), progress),
        _examples_section(first, dataset, labels),
        _classes_section(first, labels),
        frame.details(
            {
                "Kinds of errors": _kinds(results["openset_metrics"], first),
                "All columns by class": [_all_of_classes(first, labels)],
                "All numbers, six digits": [_all_numbers(results, names)],
                "Options and versions": [frame.facts({**_options(options), "signature": str(results["signature"])})],
            }
        ),
    ]
    lines = _lines(dataset, options["known_classes"], names[: len(both)], data)
    lines += [] if any(error.says_unknown for error in errors.values()) else [_CLOSED_SET]
    head = _headline(detections, results, names, options)
    html = frame.page_html("Open-set detection", "openworld-metrics detect", lines, head, sections)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_file(page, html)
    return page


def _lines(dataset: Dataset, known_classes: Sequence[int], names: Sequence[str], data: str) -> list[str]:
    """Lines on the evaluated data."""
    counted = [label for boxes in dataset.references for label in boxes["labels"][boxes["ignored"] == 0].tolist()]
    known, classes = sum(label in known_classes for label in counted), len(set(known_classes))
    return [
        *([f"data: {data}"] if data else []),
        " compared with ".join(names),
        f"{len(dataset.names):,} images",
        f"{len(counted):,} objects: {known:,} of {classes} known classes, {len(counted) - known:,} unknown",
    ]


def _headline(detections: Detections, results: Results, names: Sequence[str], options: Mapping[str, Any]) -> Block:
    """Three numbers with intervals, which are computed if results lack them, and the comparison."""
    openset, kinds = results["openset_metrics"], results.get(KINDS, {})
    words = {key: meaning for key, meaning in _HEADLINES["mAP" not in openset].items() if key in openset}
    if not words:
        return frame.headline([])
    wanting = f"{next(iter(words))}_low" not in openset
    hint = _HINT if wanting else ""
    if wanting and _is_small(detections, options):
        hint = "Intervals are of 95 %, from 1,000 resamples of the images."
        plain = {name: value for name, value in options.items() if name not in _TABLES}
        plain |= {"confidence_level": 0.95, "conf_list": None, "recall_level": None, "recall_budgets": ()}
        openset = openset_summary(detections, **plain).as_dict() | openset

    def higher(key: str) -> bool | None:
        way: bool | None = kinds.get(key, {}).get("higher")
        return way

    numbers = [
        Number(key, openset[key], ends_of(openset, key), higher(key), meaning=meaning) for key, meaning in words.items()
    ]
    rows = []
    for row in rows_of(results.get("comparison", {})):
        way = higher(row["key"]) if row["key"] not in KEYS_OF_TABLES else None
        rows.append(difference_of(row, names, way))
    return frame.headline(numbers, names if rows else (), rows, hint=hint)


def _is_small(detections: Detections, options: Mapping[str, Any]) -> bool:
    if options.get("protocol") != "owod":
        return len(detections.predictions) <= _SURE
    predictions = sum(len(boxes["labels"]) for boxes in detections.predictions)
    return predictions + _CLASS * len(options["known_classes"]) <= _SURE


def ends_of(results: Mapping[str, Any], key: str) -> tuple[float, float] | None:
    """The interval of a number of results; None without one."""
    return (results[f"{key}_low"], results[f"{key}_high"]) if results.get(f"{key}_low") is not None else None


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of a table."""
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def difference_of(row: Mapping[str, Any], names: Sequence[str], higher: bool | None) -> Difference:
    """A row of the table of `compare`, with the names of the models."""
    one, other = names[:2]
    return Difference(
        one,
        other,
        row["key"],
        (row["first"], row["second"]),
        row["difference"],
        row["low"],
        row["high"],
        row.get("p_value", 1.0),
        {"first": one, "second": other}.get(row["better"], ""),
        higher,
        row.get("group") or "",
    )


def _fates_section(errors: Mapping[str, DetectionErrors], names: Mapping[int, str]) -> Section:
    """Bars of what known and unknown objects were called, and the known classes that unknown objects were called."""
    first = next(iter(errors.values()))
    cards = [frame.card(*(block for side in _SIDES for block in _bars(errors, side)))]
    if first.confused:
        cards.append(_confusions(first, names))
    return Section("Errors", "Where the objects went", [frame.grid(*cards, columns=len(cards))], _fates_said(first))


def _bars(errors: Mapping[str, DetectionErrors], side: str) -> list[Block]:
    """The bars of all detectors below a title; several bars have names."""
    title, fates = f"{side.capitalize()} objects", [fate for of, fate in FATES if of == side]
    rows = [title] if len(errors) == 1 else list(errors)
    counts = [[one.fates[side, fate] for fate in fates] for one in errors.values()]
    drawn = frame.bars(Bars(title, rows, fates, [_ROLES[fate] for fate in fates], counts), unit="objects")
    return [drawn] if len(errors) == 1 else [frame.text(title, kind="title"), drawn]


def _fates_said(errors: DetectionErrors) -> str:
    """A sentence on the fates of unknown objects."""
    own = {fate: count for (side, fate), count in errors.fates.items() if side == "unknown"}
    total = sum(own.values())
    if not total:
        return "There are no unknown objects."
    words = {
        "called known": "called a known class",
        "badly placed": "badly placed",
        "both": "badly placed and misnamed",
        MISSED: "missed",
    }
    parts = [f"{percent_text(own[fate], total)} {what}" for fate, what in words.items() if own[fate]]
    if not parts:
        return "All unknown objects were found and called unknown."
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    near = " A badly placed box overlaps its object by at least 0.1." if own["badly placed"] + own["both"] else ""
    if not errors.says_unknown:
        return f"Of the unknown objects {listed.replace(' %', ' % were', 1)}.{near}"
    return f"Of the unknown objects {percent_text(own[FOUND], total)} were found, {listed}.{near}"


def _confusions(errors: DetectionErrors, names: Mapping[int, str]) -> Block:
    """The known classes that unknown objects were called, as a matrix or, for many classes, the most frequent pairs."""
    rows, columns = (sorted({pair[place] for pair in errors.confused}) for place in (0, 1))
    title, what = "Called known, as what", "Unknown objects by what they were called"
    note = f"{sum(errors.confused.values()):,} objects"
    called = {label: names.get(label, str(label)) for label in (*rows, *columns)}
    if len(rows) <= _MATRIX and len(columns) <= _MATRIX and len({*called.values()}) == len(called):
        counts = [[errors.confused.get((row, column), 0) for column in columns] for row in rows]
        names_of, heads = ([called[label] for label in labels] for labels in (rows, columns))
        return frame.card(
            frame.matrix(Matrix(what, names_of, heads, counts, shares=False)), title=title, note=f"({note})"
        )
    most = sorted(errors.confused.items(), key=lambda entry: (-entry[1], entry[0]))[:_MATRIX]
    pairs: dict[str, list[Any]] = {
        "unknown object": [called[row] for (row, _), _ in most],
        "called": [called[column] for (_, column), _ in most],
        "objects": [count for _, count in most],
    }
    return frame.card(frame.table(pairs, what), title=title, note=f"(most frequent of {note})")


def _decisions_section(errors: DetectionErrors) -> Section:
    """Counts of objects by decision, and of boxes where nothing is."""
    fates = errors.fates
    both = {side: fates[side, "badly placed"] + fates[side, "both"] for side in _SIDES}
    known: list[int | None] = [fates["known", fate] for fate in (FOUND, "called another known", "called unknown")]
    unknown: list[int | None] = [None, fates["unknown", "called known"], fates["unknown", FOUND]]
    nothing: list[int | None] = [None, *(errors.kinds[kind] for kind in OF_NO_OBJECT[1:]), None, None]
    if not errors.says_unknown:
        known[2] = unknown[2] = nothing[2] = None
    rows = {
        "Known": [*known, both["known"], fates["known", MISSED]],
        "Unknown": [*unknown, both["unknown"], fates["unknown", MISSED]],
        "Nothing there": nothing,
    }
    totals = {row: sum(count or 0 for count in counts) for row, counts in rows.items()}
    notes = [f"{total:,} {'boxes' if row == 'Nothing there' else 'objects'}" for row, total in totals.items()]
    roles = ["unknown", "unknown", "unknown", "misplaced", "missed"]
    right = [(0, 0), (1, 2)]
    cells = [["known" if (i, j) in right else roles[j] for j in range(len(roles))] for i in range(len(rows))]
    drawn = Matrix("Decisions", [*rows], _DECISIONS, [*rows.values()], roles=cells, right=right, notes=notes)
    lead = "Each object once, by what it was called. Framed cells are right; badly placed boxes may be misnamed, too."
    return Section("Decisions", "Decisions", [frame.grid(frame.card(frame.matrix(drawn)), columns=1)], lead)


def _images_section(
    errors: DetectionErrors, dataset: Dataset, names: Mapping[int, str], rows: Sequence[int], progress: bool
) -> Section:
    """The images with the most errors, the worst first, with filters by kind of error."""
    size = next((size for most, size in _SIZES if len(rows) <= most), _SMALLEST)
    shown = []
    for row in progress_bar(rows, unit=" pictures", shown=progress):
        boxes, number = errors.boxes(row), int(errors.errors[row])
        counts = Counter[str]()
        for fate, count in errors.fates_of(row).items():
            if fate in _WORDS:
                counts[_WORDS[fate]] += count
        ordered = {word: counts[word] for word in _WORDS.values() if counts[word]} | errors.false_of(row)
        words = ", ".join(f"{count} {word}" for word, count in ordered.items())
        image = image_with_boxes(dataset, row, boxes, names, words, *size)
        lines = [words]
        if len(image.boxes) < len(boxes):
            lines.append(f"{len(image.boxes)} of {len(boxes):,} boxes are drawn")
        title = f"{dataset.names[row]} · {number} {'error' if number == 1 else 'errors'}"
        shown.append(Tile(title, lines, [picture_of(image)], [frame.filter_key(word) for word in ordered]))
    if not shown:
        return Section("Images", "Images", [frame.text("No image has an error.")])
    fine = int((errors.errors == 0).sum())
    lead = f"The {len(shown)} worst of {len(errors.errors):,}, most errors first"
    lead += f"; {fine:,} without an error." if fine else "."
    blocks = [frame.keys(LEGEND, "line"), frame.tiles(shown, _FILTERS)]
    return Section("Images", "Images with the most errors", blocks, f"{lead} Press one to enlarge it.")


def _examples_section(errors: DetectionErrors, dataset: Dataset, names: Mapping[int, str]) -> Section:
    """The most confident false positive of each kind, and the largest missed object."""
    shown = []
    for kind, row, boxes in errors.examples():
        image = image_with_boxes(dataset, row, boxes, names, kind, *_SIZES[0][1])
        shown.append(Tile(kind, [dataset.names[row]], [picture_of(image)]))
    lead = "The most confident false positive of each kind, and the largest missed object."
    return Section("Examples", "One error of each kind", [frame.tiles(shown)] if shown else [], lead)


def image_with_boxes(
    dataset: Dataset,
    row: int,
    boxes: Sequence[ErrorBox],
    names: Mapping[int, str],
    words: str,
    side: int,
    quality: int = 82,
) -> Image:
    """An image of a data set with its boxes, at most `MOST`.

    names: of classes by id; words, what is wrong; side, of the picture, its longer one, in pixels, and the quality of
        its JPEG. Without a file, the ground is as large as the data set says, or as the boxes reach.
    """
    path, size, source = dataset.paths[row], dataset.sizes[row], ""
    if path is not None:
        source, own = photograph(path, side, quality)
        size = size or own  # the picture is scaled to the size that the data set says, in which boxes lie
    reach = [max([1.0, *(box.box[end] for box in boxes)]) for end in (2, 3)]
    drawn = [_box(box, names) for box in shown_boxes(boxes)]
    return Image(dataset.names[row], size or (round(reach[0]), round(reach[1])), source, drawn, words)


def shown_boxes(boxes: Sequence[ErrorBox]) -> list[ErrorBox]:
    """At most `MOST` boxes: errors on objects first, then right boxes, then boxes on nothing, each as they come."""
    return sorted(boxes, key=lambda box: _LAST.get(box.kind, 0))[:MOST]


def _box(box: ErrorBox, names: Mapping[int, str]) -> Box:
    """A box with its outcome in words.

    >>> _box(ErrorBox((0, 0, 1, 1), "unknown called known", 0, 0.5, 6), {0: "zero", 6: "six"}).outcome
    'called zero (0.50), is six: unknown called known'
    """
    label = names.get(box.label, str(box.label))
    role = "misplaced" if box.kind.startswith(("badly", "both")) else _BOX_ROLES.get(box.kind, "nothing")
    if box.score is None:
        outcome = f"{label}: missed" if box.kind == MISSED else label
    else:
        own = "" if box.true_label is None else f", is {names.get(box.true_label, str(box.true_label))}"
        outcome = f"called {label} ({box.score:.2f}){own}: {box.kind}"
    return Box(box.box, outcome, role, label, box.score is not None)


def _classes_section(errors: DetectionErrors, names: Mapping[int, str]) -> Section:
    """The section by class, with bars of recall and precision; the details have all columns."""
    own = errors.by_class
    columns: dict[str, list[Any]] = {
        "class": [names.get(label, str(label)) for label in own["class"]],
        "objects": own["objects"],
        "recall": own["Recall"],
        "precision": own["Precision"],
        **({"AP": own["AP"]} if "AP" in own else {}),
        "called another class": [sum(row) for row in zip(*(own[fate] for fate in _MISNAMED))],
        "badly placed": [sum(row) for row in zip(own["badly placed"], own["both"])],
        "missed": own["missed"],
        "false boxes": own["FP"],
        "unknown called it": own["unknown objects called it"],
    }
    meters, minor = ("recall", "precision", "AP"), ("AP", "badly placed", "missed", "unknown called it")
    return Section("Classes", "By class", [frame.table(columns, "By class", meters=meters, minor=minor)])


def _kinds(results: Mapping[str, Any], errors: DetectionErrors) -> list[Block]:
    """The kinds of errors with their counts and, if in the results, the gain from correcting each kind."""
    note = (
        "A gain is the effect of correcting one kind alone; gains do not add up. Badly placed or misnamed boxes"
        " become right, other false positives are removed, and missed objects no longer count."
    )
    if "errors" in results:
        own = dict(results["errors"])
        return [frame.table({"error": own.pop("error"), **own}, "Kinds of errors"), frame.text(note)]
    missed = sum(count for (_, fate), count in errors.fates.items() if fate == MISSED)
    kinds = {**errors.kinds, MISSED: missed}
    return [frame.table({"error": [*kinds], "count": [*kinds.values()]}, "Kinds of errors")]


def _all_of_classes(errors: DetectionErrors, names: Mapping[int, str]) -> Block:
    called = [names.get(label, str(label)) for label in errors.by_class["class"]]
    return frame.table({"name": called, **errors.by_class}, "All columns by class")


def _all_numbers(results: Results, names: Sequence[str]) -> Block:
    """Every number of the results with its interval, for one or two detectors."""
    values, others = _numbers(results), _numbers(results.get("other", {}))
    names = frame.names_beside(names, ("key", "difference", "p"))
    columns: dict[str, list[Any]] = {"key": [*values], names[0]: [*values.values()]}
    if others:
        columns[names[1]] = [others.get(key) for key in values]
    if "comparison" in results:
        rows = {row["key"]: row for row in rows_of(results["comparison"])}
        ends = {key: (row["difference"], row["low"], row["high"]) for key, row in rows.items()}
        columns["difference"] = [ends.get(key) for key in values]
        columns["p"] = [rows[key]["p_value"] if key in rows else None for key in values]
    return frame.table(columns, "All numbers", digits=6)


def _numbers(results: Results) -> dict[str, Any]:
    """The numbers of both parts of the results; with an interval, as (value, low, high)."""
    parts = [results.get(part, {}) for part in ("openset_metrics", "standard_metrics")]
    plain = {key: value for part in parts for key, value in part.items() if isinstance(value, (int, float))}
    ends = {f"{key}_{end}" for key in plain for end in ("low", "high")}
    return {
        key: (value, *ends_of(plain, key)) if ends_of(plain, key) is not None else value  # type: ignore[misc]
        for key, value in plain.items()
        if key not in ends
    }


def _options(options: Mapping[str, Any]) -> dict[str, str]:
    """The chosen options of the metric, and the versions of packages."""
    values = {
        name: " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        for name, value in options.items()
    }
    versions = {"openworld-metrics": version("openworld-metrics"), "numpy": np.__version__}
    return {**values, **versions, "Python": platform.python_version()}
