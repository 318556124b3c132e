"""The images of maps that are judged worst: one definition for pictures, tables, pages and reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from ..anomaly.anomaly_suite import check_levels
from ..anomaly.maps import exceeding
from ..anomaly.rates import level_sides
from ..anomaly.regions import regions_of
from ..arrays.arrays import exceeds
from ..extras import extra
from ..metric.rounding import score_text
from ..ranking.counts import Side
from ..reading.maps.files import Maps
from .answer import Group, Image, Key, Pictures, Worst
from .charts import MAX_WORST, worst_of_sides
from .decisions import threshold_text
from .subject import Computed, once

KINDS = {  # of images that are shown, the worst first, and what they are called
    "missed": "Missed",
    "alarm": "False alarms",
    "partly": "Mostly uncovered",
    "lowest": "Anomalous, lowest scores",
    "highest": "Normal, highest scores",
    "pixels": "Most wrong pixels",
}
_OF_A_KIND, _OF_A_GROUP = 12, 5  # the most images of a kind that are shown: of all, and of each of several groups


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

    >>> score_beside(12.6, "9.3"), score_beside(0.30004, "0.30003"), score_beside(1404, "1400")
    ('12.6', '0.30004', '1404')
    """
    if not threshold:
        return score_text(score)
    texts = (score_text(score, digits) for digits in range(3, 18))
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
    keys = [Key("true defect", "known")]
    if pixels_at:  # each of several categories has its own
        keys.append(Key("score > threshold of pixels" if group else f"score > {pixels_at}", "unknown"))
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


def worst(computed: Computed) -> Sequence[Worst]:
    """The normal images with the highest scores, and the anomalous ones with the lowest."""
    if "image" not in levels_of(computed):
        return []
    firsts, labels = distinct(computed), np.asarray(computed.state["image_labels"], bool)
    scores = np.asarray(computed.state["image_scores"], np.float64)
    on_images = "pixel" not in levels_of(computed)
    return worst_of_sides(
        computed, scores, (firsts & ~labels, firsts & labels), ("normal", "anomalous"), decided=on_images
    )


def worst_in_turn(groups: Sequence[Group]) -> list[Worst]:
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


def images_in_turn(groups: Sequence[Group]) -> Pictures:
    """The images of all groups by kind, and of a kind in turn: first the worst of each group."""
    ranked = []
    for one in groups:
        assert isinstance(one.images, Pictures)
        for place, kind in enumerate(one.images.kinds):
            rank = place - one.images.kinds.index(kind)
            ranked.append((([*KINDS].index(kind), rank, one.name), one.images[place : place + 1]))
    return Pictures.of([image for _, image in sorted(ranked, key=lambda pair: pair[0])])
