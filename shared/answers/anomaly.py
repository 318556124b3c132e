"""Answers of anomaly_suite: curves of images, pixels and regions, decisions on pixels, and the images judged worst."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..anomaly import words
from ..anomaly.anomaly_suite import AnomalySuite, check_levels
from ..anomaly.aupro import mean_overlap, pro_curve
from ..anomaly.maps import exceeding
from ..anomaly.rates import level_sides
from ..anomaly.regions import regions_of
from ..arrays.arrays import exceeds
from ..arrays.checks import as_fractions
from ..extras import extra
from ..ranking.counts import Side
from ..ranking.roc import thinned
from ..reading.maps.files import Maps
from ..reading.maps.planes import MAP_SUFFIXES, MASK_SUFFIXES
from .answer import Bars, Curves, Decisions, Figure, Group, Image, Matrix, Pictures, Table, Worst
from .charts import MAX_WORST, SAMPLED, Points, curves, fine_points, histogram, roc, worst_of_sides
from .credits import FLOWER_VIEWS
from .decisions import BEST_F1, binary_decisions, curve_points, said_at, threshold_text
from .subject import Computed, Drawing, Example, Form, Lighter, Subject, in_words, once

WORDS = ("anomalous", "normal")
_MOST_KINDS = 12
_FINE = 100  # times as many points of a PRO curve, of which only a small part may be drawn
_ENDS = ("everything flagged", "nothing flagged")


@once
def sides(computed: Computed, level: str) -> tuple[Side, Side]:
    """Scores of the anomalous and of the normal images or pixels."""
    return level_sides(computed.state, level)


def levels_of(computed: Computed) -> list[str]:
    """The levels of the results: "pixel" before "image", of which each may be missing."""
    levels = sorted({*check_levels(computed.options["levels"])}, reverse=True)
    return [level for level in levels if f"{level}_auroc" in computed.results]


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


KINDS = {  # of images that are shown, the worst first, and what they are called
    "missed": "Missed",
    "alarm": "False alarms",
    "partly": "Mostly uncovered",
    "lowest": "Anomalous, lowest scores",
    "highest": "Normal, highest scores",
    "pixels": "Most wrong pixels",
}
_MOST_CURVES = 4  # groups whose first curves stand beside the decisions
_OF_A_KIND, _OF_A_GROUP = (
    12,
    5,
)  # the most images of a kind that are shown: of all samples, and of each of several groups


def worst(computed: Computed) -> Sequence[Worst]:
    """The normal images with the highest scores, and the anomalous ones with the lowest."""
    if "image" not in levels_of(computed):
        return []
    firsts, labels = distinct(computed), np.asarray(computed.state["image_labels"], bool)
    scores = np.asarray(computed.state["image_scores"], np.float64)
    on_images = "pixel" not in levels_of(computed)
    return worst_of_sides(computed, scores, (firsts & ~labels, firsts & labels), WORDS[::-1], decided=on_images)


@dataclass(frozen=True)
class Judged:
    """The decisions on images: a row for each.

    scores, labels; defect, covered and flagged: the numbers of its anomalous pixels, of those above the threshold, and
    of normal pixels above it; scale: the lowest and the highest finite score of all pixels
    at, pixels_at: the thresholds of images and of pixels, None without
    """

    scores: np.ndarray
    labels: np.ndarray
    defect: np.ndarray
    covered: np.ndarray
    flagged: np.ndarray
    scale: tuple[float, float]
    at: float | None
    pixels_at: float | None

    def of_kinds(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """The rows of the images of each kind that occurs, the worst first: the one definition of the worst."""
        order = rows[np.argsort(self.scores[rows], kind="stable")]
        anomalous, normal = order[self.labels[order]], order[::-1][~self.labels[order[::-1]]]
        if self.at is None and self.pixels_at is None:
            return {"lowest": anomalous, "highest": normal}
        above = np.ones(len(self.scores), bool) if self.at is None else exceeds(self.scores, self.at)
        if self.at is None:  # images are not judged: only their pixels are
            normal = normal[:0]
        kinds = {"missed": anomalous[~above[anomalous]], "alarm": normal[above[normal]]}
        if self.pixels_at is None:
            return kinds | {"lowest": anomalous[above[anomalous]], "highest": normal[~above[normal]]}
        detected = anomalous[above[anomalous] & (self.defect[anomalous] > 0)]
        shares = self.covered[detected] / self.defect[detected]
        partly = np.argsort(shares, kind="stable")
        kinds["partly"] = detected[partly[shares[partly] < 0.5]]
        rest = order[~np.isin(order, np.concatenate([*kinds.values()]))]
        wrong = self.defect[rest] - self.covered[rest] + self.flagged[rest]
        by_number = np.lexsort((rest, -wrong, self.defect[rest] == 0))
        return kinds | {"pixels": rest[by_number[wrong[by_number] > 0]]}

    def said(self, row: int, kind: str, sides: tuple[str, str]) -> str:
        """The errors of an image in words; sides, its threshold of images as text, and whether it exceeds it."""
        at, sign = sides
        word = {"missed": "missed", "alarm": "false alarm", "partly": "mostly uncovered"}.get(kind, "")
        score = f"score {score_beside(float(self.scores[row]), at)}" + f" {sign} {at}" * bool(at)
        words = f"{word} · {score}" if word else score
        if self.pixels_at is None:
            return words
        flagged = f"flagged {int(self.flagged[row]):,} normal px"
        if not self.defect[row]:
            return f"{words}; {flagged}"
        covered = f"{int(self.covered[row]):,} of {int(self.defect[row]):,} defect px covered"
        return f"{words}; {covered}, {flagged}"


def score_beside(score: float, threshold: str) -> str:
    """A score as short text on its own side of a threshold, which is text too.

    >>> score_beside(12.6, "9.3"), score_beside(0.30004, "0.30003"), score_beside(-1e-9, "-inf")
    ('12.6', '0.30004', '-1e-09')
    """
    if not threshold:
        return f"{score:.3g}"
    texts = (f"{score:.{digits}g}" for digits in range(3, 18))
    return next((text for text in texts if (float(text) > float(threshold)) == (score > float(threshold))), repr(score))


@once
def judged(computed: Computed) -> Judged:
    """The decisions on the images of a computation, at the thresholds of `threshold_of`."""
    state, levels = computed.state, levels_of(computed)
    scores, labels = (np.asarray(state[f"image_{name}"]) for name in ("scores", "labels"))
    at = threshold_of(computed, "image") if "image" in levels else None
    pixels_at = threshold_of(computed, "pixel") if "pixel" in levels else None
    defect = regions_of(state).num_pixels
    covered = flagged = np.zeros(len(scores), np.int64)
    if pixels_at is not None:
        covered = exceeding(state["anomalous"], defect, pixels_at)
        flagged = exceeding(state["normal"], np.asarray(state["num_normal"]), pixels_at)
    low, high = math.inf, -math.inf
    for side in (np.asarray(state["anomalous"]), np.asarray(state["normal"])):
        low = min(low, float(side.min(initial=np.inf, where=np.isfinite(side))))
        high = max(high, float(side.max(initial=-np.inf, where=np.isfinite(side))))
    scale = (low, high) if low < high else (0.0, 1.0) if low > high else (low, low + 1)
    return Judged(scores.astype(np.float64), labels.astype(bool), defect, covered, flagged, scale, at, pixels_at)


def images(computed: Computed) -> Pictures:
    """The worst images, by `Judged.of_kinds`; each is drawn when it is looked at, its map over its photograph, if any.

    Beside it are its photograph, and the maps of the other models.
    """
    judgement = judged(computed)
    kinds = judgement.of_kinds(np.flatnonzero(distinct(computed)))
    most, draw = _OF_A_GROUP if computed.group else _OF_A_KIND, _drawing(computed)
    chosen = [(row, kind) for kind, rows in kinds.items() for row in rows[:most].tolist()]
    return Pictures([partial(draw, row, kind) for row, kind in chosen], [kind for _, kind in chosen])


def _drawing(computed: Computed) -> Callable[[int, str, int, int], Image]:
    """A function that draws an image, by its row, its kind, the number of images that are shown, and the longest side.

    It keeps files, and no pixels of a state.
    """
    models = [computed, *computed.rivals.values()]
    judgement, every = judged(computed), [(one.model, judged(one), one.columns["predictions"]) for one in models]
    references, ignore_value = computed.columns["references"], computed.options["ignore_value"]
    names, group = [*map(str, computed.reading.images)], computed.group
    at = threshold_text(judgement.at, sides(computed, "image")) if judgement.at is not None else ""
    pixels_at = "" if judgement.pixels_at is None else threshold_text(judgement.pixels_at, sides(computed, "pixel"))
    keys = [("true defect", "known")]
    if pixels_at:  # each of several categories has its own
        keys.append(("score > threshold of pixels" if group else f"score > {pixels_at}", "unknown"))
    first = computed.columns["predictions"]
    paths = [image.image for image, _ in first.files.pairs] if isinstance(first, Maps) else []
    photographs, number = replace(computed, state={}, rivals={}, memo={}), len(judgement.scores)

    @cache
    def reader() -> Any:
        with extra("cli"):
            from .pictures import photographs_of
        return photographs_of(photographs, paths, number)

    def draw(row: int, kind: str, shown: int, most_pixels: int) -> Image:
        with extra("cli"):
            from .pictures import LEAST, MOST_CHARACTERS, THUMBNAIL, data_url, draw_map
        photo = reader()(row)
        photo, most = None if photo is None else photo[0], MOST_CHARACTERS // max(1, shown)
        reference, pictures = references[row], []
        name = names[row] if names else str(row)
        for model, one, maps in every:
            score_map = np.asarray(maps[row], np.float64)
            mask, void = united(reference, ignore_value)
            drawn = partial(draw_map, score_map, mask, one.pixels_at, one.scale, void=void)
            side = min(most_pixels, max(LEAST, *(score_map.shape if photo is None else photo.size)))
            small = drawn(photograph=photo, side=THUMBNAIL)
            above = ">" if judgement.at is not None and judgement.scores[row] > judgement.at else "≤"
            sentence = judgement.said(row, kind, (at, above))
            pictures.append(
                Image(
                    name if one is judgement else f"{name}, {model}",
                    score_map.shape[::-1],
                    data_url(drawn(photograph=photo, side=side), most),
                    said=sentence if one is judgement else "",
                    thumbnail=data_url(small, quality=72),
                    alt=f"Anomaly map of {name}: {sentence}" if one is judgement else f"Map of {model}, {name}",
                    keys=keys,
                    kind=kind,
                    group=group,
                )
            )
            if photo is not None and one is judgement:
                plain = data_url(drawn(photograph=photo, heat=False, side=side), most)
                pictures.append(Image(name, photo.size, plain, alt=f"Photograph of {name}"))
        return replace(pictures[0], beside=pictures[1:])

    return draw


def united(reference: Any, ignore_value: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The anomalous and the void pixels of a mask, or of the masks of defects (see `AnomalySuite.reduce`)."""
    masks = np.asarray(reference["masks"] if isinstance(reference, Mapping) else reference)
    masks = masks if isinstance(reference, Mapping) else masks[None]
    void = np.zeros(masks.shape, bool) if ignore_value is None else masks == ignore_value
    anomalous = ((masks != 0) & ~void).any(axis=0)
    return anomalous, void.any(axis=0) & ~anomalous


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
    return Group("", _counted([label for _, label in labels]), figures, _worst_in_turn(groups), _images_in_turn(groups))


def _called(group: Group) -> list[list[int]]:
    """How many anomalous and how many normal images of a group are called anomalous, and normal."""
    pairs = [*zip(group.samples["anomalous"], group.samples["called"])]
    return [[sum(pair == (side, call) for pair in pairs) for call in (True, False)] for side in (True, False)]


def _worst_in_turn(groups: Sequence[Group]) -> list[Worst]:
    """The worst images of each side, of all groups in turn: first the worst of each."""
    sides: dict[str, list[tuple[int, str, dict[str, Any]]]] = {}
    for one in groups:
        for side in one.worst:
            rows = [dict(zip(side.columns, row)) for row in zip(*side.columns.values())]
            sides.setdefault(side.title, []).extend((rank, one.name, row) for rank, row in enumerate(rows))
    worst = []
    for title, ranked in sides.items():
        ranked.sort(key=lambda entry: entry[:2])
        name, *rest = dict.fromkeys(key for _, _, row in ranked for key in row)
        shown = ranked[:MAX_WORST]
        columns = {name: [row[name] for *_, row in shown], "category": [group for _, group, _ in shown]}
        columns |= {key: [row.get(key) for *_, row in shown] for key in rest}
        worst.append(Worst(title, columns))
    return worst


def _images_in_turn(groups: Sequence[Group]) -> Pictures:
    """The images of all groups by kind, and of a kind in turn: first the worst of each group."""
    ranked = []
    for one in groups:
        assert isinstance(one.images, Pictures)
        for place, kind in enumerate(one.images.kinds):
            rank = place - one.images.kinds.index(kind)
            ranked.append((([*KINDS].index(kind), rank, one.name), one.images[place : place + 1]))
    return Pictures.of([image for _, image in sorted(ranked, key=lambda pair: pair[0])])


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
    drawing=Drawing(sample=150, group=25_000),  # histograms of each image's pixels are summed
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
