"""Answers of anomaly_suite: curves of images, pixels and regions, decisions on pixels, and the images judged worst."""

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
from ..anomaly.rates import level_sides
from ..arrays.checks import as_fractions
from ..extras import extra
from ..metric.numbers import percent_text
from ..ranking.counts import Side
from ..ranking.roc import thinned
from ..reading.maps.maps import Maps
from .answer import Bars, Curves, Decisions, Figure, Image, Table, Worst
from .charts import SAMPLED, Points, curves, histogram, roc, worst_of_sides
from .decisions import BEST_F1, binary_decisions, curve_points, said_at, threshold_text
from .subject import Computed, Drawing, Example, Subject, in_words, once

WORDS = ("anomalous", "normal")
_MOST_KINDS = 12
_FINE = 100  # times as many points of a PRO curve, of which only a small part may be drawn
_ENDS = ("everything flagged", "nothing flagged")


@once
def sides(computed: Computed, level: str) -> tuple[Side, Side]:
    """Scores of the anomalous and of the normal images or pixels."""
    return level_sides(computed.state, level)


def levels_of(computed: Computed) -> list[str]:
    """The levels of the results, of `levels`: "pixel" before "image", of which each may be missing."""
    return sorted({*check_levels(computed.options["levels"])}, reverse=True)


def threshold_of(computed: Computed, level: str) -> float | None:
    """The threshold of the decisions on images or pixels: as chosen, else of the best F1; None if there is none."""
    chosen: float | None = computed.options[f"{level}_threshold"]
    return computed.results.get(f"{level}_f1_max_threshold") if chosen is None else float(chosen)


def distinct(computed: Computed) -> np.ndarray:
    """Whether each row is the first of its image: a normal one may be in each group of its category."""
    names, number = computed.reading.images, len(computed.state["image_labels"])
    is_first = np.ones(number, bool)
    if len(names) == number:
        is_first[:] = False
        is_first[np.unique(names, return_index=True)[1]] = True
    return is_first


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
    state, normal, points = computed.state, sides(computed, "pixel")[1], curve_points(computed.points)
    full = pro_curve(state["anomalous"], state["region_sizes"], normal, max_points=_FINE * points)
    fpr, overlap = np.asarray(full["fpr"]), np.asarray(full["pro"])
    inside = fpr <= limit
    ends = np.append(fpr[inside], limit), np.append(overlap[inside], np.interp(limit, fpr, overlap))
    drawn = _Vertices(*ends, np.append(np.asarray(full["threshold"])[inside], np.nan))
    if len(drawn.fpr) > points:
        drawn = thinned(drawn, lambda some: ((some.fpr / limit + some.pro) / 2, some.pro), points)
    said = said_at(drawn.threshold[:-1].tolist(), sides(computed, "pixel"), *_ENDS)
    return drawn.fpr.tolist(), drawn.pro.tolist(), [*said, "at the limit"]


def decisions(computed: Computed) -> Decisions:
    """The decisions on pixels, with PRO, or on images if only these are judged."""
    level, *_ = levels_of(computed)
    common: dict[str, Any] = {"points": computed.points, "note": f"decisions on {level}s"}
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
    own, names = distinct(computed), computed.reading.images
    scores, labels = (np.asarray(computed.state[f"image_{name}"])[own] for name in ("scores", "labels"))
    labels = labels.astype(bool)
    named = [name for name, first in zip(names, own) if first] if len(names) == len(own) else [""] * len(own)
    kinds = np.asarray([name.rpartition("/")[0] or re.sub(r"[\s_-]*\d*$", "", name) or "anomalous" for name in named])
    if len({*kinds[labels].tolist()}) > _MOST_KINDS:
        kinds = np.full(len(kinds), "anomalous")
    kinds = np.where(labels, kinds, "normal images")
    rows = [*sorted({*kinds[labels].tolist()}), "normal images"]
    flagged = scores > np.float64(threshold)
    counts = [[int(np.sum(of & (kinds == kind))) for of in (flagged, ~flagged)] for kind in rows]
    at = threshold_text(threshold, sides(computed, "image"))
    parts, roles = [f"called {word}" for word in WORDS], ["unknown", "known"]
    return [Bars("Images found", rows, parts, roles, counts, f"anomalous if score > {at}")]


def worst(computed: Computed) -> Sequence[Worst]:
    """The normal images with the highest scores, and the anomalous ones with the lowest."""
    if "image" not in levels_of(computed):
        return []
    own, labels = distinct(computed), np.asarray(computed.state["image_labels"], bool)
    scores = np.asarray(computed.state["image_scores"], np.float64)
    on_images = "pixel" not in levels_of(computed)
    return worst_of_sides(computed, scores, (own & ~labels, own & labels), WORDS[::-1], decided=on_images)


class _Judged(NamedTuple):
    """The decisions on the pixels of an image: how many are anomalous, missed, and flagged though normal."""

    row: int
    defect: int
    missed: int
    flagged: int


def images(computed: Computed, number: int = 48) -> list[Image]:
    """At most `number` images with the most wrong pixels at the threshold, those with a defect first.

    Each has its map drawn over its photograph, if any. Without a threshold, images whose scores say least what they
    are come first.
    """
    with extra("cli"):
        from .pictures import LEAST, MOST_CHARACTERS, SIDE, THUMBNAIL, data_url, draw_map, photographs_of
    threshold, maps = threshold_of(computed, "pixel"), computed.columns["predictions"]
    judged, scale = _judged(computed, threshold)
    worst = [one for one in judged if one.missed or one.flagged or threshold is None][:number]
    paths = [image.image for image, _ in maps.files.pairs] if isinstance(maps, Maps) else []
    keys = [("true defect", "known")]
    if threshold is not None:
        keys += [(f"score > {threshold_text(threshold, sides(computed, 'pixel'))}", "unknown")]
    read, shown = photographs_of(computed, paths, len(maps)), []
    for one in worst:
        entries = (computed.columns[name][one.row] for name in ("predictions", "references"))
        (score_map, mask, void), own = _image(computed, *entries), read(one.row)
        photo = None if own is None else own[0]
        side = min(SIDE, max(LEAST, *(score_map.shape if photo is None else photo.size)))
        picture, small = (
            draw_map(score_map, mask, threshold, scale, void=void, photograph=photo, side=pixels)
            for pixels in (side, THUMBNAIL)
        )
        name = computed.reading.images[one.row] if computed.reading.images else str(one.row)
        said = _said(one) if threshold is not None else f"score {computed.state['image_scores'][one.row]:.4g}"
        shown.append(
            Image(
                name,
                score_map.shape[::-1],
                data_url(picture, MOST_CHARACTERS // len(worst)),
                said=said,
                thumbnail=data_url(small, quality=72),
                alt=f"Anomaly map of {name}: {said}",
                keys=keys,
            )
        )
    return shown


def _image(computed: Computed, score_map: Any, reference: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The map of an image, and its anomalous and its void pixels."""
    return np.asarray(score_map, np.float64), *united(reference, computed.options["ignore_value"])


def united(reference: Any, ignore_value: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The anomalous and the void pixels of a mask, or of the masks of defects (see `AnomalySuite.reduce`)."""
    masks = np.asarray(reference["masks"] if isinstance(reference, Mapping) else reference)
    masks = masks if isinstance(reference, Mapping) else masks[None]
    void = np.zeros(masks.shape, bool) if ignore_value is None else masks == ignore_value
    anomalous = ((masks != 0) & ~void).any(axis=0)
    return anomalous, void.any(axis=0) & ~anomalous


def _judged(computed: Computed, threshold: float | None) -> tuple[list[_Judged], tuple[float, float]]:
    """All images, the worst first, and the lowest and highest finite score of their pixels."""
    low, high, judged = np.inf, -np.inf, list[_Judged]()
    columns = computed.columns["predictions"], computed.columns["references"]  # which may be read from files, in order
    for (row, is_first), *entries in zip(enumerate(distinct(computed)), *columns):
        score_map, mask, void = _image(computed, *entries)
        finite = score_map[np.isfinite(score_map)]
        low, high = min(low, finite.min(initial=np.inf)), max(high, finite.max(initial=-np.inf))
        if is_first:
            flagged = np.zeros(mask.shape, bool) if threshold is None else score_map > threshold
            missed, wrong = (int(np.count_nonzero(part)) for part in (mask & ~flagged, flagged & ~mask & ~void))
            judged.append(_Judged(row, int(np.count_nonzero(mask)), missed, wrong))
    if threshold is not None:
        judged.sort(key=lambda one: (not one.defect, -one.missed - one.flagged))
    else:
        scores, labels = (computed.state[f"image_{name}"] for name in ("scores", "labels"))
        judged.sort(key=lambda one: (not labels[one.row], scores[one.row] * (1 if labels[one.row] else -1)))
    return judged, (float(low), float(high)) if low < high else (0.0, 1.0) if low > high else (low, low + 1)


def _said(one: _Judged) -> str:
    """The errors of an image in words."""
    flagged = f"flagged {one.flagged:,} px"
    return f"missed {percent_text(one.missed, one.defect)}, {flagged}" if one.defect else flagged


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
    labels = np.asarray(computed.state["image_labels"], bool)[distinct(computed)]
    return f"{len(labels):,} images: {int(labels.sum()):,} anomalous, {int((~labels).sum()):,} normal"


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
    return (
        threshold_text(computed.summary.results[key].threshold, sides(computed, level))
        if level in ("image", "pixel")
        else ""
    )


def more_costs(state: Mapping[str, Any], options: Mapping[str, Any]) -> Mapping[str, int]:
    """The steps of regions and of sampled thresholds."""
    regions = len(state["region_sizes"]) + len(state.get("saturation_areas", ()))
    limits, thresholds = np.size(options["integration_limits"]), options["num_thresholds"] or 0
    return {
        f"{regions:,} regions with {limits:,} integration_limits": 100 * regions * limits,
        f"{thresholds:,} num_thresholds with {regions:,} regions": 200 * thresholds * max(1, regions),
        f"{thresholds:,} num_thresholds with {limits:,} integration_limits": 10 * thresholds * limits,
    }


SUBJECT = Subject(
    metric=AnomalySuite,
    question="Are anomalous images found, and their regions covered?",
    leading=(r"aupro@0\.3", "image_auroc", "pixel_auroc", r"aupro@.*", "image_ap"),
    example=Example(
        "A flower with scratches, stains and swapped parts",
        ("predictions.zip", "references.zip"),
        photographs="photographs.zip",
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
    drawing=Drawing(sample=150, group=25_000),  # histograms of each image's pixels are summed
    noun="set of maps",
    group="category",
    images_are_rows=True,
)
SUBJECTS = {SUBJECT.name: SUBJECT}
