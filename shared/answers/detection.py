"""Answers of openset_detection: fates of objects, confusions, and numbers over the confidence threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..detection.closed_set import closed_set_summary
from ..detection.coco import coco_averages_of_state
from ..detection.errors import MISSED, NEARBY
from ..detection.no_objects import no_objects_notes
from ..detection.openset_detection import OpenSetDetection
from ..detection.outcomes import counts_above
from ..detection.protocols import TENTHS
from ..metric.rounding import percent_text
from ..ranking.thresholds import placement
from ..reading.boxes.classes import CLOSED_SET, is_another_class
from ..reading.boxes.dataset import with_names_in_tables
from ..reading.boxes.reading import BoxReading
from ..reading.reasons import some
from .answer import Bars, Curves, Decisions, Figure, Matrix, Series, Table
from .box_errors import FOUND, BoxErrors, errors_of, images
from .credits import PASTED_DIGITS
from .decisions import THRESHOLD, last_best, spread
from .subject import Computed, Example, Form, Subject, in_words, once

_MOST_CONFUSED, _MOST_MODELS = 10, 4
_PARTS = (  # of bars: the fate of an object, in words, and its role
    ("found", "found", "right"),
    ("called another known", "wrong class", "wrong"),
    ("called unknown", "called unknown", "rejected"),
    ("called known", "called known", "unknown"),
    ("badly placed", "badly placed", "misplaced"),
    ("both", "badly placed and misnamed", "both"),
    ("missed", "missed", "missed"),
)
_SIDES = ("unknown", "known")
CALLED = ("its class", "a wrong known class", "unknown", "badly placed", "missed")


def figures(computed: Computed) -> list[Figure]:
    """A curve over the confidence threshold, bars of the fates of objects, matrices of their names, other curves."""
    errors, over = errors_of(computed), curves(computed)
    counted: list[Figure] = []
    if errors is not None:
        counted = [fates(computed), called(errors, _says_unknown(computed)), *confusions(errors)]
    return [*over[:1], *counted, *over[1:]]  # the threshold moves beside the first


def fates(computed: Computed) -> Bars:
    """Fates of the known and of the unknown objects, of each of at most four models."""
    models = [one for one in computed.all_models if one is computed or len(computed.rivals) < _MOST_MODELS]
    by_model = {one.model: errors for one in models if (errors := errors_of(one)) is not None}
    parts = [
        part for part in _PARTS if any(each.fates.get((side, part[0])) for each in by_model.values() for side in _SIDES)
    ]
    rows = [(side, name) for side in _SIDES for name in by_model]
    return Bars(
        "Where the objects went",
        [f"{side} objects" + (f", {name}" if len(by_model) > 1 else "") for side, name in rows],
        [words for _, words, _ in parts],
        [role for *_, role in parts],
        [[by_model[name].fates.get((side, fate), 0) for fate, *_ in parts] for side, name in rows],
        _said_of_unknown(by_model[computed.model], _says_unknown(computed)),
    )


def _says_unknown(computed: Computed) -> bool:
    """Whether a prediction can be called unknown; `settle` leaves these counts out otherwise."""
    return "TP_unknown" in computed.results


def _said_of_unknown(errors: BoxErrors, says_unknown: bool) -> str:
    """A sentence on the fates of the unknown objects."""
    counts = {fate: count for (side, fate), count in errors.fates.items() if side == "unknown"}
    total = sum(counts.values())
    if not total:
        return "there are no unknown objects"
    if counts[FOUND] == total:
        return "all unknown objects are found"
    words = {
        **({FOUND: "found"} if says_unknown else {}),
        "called known": "called a known class",
        "badly placed": "badly placed",
        "both": "badly placed and misnamed",
        MISSED: "missed",
    }
    parts = [f"{percent_text(counts[fate], total)} {word}" for fate, word in words.items() if counts[fate]]
    near = "; a badly placed box overlaps its object by at least 0.1" if counts["badly placed"] + counts["both"] else ""
    return f"of the unknown objects {', '.join(parts)}{near}"


def called(errors: BoxErrors, says_unknown: bool = True) -> Matrix:
    """Names that objects were called, and that boxes on nothing have; badly placed boxes may be misnamed, too.

    Parameters: errors; whether a prediction can be called unknown.
    """
    of = errors.fates
    both = {side: of[side, "badly placed"] + of[side, "both"] for side in _SIDES}
    nothing = [errors.kinds[f"background called {side}"] for side in ("known", "unknown")]
    known = [of["known", fate] for fate in ("found", "called another known", "called unknown")]
    counts: list[list[int | None]] = [
        [*known, both["known"], of["known", MISSED]],
        [None, of["unknown", "called known"], of["unknown", "found"], both["unknown"], of["unknown", MISSED]],
        [None, *nothing, None, None],
    ]
    for row in counts:
        row[2] = row[2] if says_unknown else None
    right = [(0, 0), (1, 2)]
    return Matrix(
        "What objects were called",
        ["known", "unknown", "nothing there"],
        CALLED,
        counts,
        ("object", "called"),
        roles=[["right" if (i, j) in right else "unknown" for j in range(len(CALLED))] for i in range(3)],
        right=right,
        notes=[*(f"{sum(filter(None, row)):,} objects" for row in counts[:2]), f"{sum(nothing):,} boxes"],
    )


def confusions(errors: BoxErrors) -> list[Matrix]:
    """The known classes that unknown objects were called, of the classes most often involved."""
    if not errors.confused:
        return []
    by_side = [Counter[int](), Counter[int]()]
    for pair, count in errors.confused.items():
        for side, label in zip(by_side, pair):
            side[label] += count
    rows, columns = (sorted(label for label, _ in side.most_common(_MOST_CONFUSED)) for side in by_side)
    counts = [[errors.confused[row, column] for column in columns] for row in rows]
    every, shown = sum(errors.confused.values()), sum(map(sum, counts))
    return [
        Matrix(
            "Called known, as what",
            [*map(errors.name, rows)],
            [*map(errors.name, columns)],
            counts,
            ("object", "called"),
            f"{shown:,} of {every:,} unknown objects called known" if every > shown else f"{every:,} objects",
            shares=False,
        )
    ]


_OVER_CONFIDENCE = ("U-Recall", "WI", "A-OSE")
_NOT_OF_SWEEPS = frozenset({"per_class", "per_image", "errors", "recall_budgets", "confidence_level"})


def _matched_otherwise(computed: Computed) -> str:
    """A note where boxes are matched by IoU in the numbers, but by confidence over thresholds; "" elsewhere."""
    by_iou = computed.options["protocol"] == "ow-dln" and computed.options["matching"] != "confidence"
    return "boxes are matched by confidence here, by IoU in the numbers above" if by_iou else ""


def curves(computed: Computed) -> list[Curves]:
    """U-Recall, WI and A-OSE of each model over the confidence threshold."""
    figures = []
    for name in _OVER_CONFIDENCE:
        series = [
            _over_confidence(one, sweep, sweep.values[name], selected=one is computed)
            for one, sweep in ((one, decisions(one)) for one in computed.all_models)
            if name in sweep.values and len(sweep.ends) > 1
        ]
        if series:
            title = f"{words(name, computed.options)[0] or name} over the confidence threshold"
            axes = ("confidence threshold", name)
            shares, note = (False, name == "U-Recall"), _matched_otherwise(computed)
            figures.append(Curves(title, axes, series, (THRESHOLD, name), shares, steps=True, note=note))
    return figures


def _over_confidence(one: Computed, sweep: Decisions, values: Sequence[float], *, selected: bool) -> Series:
    """A curve from the first threshold, which leaves every box, to the last one, which leaves none."""
    first, last = (float(sweep.thresholds[place]) for place in (0, -1))
    return Series(one.model, one.role, [first, *sweep.ends[:-1], last], [values[0], *values], selected=selected)


@once
def decisions(computed: Computed) -> Decisions:
    """The counts of boxes and objects above each confidence that occurs, or above some, and U-Recall, WI and A-OSE.

    Boxes of "ow-dln" are matched by confidence: matched by IoU, leaving out a box changes the matches of others.
    """
    state: Any = computed.state
    options = {name: value for name, value in computed.options.items() if name not in _NOT_OF_SWEEPS}
    confidence, lowest = state["predictions"][:, 4], options["conf_threshold"]
    every = np.unique(confidence[np.isfinite(confidence) & (confidence >= lowest)])
    typed = computed.typed
    at = spread(len(every) + 1, computed.points) if typed is None else np.searchsorted(every, [typed], side="right")
    ends, below = np.append(every, np.inf)[at].tolist(), np.append(-np.inf, every)[at]
    by = "confidence" if options["protocol"] == "ow-dln" else options["matching"]
    metric = OpenSetDetection(**{**options, "matching": by, "conf_list": ends})
    prepared = metric.prepare(state)
    results = prepared.rates()
    sweep = metric.tables(prepared, results)["sweep"]
    counts = {name: np.asarray(each) for name, each in counts_above(prepared.matched.outcomes, results, ends).items()}
    sides = ["known", "unknown"] if _says_unknown(computed) else ["known"]
    tp, fp, fn = (counts[f"{name}_known"] for name in ("TP", "FP", "FN"))
    counts_all = options["protocol"] == "owod" or options["count_background"]
    called = {"known": "boxes called known", "unknown": f"boxes called unknown{'' if counts_all else ', on objects'}"}
    return Decisions(
        # a number between, whether a box is to reach it or to exceed it
        thresholds=[
            placement(low if typed is None else typed, low, high).text for low, high in zip(below.tolist(), ends)
        ],
        ends=ends,
        counts={f"{name}_{side}": counts[f"{name}_{side}"].tolist() for side in sides for name in ("TP", "FN", "FP")},
        rates={
            # that of unknown is U-Recall
            **({"recall of known": (["TP_known"], ["TP_known", "FN_known"])} if results["total_known"] else {}),
            **{f"precision of {side}": ([f"TP_{side}"], [f"TP_{side}", f"FP_{side}"]) for side in sides},
        },
        table={
            **{f"{side} objects": {"found": f"TP_{side}", "not found": f"FN_{side}"} for side in sides},
            **{called[side]: {"right": f"TP_{side}", "wrong": f"FP_{side}"} for side in sides},
        },
        presets={"every box": 0, "best F1 of known objects": last_best(2 * tp / np.maximum(2 * tp + fp + fn, 1))},
        rule="boxes of confidence >",
        values={
            name: [*map(float, column)]
            for name, column in sweep.items()
            if name in _OVER_CONFIDENCE and name in computed.results
        },
        shares=["U-Recall"],
        roles={row: "right" for side in sides for row in (f"{side} objects", called[side])},
        note=_matched_otherwise(computed),
        possible=len(every) + 1 if len(at) <= len(every) else 0,
    )


def tables(computed: Computed) -> list[Table]:
    """Tables by class, of the kinds of errors, and others in the results, with the names of images and classes."""
    reading, results = computed.reading, dict(computed.results)
    errors = errors_of(computed)
    if errors is not None:
        missed = sum(count for (_, fate), count in errors.fates.items() if fate == MISSED)
        kinds = {**errors.kinds, MISSED: missed}
        if not _says_unknown(computed):  # the last class is unknown
            kinds = {kind: count for kind, count in kinds.items() if not kind.endswith("called unknown")}
        of_errors = {"error": [*kinds], "count": [*kinds.values()]}
        results = {"per_class": by_class(errors, _says_unknown(computed)), "errors": of_errors, **results}
    of = SimpleNamespace(names=reading.images, classes=reading.classes, sizes=reading.sizes)
    named = with_names_in_tables(results, of, computed.options)
    titles = {"per_class": "Classes", "errors": "Kinds of errors", "sweep": "Confidences", "per_image": "Images"}
    shown = [Table(title, named[key], _SHARES) for key, title in titles.items() if key in named]
    by_recall = results.get("WI(OWOD)", ())
    recalls = {"recall": [tenths / 10 for tenths in TENTHS], "WI(OWOD)": by_recall}
    return [*shown, *([Table("WI(OWOD) by recall", recalls)] if by_recall else [])]


_SHARES = ("Precision", "Recall", "AP", "U-Recall")


def by_class(errors: BoxErrors, says_unknown: bool = True) -> dict[str, list[Any]]:
    """The table by class, with fates; whether a prediction can be called unknown: else no row or column is of that."""
    if says_unknown:
        return errors.by_class
    return {name: column[:-1] for name, column in errors.by_class.items() if name != "called unknown"}


def data(computed: Computed) -> str:
    """The number of images, and of objects of known and of unknown classes, in words."""
    results = computed.results
    images = len(computed.state["num_references"])
    known, unknown = (int(results[f"total_{side}"]) for side in ("known", "unknown"))
    return f"{images:,} images, {known + unknown:,} objects: {known:,} known, {unknown:,} unknown"


def notes(computed: Computed) -> list[str]:
    """Sentences on rates that are left out since there are no objects, and on an IoU at which there are no fates."""
    state, known = computed.state, computed.options["known_classes"]
    notes = no_objects_notes(state["references"][:, 4], state["ignored"], known, computed.reading.classes)
    groups = computed.summary.groups or {}
    for side in ("known", "unknown"):
        without = [name for name, row in groups.items() if not row.get(f"total_{side}", 1)]
        if 0 < len(without) < len(groups):
            notes.append(
                f"groups without {side} objects: {some(without)}; they have no rates of {side} objects, which have no"
                ' mean; groups_without="skip" averages over the other groups'
            )
    if computed.options["iou_threshold"] < NEARBY:
        notes.append("boxes that overlap by less than 0.1 are not called badly placed: at this IoU there are no fates")
    return notes


def beside(computed: Computed) -> Mapping[str, float]:
    """COCO's averages of the known classes, without boxes that are called unknown by their confidence."""
    state: Any = computed.state
    options = computed.options
    lowest = max(options["conf_threshold"], options["unknown_below"] or 0.0)
    return coco_averages_of_state(state, options["known_classes"], conf_threshold=lowest) if state else {}


def settle(models: Mapping[str, Computed]) -> tuple[Mapping[str, Computed], str]:
    """The models without the results that need a prediction called unknown, if there is none, and the reason."""
    first = next(iter(models.values()))
    metric = OpenSetDetection(**first.options)
    unknown = metric.unknown_class_id
    labels = (one.state["predictions"][:, 5] for one in models.values())
    is_stated = is_another_class(unknown, first.reading.classes) or (
        isinstance(first.reading, BoxReading)
        and any(one.unknown_class_id is not None for one in first.reading.detections.values())
    )
    if metric.unknown_below is not None or is_stated or any((predicted == unknown).any() for predicted in labels):
        return models, ""
    of = partial(closed_set_summary, metric=metric)
    settled = {
        name: replace(one, summary=of(one.summary), pooled=None if one.pooled is None else of(one.pooled))
        for name, one in models.items()
    }
    return settled, CLOSED_SET


def more_costs(state: Mapping[str, Any], options: Mapping[str, Any]) -> Mapping[str, int]:
    """The steps of matching the boxes of each image, and of each class."""
    pairs = int(np.sum(state["num_predictions"] * state["num_references"]))
    classes = len(np.unique(state["predictions"][:, 5])) + len(options["known_classes"] or ())
    return {
        f"{pairs:,} pairs of a prediction and an object of its image": 250 * pairs,
        f"{classes:,} known and predicted classes": 100_000 * classes,
    }


def more_numbers(state: Mapping[str, Any], options: Mapping[str, Any]) -> int:
    """The numbers of each class that a resample of owod computes for its means; matching is not done again."""
    return 6 * len(options["known_classes"] or ()) if options["protocol"] == "owod" else 0


_OF_ALL = {
    r"fate\((\w+), (.+)\)": ("{0} objects {1}", "share of the {0} objects that are {1}"),
    r"Δ(.+?)\((.+)\)": ("", "gain of {0} if the error “{1}” were corrected"),
    r"AR@(\d+)": ("", "average recall of objects with {0} predictions in each image"),
    "U-Recall": ("", "share of the unknown objects that are found and called unknown"),
    "mAP50": ("mAP 50", "average precision of the known classes by COCO, at an IoU of 0.5"),
    "mAP50-95": ("mAP 50–95", "the same, averaged over IoUs of 0.5, 0.55, … 0.95"),
    "precision": ("Precision, COCO", "of the known classes, at the confidence of the highest F1"),
    "recall": ("Recall, COCO", "of the known classes, at the same confidence"),
}
_OF_PROTOCOL = {
    "ow-dln": {
        "WI": (
            "WI (OW-DLN)",
            'known objects called unknown, for each known object; papers\' WI is that of protocol "owod"',
        ),
        "A-OSE": ("A-OSE (OW-DLN)", 'errors of any kind, for each object; papers\' A-OSE is that of protocol "owod"'),
        r"Precision\(Known\)": ("Precision, known", "share of the predictions of known classes that are right"),
        r"Recall\(Known\)": ("Recall, known", "share of the known objects that are found"),
    },
    "owod": {
        "WI": ("WI (OWOD)", "how much unknown objects lower the precision of the known classes"),
        r"WI\(OWOD\)@(.+)": (
            "WI at recall {0} (OWOD)",
            "share of the predictions of known classes that lie on unknown objects, at this recall",
        ),
        "A-OSE": ("A-OSE (OWOD)", "unknown objects called known, as papers count them"),
        r"A-OSE\(detections\)": ("A-OSE, predictions (OWOD)", "predictions of known classes on unknown objects"),
        "U-AP": ("", "average precision of unknown"),
        "mAP": ("", "mean average precision of the known classes, as Pascal VOC"),
        r"mAP\(previously known\)": ("", "the same over the classes of earlier tasks"),
        r"mAP\(newly known\)": ("", "the same over the new classes"),
        r"Precision\(U\)": ("Precision, unknown", "share of the predictions called unknown that are right"),
        "U-F1": ("", "F1 of unknown"),
        r"Precision\(K\)": ("Precision, known", "precision, mean over the known classes"),
        r"Recall\(K\)": ("Recall, known", "recall, mean over the known classes"),
    },
}
_FATES = {"both": "badly placed and misnamed", "called another known": "called another known class"}


def words(key: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """The title and the meaning of a key, by the protocol; "" where its name says enough.

    >>> words("Recall(K)", {"protocol": "owod"})
    ('Recall, known', 'recall, mean over the known classes')
    >>> words("fate(unknown, both)", {"protocol": "owod"})[0]
    'Unknown objects badly placed and misnamed'
    """
    for fate, in_full in _FATES.items():
        key = key.replace(f", {fate})", f", {in_full})")
    title, meaning = in_words({**_OF_ALL, **_OF_PROTOCOL[options["protocol"]]}, key)
    is_name = title[1:2].isupper()  # as in mAP
    return title if is_name else f"{title[:1].upper()}{title[1:]}", meaning


SUBJECT = Subject(
    metric=OpenSetDetection,
    question="Are known objects found, and unknown objects called unknown?",
    leading=("U-Recall", "U-AP", "mAP", "WI", "A-OSE", r"Recall\(Known\)", r"Precision\(Known\)"),
    example=Example(
        "Pasted digits, 6 to 9 unknown",
        ("predictions.zip", "references.zip"),
        PASTED_DIGITS,
        # each of its images has unknown objects, so protocol "owod" has no WI
        {"known_classes": (0, 1, 2, 3, 4, 5), "unknown_class_id": 999, "recall_level": None},
        "photographs.zip",
    ),
    form=Form(
        "predicted and true boxes",
        ("known_classes", "unknown_class_id", "protocol"),
        ("Predicted boxes", "True boxes"),
        ((".txt", ".json"), (".txt", ".json", ".xml", ".yaml", ".yml")),
        {"groups": ("Folders of images are groups", True)},
        have={"boxes": ""},
        place=4,
    ),
    data=data,
    sections={
        "Rates": r"(U-|m)?(AP|AR@|Recall|Precision|A-OSE|WI|F1).*",
        "Errors": r"(Δ|fate\().*",
        "Counts": r"(TP|FP|FN|total)_.*",
    },
    words=words,
    beside=beside,
    figures=figures,
    decisions=decisions,
    images=images,
    tables=tables,
    notes=notes,
    settle=settle,
    more_costs=more_costs,
    more_numbers=more_numbers,
    noun="detector",
    method=lambda options: "" if options["protocol"] == "owod" else " by OW-DLN's definitions, not those of papers",
    cites=lambda options: options["protocol"] == "owod",  # WI and A-OSE of OW-DLN are in no paper that is cited
    images_are_rows=True,
)
SUBJECTS = {SUBJECT.name: SUBJECT}
