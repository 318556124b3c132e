"""The words of a page for options and columns, from the field; the names of arguments come second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...answers.models import plural
from ...answers.subject import subject_of
from ...metric.clusters import CLUSTERS
from ...metric.groups import GROUPS
from ...reading.columns.cells import are_blank, noun_of, number_of, runs
from ...reading.columns.guesses import table_of
from ...reading.columns.kinds import FLIPPED, Classes, Column, Images, Qualities, Scores, TrueClasses
from ...reading.columns.labels import Labels
from ...reading.columns.metrics import MODELS
from ...reading.places import unsigned
from ...reading.rows.rows import Rows
from ...reading.sides import side_of_name
from ...reading.tables.files import Table

_FEW = 6  # values that are named
# of each option, its label and its help
OPTIONS: Mapping[str, tuple[str, str]] = {
    "average": ("Average", "Over all samples (micro), or over the classes that occur (macro)."),
    "average_precision": (
        "Average precision",
        "From all points of the curve, or 11 recalls as in Pascal VOC 2007.",
    ),
    "box_format": ("Boxes are", "Two corners (xyxy), a corner and a size (xywh), or a centre and a size (cxcywh)."),
    "budget": ("Predictions that use up a budget", "On anything but known objects (unknown), or all of them."),
    "components": ("Found components", "Adds sIoU, PPV and F1 of the components above the threshold of pixels."),
    "conf_list": ("Confidences of a sweep", "Thresholds at which U-Recall, WI and A-OSE are listed."),
    "conf_threshold": ("Least confidence", "Predictions with a lower confidence are dropped."),
    "confidence_level": ("Interval", "Its level, such as 0.95; by itself where that takes a few seconds."),
    "cost_false_alarm": ("Cost of a false alarm", "In detection costs."),
    "cost_miss": ("Cost of a miss", "In detection costs."),
    "count_background": ("Count boxes on nothing", "Boxes called unknown that lie on no object are wrong, too."),
    "decisions": ("Numbers of decisions", "Adds accuracy and HOS among the known classes and unknown."),
    "errors": ("Kinds of errors", "Adds what became of each object, and the gain from fixing each kind of error."),
    "fpr_list": ("Unknown samples accepted, at most", "Shares at which correct classifications are reported."),
    "ignore_unknown": ("Leave out unknown samples", "Their class is negative, or the word unknown."),
    "ignore_value": ("Value to leave out", "Samples with this label, or pixels with it in masks, such as 255."),
    "image_reduction": ("Score of an image", "The highest score of its map, the mean, or the mean of the k highest."),
    "image_threshold": ("Threshold of images", "Adds F1, precision and recall of images that score above it."),
    "in_value": ("In-distribution is", "The label of in-distribution samples."),
    "out_value": ("OOD is", "The label of OOD samples; of several kinds, rest stands for all others."),
    "integration_limits": ("Area up to these false-positive rates", "The limits of AUPRO."),
    "iou_threshold": ("Boxes match from", "The least overlap (IoU) of a prediction and its object."),
    "k_list": ("Values of k", "How many guesses of a sample count."),
    "known_classes": ("Known classes", "The classes that the detector was trained on, by name or id."),
    "levels": ("Judge images, pixels, or both", "What is reported."),
    "matching": ("Match first", "The highest overlap (iou), or the highest confidence."),
    "metrics": ("Numbers", "What is computed, in this order; names of scikit-learn's metrics, too."),
    "min_object": ("Least defect", "Smaller objects of a mask, in pixels, are left out."),
    "min_predicted": ("Least found component", "Smaller ones, in pixels, are erased."),
    "num_classes": ("Number of known classes", "Where some of them never occur."),
    "num_thresholds": ("Sampled thresholds of AUPRO", "For the numbers of PyADMetric, which takes 99."),
    "ood_cost": ("Cost of an unknown sample", "When it is accepted; a wrong class costs the rest of 1."),
    "per_class": ("Table of classes", "Adds the numbers of each class."),
    "per_image": ("Table of images", "Adds the numbers of each image."),
    "pimo_bounds": ("Bounds of AUPIMO", "Two false-positive rates, such as 1e-5, 1e-4."),
    "pixel_threshold": ("Threshold of pixels", "Adds F1, precision and recall of pixels that score above it."),
    "plus_one": ("Boxes include their last pixel", "Widths and heights are 1 more, as in VOC's code."),
    "points": ("Operating points", "Such as fpr95tpr: the lowest FPR where 95 % are found."),
    "positive": ("Positive side", "The OOD samples (out) or the in-distribution ones (in)."),
    "previously_known": ("Classes of earlier tasks", "Splits mAP into earlier and new classes."),
    "protocol": ("WI and A-OSE as in", "OW-DLN's definitions, or those of papers on open-world detection (owod)."),
    "recall_budgets": ("Predictions of an image, at most", "For the average recall of unknown objects."),
    "recall_level": ("WI at a recall of", "Of known objects, for papers' WI (owod); none leaves WI out."),
    "risk_metrics": ("Risk of accepted samples", "Areas, risks and coverages of the lowest scores."),
    "roc_metrics": ("Numbers of the ROC curve", "Of unknown against known samples."),
    "step": ("Every … score", "For the numbers of oodeel, which takes every 4th."),
    "t_list": ("Thresholds", "At which F is listed, in place of the best one."),
    "threshold": ("Threshold", "A sample is unknown if it scores above; adds the numbers of these decisions."),
    "thresholds": ("List thresholds", "Adds the threshold of each operating point."),
    "ties": ("Equal scores", "Count as wrong (strict), as right (optimistic), or by chance (expected)."),
    "tpr": ("Unknown samples rejected, at least", "The share at the operating point."),
    "unknown_below": ("Unknown below", "Predictions of known classes with a lower confidence count as unknown."),
    "unknown_class_id": ("Unknown is", "The id of the class of predictions called unknown."),
    "unknown_share": ("Share of unknown samples", "In risks, as if they were this share of all samples."),
}


def words_of_option(name: str) -> tuple[str, str]:
    """The label and the help of an option; a new one has its name and no help.

    >>> words_of_option("ignore_value")[0], words_of_option("my_option")
    ('Value to leave out', ('My option', ''))
    """
    return OPTIONS.get(name) or (name.replace("_", " ").capitalize(), "")


def label_of(metric: str, column: Column) -> str:
    """The content of a column of a metric, as the label of its choice.

    >>> from openworld_metrics.reading.columns.metrics import layout_of
    >>> [label_of("ood_bench", column) for column in layout_of("ood_bench").columns[:2]]
    ['Score', 'Truth']
    """
    if column.part_of:
        return column.name[:1].upper() + column.name[1:].replace("_", " ")
    named = {
        GROUPS: plural(subject_of(metric).group),
        CLUSTERS: "clusters, of rows that depend on each other",
        MODELS: f"{subject_of(metric).noun} of each row",
        "counts": "number of equal rows",
        "image_scores": "score of each image",
        "image_labels": "truth of each image",
        "samples": "names of the images",
    }
    words = named.get(column.name) or _word(metric, column)
    return words[:1].upper() + words[1:]


def _word(metric: str, column: Column) -> str:
    """The noun of a column."""
    if isinstance(column, Images):
        return subject_of(metric).form.inputs[column.source].lower()
    kinds = {
        Scores: "score",
        Labels: "truth",
        TrueClasses: "true class",
        Classes: "predicted class, or scores of classes",
        Qualities: "quality of each answer",
    }
    return next((words for kind, words in kinds.items() if isinstance(column, kind)), column.name)


def roles_of(metric: str, rows: Rows) -> dict[str, list[str]]:
    """The use of each array in words, by its name; arrays of one role have the same words."""
    roles: dict[str, list[str]] = {}
    for column in rows.layout.columns:
        every = rows.made_of.get(column.name, ())
        table = table_of(column, every or None, rows.tables)
        turned = [name for name in every if name not in table.arrays and name[:1] == FLIPPED]
        for names in filter(None, ([name for name in every if name not in turned], turned)):
            several = len(column.by_model(every, table)) if every else 1
            words, numbered = _role(metric, column, names, table, several), runs(table)
            for name in names:
                plain = name if name in table.arrays else unsigned(name).partition("[:,")[0]
                for member in numbered.get(plain, [plain]):
                    roles.setdefault(member, []).append(words)
    return roles


def _role(metric: str, column: Column, names: Sequence[str], table: Table, several: int) -> str:
    """A role, such as "score of 3 detectors" or "truth: ood 709, id 1,291", of arrays that are all turned, or none.

    several: of how many models the column is
    """
    noun = subject_of(metric).noun
    of = f" of {several} {plural(noun)}" if several > 1 else ""
    is_turned = names[0] not in table.arrays and names[0][:1] == FLIPPED
    if column.part_of or isinstance(column, (Images, Qualities)):
        return label_of(metric, column).lower() + of
    if isinstance(column, Scores):
        return f"score{of}{', sign turned' * is_turned}"
    if isinstance(column, Classes):
        is_matrix = len(names) > several or np.ndim(table.arrays.get(unsigned(names[0]), ())) == 2
        return f"scores of the classes{of}" if is_matrix else "predicted class"
    counts = _counts(table, unsigned(names[0]) if len(names) == 1 else "")
    if isinstance(column, Labels):
        return f"truth{_listed(counts)}{', swapped' * is_turned}"
    if isinstance(column, TrueClasses):
        return f"truth{_classes(counts)}"
    if column.name == CLUSTERS:
        each = noun_of([unsigned(name) for name in names]) or "cluster"
        return f"drawn together{f': {len(counts):,} {each}s' if counts else ''}"
    if column.name == MODELS:
        return f"names the {plural(noun)}{_listed(counts, counted=False)}"
    if column.name == GROUPS:
        return f"{plural(subject_of(metric).group)}{_listed(counts, counted=False)}"
    return label_of(metric, column).lower()


def _counts(table: Table, name: str) -> Counter[str]:
    """How often each value of an array (N,) occurs, as it stands in the file; nothing of one read in batches."""
    array = table.arrays.get(name)
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        return Counter()
    counts: Counter[str] = Counter()
    for cell, number in Counter(array[~are_blank(array)].tolist()).items():
        counts[_text(cell)] += number
    return counts


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _listed(counts: Counter[str], counted: bool = True) -> str:
    """Some values, labels of unknown samples first, or their number.

    >>> _listed(Counter(id=3, ood=2)), _listed(Counter({"0": 3, "1": 2})), _listed(Counter("aab"), counted=False)
    (': ood 2, id 3', ': 1 (2), 0 (3)', ': a, b')
    >>> _listed(Counter("abcdefg"))
    ': 7 different ones'
    """
    if not counts:
        return ""
    if len(counts) > _FEW:
        return f": {len(counts):,} different ones"
    if not counted:
        return f": {', '.join(counts)}"
    order = sorted(counts, key=lambda value: (not side_of_name(value), -(number_of(value) or 0)))
    texts = (
        f"{value} {counts[value]:,}" if number_of(value) is None else f"{value} ({counts[value]:,})" for value in order
    )
    return f": {', '.join(texts)}"


def _classes(counts: Counter[str]) -> str:
    """How many classes there are, and how many samples of none, whose number is negative.

    >>> _classes(Counter({"0": 3, "1": 2, "-1": 4}))
    ': 2 classes, 4 unknown'
    """
    unknown = [value for value in counts if (number_of(value) or 0) < 0]
    samples = sum(counts[value] for value in unknown)
    return f": {len(counts) - len(unknown):,} classes{f', {samples:,} unknown' if samples else ''}" if counts else ""
