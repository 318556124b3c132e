"""Evaluate detections, and write the results as text or JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..comparison import compare
from ..detection.closed_set import closed_set_comparison, closed_set_summary
from ..detection.errors import KEYS_OF_TABLES
from ..detection.openset_detection import OpenSetDetection
from ..metric.numbers import number_text
from ..metric.results import Rate, Summary, kind_of
from ..reading.boxes.dataset import Detections, check_options, labels_of, one_id_each, unknown_id, with_names_in_tables
from ..reading.progress import progress_bar
from ..written.aligned import Paint, aligned, plain, quiet, strong
from ..written.atomic import write_file
from ..written.flat import KINDS
from ..written.results import as_json, shares
from .comparison_text import comparison_text
from .standard import COCO_LIMIT, standard_metrics

BATCH = 64  # images
DEFAULT_CONF = 0.001  # of a detector that is run here: predictions with a lower confidence are left out
Results = dict[str, Any]  # of sections, and what files hold in words
Summarise = Callable[[OpenSetDetection], Summary]

_MEANINGS = {
    "U-Recall": "unknown objects called unknown; higher is better",
    "WI": "known objects called unknown; lower is better",
    "A-OSE": "all errors over all objects; lower is better",
    "Precision(Known)": "higher is better",
    "Recall(Known)": "higher is better",
}
_MEANINGS_OWOD = {
    "WI": "precision without unknown objects over that with them, minus 1; lower is better",
    "WI(OWOD)@0.8": "share of known-class predictions that lie on unknown objects; lower is better",
    "A-OSE": "unknown objects called known; lower is better",
    "A-OSE(detections)": "predictions of known classes on unknown objects; lower is better",
    "U-Recall": "unknown objects called unknown; higher is better",
    "U-AP": "average precision of unknown; higher is better",
    "mAP": "mean average precision, as Pascal VOC; higher is better",
    "Precision(U)": "of predictions called unknown; higher is better",
    "U-F1": "of unknown; higher is better",
    "Precision(K)": "mean over the known classes; higher is better",
    "Recall(K)": "mean over the known classes; higher is better",
}
_MEANINGS_STANDARD = {
    "mAP50": "average precision at 101 recalls, IoU 0.5; higher is better",
    "mAP50-95": "average precision, averaged over IoU 0.5 to 0.95; higher is better",
    "precision": "at IoU 0.5 and the confidence of the highest mean F1; higher is better",
    "recall": "at the same confidence; higher is better",
}
_SHARES = {"Precision", "Recall", "AP", "share", "ΔmAP", "ΔU-AP", "ΔU-Recall"}  # among the columns of tables
LEFT_OUT = "left_out"  # the key of the census, in words
_TITLES = {"standard_metrics": "Standard metrics (known classes)", "openset_metrics": "Open-set metrics"}


def evaluate_detections(
    detections: Detections,
    known_classes: Sequence[int],
    *,
    standard: bool = True,
    max_detections: int | None = None,
    progress: bool = False,
    summarise: Summarise = OpenSetDetection.summary,
    **options: Any,
) -> Results:
    """Compute the open-set metrics of detections, and the standard metrics.

    Parameters: detections, as a reader gives them; known_classes, ids, all others are unknown; standard, whether to
    compute the standard metrics, and max_detections, their limit; progress, whether to show a bar on a terminal;
    summarise, the function that summarises the metric with its images; options of the metric openset_detection, such as
    iou_threshold, conf_threshold or protocol, and unknown_class_id, by default that of a class whose name means it.

    Returns "openset_metrics", the results of openset_detection, without those that need a prediction called unknown if
    none can be (see `closed_set_summary`), "standard_metrics", the results of `standard_metrics`, and "kinds", the kind
    of each key (see `Summary.kinds`). Raises TypeError and ValueError as the metric does.
    """
    options = class_options({**options, "known_classes": list(known_classes)}, detections)
    openset = openset_summary(detections, progress=progress, summarise=summarise, **options)
    results = {
        "openset_metrics": with_names_in_tables(openset.as_dict(), detections.dataset, options),
        **openset.record(),
    }
    if not standard:
        return results
    closed = _closed_set(detections, options["known_classes"], options, max_detections)
    kinds = {key: kind_of(Rate(value, True)) for key, value in closed.items() if isinstance(value, float)}
    return {"standard_metrics": closed, **results, KINDS: {**kinds, **results[KINDS]}}


def _closed_set(
    detections: Detections, known_classes: Sequence[int], options: Mapping[str, Any], max_detections: int | None
) -> dict[str, float]:
    # of known classes, what is below either threshold is left out, or called unknown, which is left out
    lowest = max(options.get("conf_threshold", 0.0), options.get("unknown_below") or 0.0)
    return standard_metrics(detections, known_classes, conf_threshold=lowest, max_detections=max_detections)


def limit_note(results: Results, detections: Detections, known_classes: Sequence[int], **options: Any) -> str:
    """A sentence where COCO's limit would change the standard metrics, computed without one; "" where it would not.

    Parameters: results of `evaluate_detections`, and its other arguments.
    """
    numbers = (np.unique(boxes["labels"], return_counts=True)[1] for boxes in detections.predictions)
    if all(number.max(initial=0) <= COCO_LIMIT for number in numbers):
        return ""
    limited = _closed_set(detections, known_classes, options, COCO_LIMIT)
    texts = {
        name: [number_text(values[name], 6) for values in (results["standard_metrics"], limited)] for name in limited
    }
    changed = [f"{name} {theirs} instead of {ours}" for name, (ours, theirs) in texts.items() if ours != theirs]
    limit = f"COCO counts {COCO_LIMIT} predictions of a class in an image (--max-detections {COCO_LIMIT})"
    return f"{limit}, which gives {', '.join(changed)}" if changed else ""


def openset_metrics(detections: Detections, *, progress: bool = False, **options: Any) -> dict[str, Any]:
    """Compute the metric openset_detection, a few images at a time.

    Parameters: detections, as a reader gives them; progress, whether to show a bar on a terminal; options of the
    metric. Returns its results, with a column "name" in tables of classes that have names and of images, and columns
    "width" and "height" of images where all sizes are known; raises TypeError and ValueError as it does.
    """
    options = class_options(options, detections)
    return with_names_in_tables(
        openset_summary(detections, progress=progress, **options).as_dict(), detections.dataset, options
    )


def openset_summary(
    detections: Detections,
    *,
    progress: bool = False,
    summarise: Summarise = OpenSetDetection.summary,
    **options: Any,
) -> Summary:
    """The `Summary` of `openset_metrics`, without names and sizes."""
    check_options(options, detections.dataset)
    options = class_options(options, detections)
    metric = OpenSetDetection(**options)
    true, predicted = detections.dataset.references, detections.predictions
    with progress_bar(total=len(true), unit=" images", shown=progress) as bar:
        for start in range(0, len(true), BATCH):
            part = slice(start, start + BATCH)
            metric.add_batch(predictions=predicted[part], references=true[part])
            bar.update(len(true[part]))
    summary = summarise(metric)
    return summary if says_unknown(detections, options) else closed_set_summary(summary, metric)


def compare_detections(
    first: Detections,
    second: Detections,
    known_classes: Sequence[int],
    *,
    confidence_level: float | None = None,
    **options: Any,
) -> dict[str, list[Any]]:
    """Compare two detectors on the same images: see `openworld_metrics.compare`, which returns a table of this form.

    Parameters: first and second, detections on one data set; known_classes, ids; confidence_level, by default that of
    `compare`; options of openset_detection, with n_resamples and random_state. Raises ValueError for other images or
    objects.
    """
    if first.dataset.names != second.dataset.names:
        raise ValueError("first, second: expected detections on the same images, got others")
    if first.dataset.classes != second.dataset.classes:
        raise ValueError("first, second: expected classes of the same ids and names, got others")
    drawn: dict[str, Any] = {name: options.pop(name) for name in ("n_resamples", "random_state") if name in options}
    drawn |= {} if confidence_level is None else {"confidence_level": confidence_level}
    options = class_options({**options, "known_classes": list(known_classes)}, first, second)
    metric = OpenSetDetection(**options)
    one, other = (
        {"predictions": detector.predictions, "references": detector.dataset.references} for detector in (first, second)
    )
    table = compare(metric, one, other, **drawn)
    openset = says_unknown(first, options) or says_unknown(second, options)
    return table if openset else closed_set_comparison(table, metric)


def class_options(options: Mapping[str, Any], *detections: Detections) -> dict[str, Any]:
    """Options of the metric with the id of boxes called unknown, and one id for each known class.

    Parameters: options, where unknown_class_id may be missing or None; it is then the id of `Detections`, or as of
    `unknown_id`; detections on one data set. Raises ValueError if options state another id than that of the detections,
    and if a known class is unknown by its name.
    """
    classes, stated = detections[0].dataset.classes, options.get("unknown_class_id")
    new = {one.unknown_class_id for one in detections if one.unknown_class_id is not None}
    if len(new) > 1:
        raise ValueError("first, second: expected boxes called unknown to have one id, got two")
    if new and stated is not None and stated not in new:
        expected, name = min(new), classes.get(stated, "another")
        raise ValueError(
            f"unknown_class_id: expected {expected}, as of the detections, got {stated}, which is class {name!r}"
        )
    own = min(new, default=stated)
    if own is None:
        own = unknown_id(classes, predicted_classes(*detections))
    first = one_id_each(classes)
    named = [name for name in ("known_classes", "previously_known") if first and options.get(name) is not None]
    ids = {name: [*dict.fromkeys(first.get(i, i) for i in options[name])] for name in named}
    options = {**options, "unknown_class_id": own, **ids}
    if stated is None and own in classes and own in (options.get("known_classes") or ()):
        raise ValueError(
            f"known_classes: expected them without class {own}, since its name, {classes[own]!r}, means unknown; if it"
            " is a known class, state which is the unknown one with unknown_class_id, the command's --unknown-id"
        )
    return options


def says_unknown(detections: Detections, options: Mapping[str, Any]) -> bool:
    """Whether predictions can be unknown: by their class, by a class that is listed, or by a low confidence."""
    unknown = options["unknown_class_id"]
    listed = detections.unknown_class_id is not None or unknown in detections.dataset.classes
    return options.get("unknown_below") is not None or listed or unknown in predicted_classes(detections)


def predicted_classes(*detections: Detections) -> set[int]:
    """The class ids that occur among the predictions of one detector or of several."""
    return labels_of(boxes for one in detections for boxes in one.predictions)


def summary(
    results: Results,
    percent: bool = False,
    *,
    paint: Paint = plain,
    digits: int = 6,
) -> str:
    """The results as text: sections for the standard metrics, the open-set metrics and a comparison.

    With `percent`, rates are in percent, except in a comparison. `paint` colours titles, intervals and meanings;
    `digits` are those of rates that are not in percent.
    """
    parts = []
    in_percent = shares(results) | _SHARES if percent else frozenset()
    for section, values in ((section, results[section]) for section in _TITLES if section in results):
        rows = {key: value for key, value in values.items() if not isinstance(value, Mapping)}
        if not any(f"{key}_low" in rows for key in KEYS_OF_TABLES):  # which the tables do not hold
            rows = {key: value for key, value in rows.items() if key not in KEYS_OF_TABLES}
        tables = {key: value for key, value in values.items() if isinstance(value, Mapping)}
        ends = {f"{key}_{end}" for key in rows for end in ("low", "high") if f"{key}_low" in rows}
        meanings = _MEANINGS_STANDARD | (_MEANINGS_OWOD if "mAP" in rows else _MEANINGS)
        lines = [
            [key, *_with_ends(rows, key, key in in_percent, digits), quiet(meanings.get(key, ""))]
            for key in rows
            if key not in ends
        ]
        title = _TITLES[section]
        parts.append(
            f"{paint(title, 'strong')}\n{paint('-' * len(title), 'quiet')}\n{aligned(lines, (0, 1, 2, 3), paint=paint)}"
        )
        parts += [paint(f"{key}\n{_table(value, in_percent, digits)}", "") for key, value in tables.items()]
    if LEFT_OUT in results:
        parts.append(f"Left out: {results[LEFT_OUT]}")
    if "comparison" in results:
        parts.append(f"Two detectors on the same images\n\n{comparison_text(results['comparison'])}")
    return "\n\n".join(parts)


def save_results(results: Results, path: str | Path) -> None:
    """Write results to a file, whole or not at all: JSON to a .json, the `summary` to a .txt.

    Raises ValueError for another suffix, OSError for a file that cannot be written.
    """
    path = Path(path)
    check_ending(path)
    text = as_json(results, indent=2) if path.suffix == ".json" else summary(results)
    write_file(path, f"{text}\n")


def check_ending(path: Path) -> None:
    """Raise ValueError for a file that is neither .txt nor .json."""
    if path.suffix not in (".json", ".txt"):
        raise ValueError(f"{path}: expected a file ending in .txt or .json")


def _with_ends(rows: Mapping[str, Any], key: str, percent: bool, digits: int) -> tuple[str, str]:
    """The text of a value and of its interval, "" if there is none."""
    ends = [rows[f"{key}_{end}"] for end in ("low", "high") if f"{key}_low" in rows]
    return strong(_text(rows[key], percent, digits)), quiet(f"[{_text(ends, percent, digits)}]" if ends else "")


def _table(columns: Mapping[str, Sequence[Any]], in_percent: Collection[str], digits: int) -> str:
    cells = [[key, *(_text(value, key in in_percent, digits) for value in values)] for key, values in columns.items()]
    return aligned([*zip(*cells)], left=())


def _text(value: Any, percent: bool, digits: int) -> str:
    return number_text(value, None if percent else digits, percent=percent)
