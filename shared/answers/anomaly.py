"""Answers of anomaly_suite: curves of images, pixels and regions, and decisions on pixels and images."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..anomaly import words
from ..anomaly.anomaly_suite import AnomalySuite, check_levels
from ..anomaly.aupro import mean_overlap, pro_curve
from ..arrays.arrays import exceeds
from ..arrays.checks import as_fractions
from ..ranking.roc import thinned
from ..reading.maps.planes import MAP_SUFFIXES, MASK_SUFFIXES
from .answer import Bars, Curves, Decisions, Figure, Group, Matrix, Table
from .charts import SAMPLED, Points, curves, fine_points, histogram, roc
from .credits import FLOWER_VIEWS
from .decisions import BEST_F1, binary_decisions, curve_points, said_at, threshold_text
from .subject import Computed, Drawing, Example, Form, Lighter, Subject, in_words
from .worst_images import (
    distinct,
    images,
    images_in_turn,
    judged,
    levels_of,
    sides,
    threshold_of,
    worst,
    worst_in_turn,
)

WORDS = ("anomalous", "normal")
NEXT = ("pixel_ap", "image_ap")  # the rates that follow the leading ones
_MOST_KINDS = 12
_FINE = 100  # times as many points of a PRO curve, of which only a small part may be drawn
_ENDS = ("everything flagged", "nothing flagged")


def figures(computed: Computed) -> list[Figure]:
    """The PRO curve, ROC curves of each level, scores of images, and decisions on each kind of image."""
    levels = levels_of(computed)
    figures: list[Figure] = [pro(computed)] if "pixel" in levels else []
    for level in levels:
        follows = ("FPR", "TPR") if level == levels[0] else None  # the decisions are of the first
        of = partial(sides, level=level)
        figures.append(roc(f"ROC of {level}s", computed, of, f"{level}_auroc", follows=follows))
    if "image" in levels:
        anomalous, normal = sides(computed, "image")
        both = (("normal", "known", normal), ("anomalous", "unknown", anomalous))
        scores = histogram("Scores of images", "score, higher is more anomalous", both)
        figures += [replace(scores, follows=levels[0] == "image"), *kinds_of_images(computed)]
    return figures


def pro(computed: Computed) -> Curves:
    """The mean overlap of the regions over the FPR of pixels, up to the largest integration limit."""
    most = max(as_fractions(computed.options["integration_limits"], "integration_limits"))
    key, note = (f"aupro@{most}", "") if computed.options["num_thresholds"] is None else ("", SAMPLED)
    return curves(
        "Regions covered",
        ("FPR of pixels", "mean overlap (PRO)"),
        computed,
        lambda one: _pro_points(one, most),
        key,
        follows=("FPR", "PRO"),
        shares=(most == 1, True),
        note=note,
    )


class _Vertices(NamedTuple):
    fpr: np.ndarray
    pro: np.ndarray
    threshold: np.ndarray


def _pro_points(computed: Computed, limit: float) -> Points:
    """The PRO curve up to a false-positive rate of `limit`, where it is interpolated."""
    state, normal, points = computed.state, sides(computed, "pixel")[1], fine_points(computed)
    full = pro_curve(
        state["anomalous"], state["region_sizes"], normal, max_points=_FINE * curve_points(computed.points)
    )
    fpr, overlap = np.asarray(full["fpr"]), np.asarray(full["pro"])
    inside = fpr <= limit
    ends = np.append(fpr[inside], limit), np.append(overlap[inside], np.interp(limit, fpr, overlap))
    drawn = _Vertices(*ends, np.append(np.asarray(full["threshold"])[inside], np.nan))
    if len(drawn.fpr) > points:
        drawn = thinned(drawn, lambda some: ((some.fpr / limit + some.pro) / 2, some.pro), points)
    texts = said_at(drawn.threshold.tolist(), sides(computed, "pixel"), *_ENDS)
    return drawn.fpr.tolist(), drawn.pro.tolist(), texts


def decisions(computed: Computed) -> Decisions:
    """The decisions on pixels, with PRO, or on images if only these are judged."""
    level, *_ = levels_of(computed)
    common: dict[str, Any] = {"points": computed.points, "typed": computed.typed, "note": f"decisions on {level}s"}
    if level == "image":
        return binary_decisions(sides(computed, level), WORDS, **common)
    overlap = mean_overlap(computed.state["anomalous"], computed.state["region_sizes"])[1]
    # pixels of an image are not independent, so they promise nothing for new ones
    on_pixels = binary_decisions(
        sides(computed, level),
        WORDS,
        values=lambda thresholds, counts: {"PRO": overlap[counts["TP"]].tolist()},
        promise=False,
        first=BEST_F1,
        **common,
    )
    return replace(on_pixels, shares=["PRO"])


def kinds_of_images(computed: Computed) -> list[Bars]:
    """The decisions on each kind of defect, told by the beginnings of the images' names, and on normal ones."""
    threshold = threshold_of(computed, "image")
    if threshold is None:
        return []
    firsts, names = distinct(computed), computed.reading.images
    scores, labels = (np.asarray(computed.state[f"image_{name}"])[firsts] for name in ("scores", "labels"))
    labels = labels.astype(bool)
    named = [name for name, first in zip(names, firsts) if first] if len(names) == len(firsts) else [""] * len(firsts)
    named = [name.removeprefix(f"{computed.group.partition('/')[0]}/") for name in named]
    kinds = np.asarray([name.rpartition("/")[0] or re.sub(r"[\s_-]*\d*$", "", name) or "anomalous" for name in named])
    if len({*kinds[labels].tolist()}) > _MOST_KINDS:
        kinds = np.full(len(kinds), "anomalous")
    kinds = np.where(labels, kinds, "normal images")
    rows = [*sorted({*kinds[labels].tolist()}), "normal images"]
    flagged = exceeds(scores, threshold)
    counts = [[int(np.sum(of & (kinds == kind))) for of in (flagged, ~flagged)] for kind in rows]
    at = threshold_text(threshold, sides(computed, "image"))
    parts, roles = [f"called {word}" for word in WORDS], ["unknown", "known"]
    return [Bars("Images found", rows, parts, roles, counts, f"anomalous if score > {at}")]


_MOST_CURVES = 4  # groups whose first curves stand beside the decisions


def samples(computed: Computed) -> dict[str, list[Any]]:
    """The images of a group, once each: names, whether they are anomalous, and whether they are called so."""
    judgement, first = judged(computed), np.flatnonzero(distinct(computed))
    names = computed.reading.images
    above = exceeds(judgement.scores[first], judgement.at) if judgement.at is not None else np.zeros(len(first), bool)
    return {
        "name": [names[row] for row in first.tolist()] if names else first.tolist(),
        "anomalous": judgement.labels[first].tolist(),
        **({"called": above.tolist()} if judgement.at is not None else {}),
    }


def thresholds(computed: Computed) -> dict[str, str]:
    """The thresholds of the levels that are judged, as the shortest decimals that make the same decisions."""
    at = {level: threshold_of(computed, level) for level in levels_of(computed)}
    return {level: threshold_text(value, sides(computed, level)) for level, value in at.items() if value is not None}


def joined_groups(computed: Computed, groups: Sequence[Group]) -> Group:
    """The decisions on the images of all groups, each at a threshold of its own, and the worst of each, in turn."""
    labels = [*{pair for one in groups for pair in zip(one.samples["name"], one.samples["anomalous"])}]
    figures: list[Figure] = []
    if decided := [one for one in groups if "called" in one.samples]:
        counts = [_called(one) for one in decided]
        every = np.sum(counts, axis=0).tolist()
        chosen = computed.options["image_threshold"] is not None
        note = f"each category at {'the threshold chosen before' if chosen else 'its threshold of the best F1'}"
        if sum(map(sum, every)) > len(labels):
            note += "; normal images count in each group of their category"
        called = [f"called {word}" for word in WORDS]
        figures = [
            Matrix(
                "Decisions on images",
                [word.capitalize() for word in WORDS],
                called,
                every,
                note=note,
                roles=[["unknown"] * 2, ["known"] * 2],
                right=[(0, 0), (1, 1)],
                notes=[f"{sum(row):,}" for row in every],
            ),
            Bars(
                "Images found",
                [f"{one.name}, {word}" for one in decided for word in WORDS],
                called,
                ["unknown", "known"],
                [row for each in counts for row in each],
                note,
            ),
        ]
    for one in groups[:_MOST_CURVES]:
        drawn = [replace(each, title=f"{each.title}, {one.name}") for each in one.figures if isinstance(each, Curves)]
        figures += drawn[:1]
    return Group("", _counted([label for _, label in labels]), figures, worst_in_turn(groups), images_in_turn(groups))


def _called(group: Group) -> list[list[int]]:
    """How many anomalous and how many normal images of a group are called anomalous, and normal."""
    pairs = [*zip(group.samples["anomalous"], group.samples["called"])]
    return [[sum(pair == (side, call) for pair in pairs) for call in (True, False)] for side in (True, False)]


def tables(computed: Computed) -> list[Table]:
    """The table of images, if the results have it, with their names."""
    table = computed.results.get("per_image")
    if table is None:
        return []
    names = computed.reading.images
    named = {"name": [*names]} if len(names) == len(table["image"]) else {}
    return [Table("Images", {**named, **table}, ("iou", "aupimo"))]


def data(computed: Computed) -> str:
    """The number of images, of anomalous and of normal ones, in words; each image counts once."""
    return _counted(np.asarray(computed.state["image_labels"], bool)[distinct(computed)].tolist())


def _counted(labels: Sequence[bool]) -> str:
    return f"{len(labels):,} images: {sum(labels):,} anomalous, {len(labels) - sum(labels):,} normal"


_RATES = {
    "(auroc|ap|aupr|f1)": "{1}",
    "f1_max": "F1, best",
    "iou_max": "IoU, best",
    "(precision|recall)": "{0}",
    r"([ft][pn]r)([\d.]+)([ft][pn]r)": "{3} at {1} % {5}",
}
_LEVELS = ("image", "pixel", "sample")
_TITLES = {
    "aupro@(.+)": ("AUPRO {0}", ""),
    "auspro@(.+)": ("AUsPRO {0}", ""),
    "(aupimo|ppv)": ("{1}", ""),
    "siou": ("sIoU", ""),
    "segment_f1": ("Segment F1", ""),
    **{f"{level}_{key}": (f"{level.capitalize()} {title}", "") for level in _LEVELS for key, title in _RATES.items()},
}


def titled(key: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """The title and the meaning of a key.

    >>> [titled(key, {})[0] for key in ("pixel_fpr95tpr", "aupro@0.3", "image_f1_max")]
    ['Pixel FPR at 95 % TPR', 'AUPRO 0.3', 'Image F1, best']
    """
    return in_words(_TITLES, key)[0], words.meaning(key)


def threshold(computed: Computed, key: str) -> str:
    """The threshold of a result without groups, as text that makes the same decisions; "" if it has none."""
    level = key.partition("_")[0]
    at = computed.summary.results[key].threshold
    if at is None or not computed.state or level not in ("image", "pixel"):
        return ""  # of several categories, each has its own
    return threshold_text(at, sides(computed, level))


def more_costs(state: Mapping[str, Any], options: Mapping[str, Any]) -> Mapping[str, int]:
    """The steps of regions and of sampled thresholds."""
    regions = len(state["region_sizes"]) + len(state.get("saturation_areas", ()))
    limits, thresholds = np.size(options["integration_limits"]), options["num_thresholds"] or 0
    return {
        f"{regions:,} regions with {limits:,} integration_limits": 100 * regions * limits,
        f"{thresholds:,} num_thresholds with {regions:,} regions": 200 * thresholds * max(1, regions),
        f"{thresholds:,} num_thresholds with {limits:,} integration_limits": 10 * thresholds * limits,
    }


def columns_of_images(state: Mapping[str, Any]) -> dict[str, Any]:
    """The scores and labels of images as columns: each score is a map of one pixel."""
    scores = np.asarray(state["image_scores"])[:, None, None]
    samples = {"samples": state["samples"]} if "samples" in state else {}
    return {
        "predictions": scores,
        "references": np.zeros(scores.shape, bool),
        "image_labels": state["image_labels"],
    } | samples


IMAGES_ALONE = Lighter(
    "rates of images",
    {
        name: AnomalySuite.options[name]
        for name in ("components", "per_image", "pimo_bounds", "significant_bits", "image_reduction", "ignore_value")
    }
    | {"levels": "image", "regions": AnomalySuite.regions},
    columns_of_images,
    lambda options: "image" in check_levels(options["levels"]),
)
SUBJECT = Subject(
    metric=AnomalySuite,
    question="Are anomalous images found, and their regions covered?",
    leading=(r"aupro@0\.3", "image_auroc", "pixel_auroc", r"aupro@.*", "image_ap"),
    example=Example(
        "A flower with scratches, stains and swapped parts",
        ("predictions.zip", "references.zip"),
        FLOWER_VIEWS,
        photographs="photographs.zip",
    ),
    form=Form(
        "anomaly maps and masks",
        ("levels", "integration_limits"),
        ("Anomaly maps", "Masks"),
        (sorted(MAP_SUFFIXES), sorted(MASK_SUFFIXES)),
        {
            "resize": ("Resize maps to the size of their masks (bilinear)", "bilinear"),
            "ignore_value": ("255 in masks is void", 255),
            "groups": ("All categories together", False),
        },
        have={"anomaly maps and masks": ""},
        place=5,
    ),
    data=data,
    sections={
        "Images": r"image_.*",
        "Samples of several images": r"sample_.*",
        "Pixels": r"pixel_.*",
        "Regions": r"aupro.*|aupimo.*|auspro.*",
        "Objects, at the pixel threshold": r"(siou|ppv|segment_f1)(_\w+)?",
    },
    words=titled,
    figures=figures,
    decisions=decisions,
    worst=worst,
    images=images,
    tables=tables,
    threshold=threshold,
    more_costs=more_costs,
    drawing=Drawing(sample=170, group=74_000),  # 3 ms for 30 maps of 64² to 160², 10 for 400 of 32²
    lighter=IMAGES_ALONE,
    noun="set of maps",
    group="category",
    below="group",
    images_are_rows=True,
    pools=False,
    samples=samples,
    thresholds=thresholds,
    joined=joined_groups,
)
SUBJECTS = {SUBJECT.name: SUBJECT}
