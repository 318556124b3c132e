"""The section of the worst images with their maps and filters, worst first. Needs Pillow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...reading.maps.maps import MapAndMask
from ...reading.progress import progress_bar
from ..frame import Section, Tile, tiles_html
from .models import Model, score_beside
from .pictures import heat_html, outline, photo_html
from .worst import Worst, read_maps, worst_images

KINDS = {
    "missed": "Missed",
    "alarm": "False alarms",
    "partly": "Mostly uncovered",
    "lowest": "Anomalous, lowest scores",
    "highest": "Normal, highest scores",
}
_SIDES = ((60, 320), (300, 224))  # (number of tiles, pixels of a picture), for up to that number
_SMALLEST = 160
_MOST_FILTERS = 10  # the most names of categories and defects among the filters


def images_section(models: Sequence[Model], count: int, *, progress: bool = False) -> Section:
    """The section with at most `count` images for each kind of error in each group, by the first model."""
    groups = models[0].run.groups
    chosen = {group: [*worst_images(models[0], group, count)] for group in groups}
    number = sum(map(len, chosen.values()))
    side = next((side for most, side in _SIDES if number <= most), _SMALLEST)
    drawn: list[tuple[Worst, Tile]] = []
    bar = progress_bar(list(chosen.items()), unit=" groups drawn", shown=progress)
    for _, worst in bar:
        drawn += _tiles(worst, models, side)
    order = [*KINDS]
    drawn.sort(key=lambda pair: (order.index(pair[0].kind), pair[0].rank, pair[0].group))
    tiles = [tile for _, tile in drawn]
    if not tiles:
        return Section(
            "Images",
            "Images judged worst",
            "<p>Every image is judged rightly, and of no defect less than half is above the threshold.</p>",
        )
    filters = {kind: name for kind, name in KINDS.items() if any(worst.kind == kind for worst, _ in drawn)}
    named = {_key("group", worst.group): worst.group for worst, _ in drawn}
    own = [worst.image.image.defect for worst, _ in drawn if worst.image.anomalous]
    defects = {_key("defect", defect): defect for defect in own}
    for names in (named, {key: name for key, name in defects.items() if name}):
        if 1 < len(names) <= _MOST_FILTERS:
            filters |= names
    shown = tiles_html(tiles, filters, wide=True)
    return Section("Images", "Images judged worst", f"{_keys(models[0])}{shown}", _lead(models, drawn))


def _lead(models: Sequence[Model], drawn: Sequence[tuple[Worst, Tile]]) -> str:
    """The caption above the images: their layout, and the number of each kind of error."""
    model = models[0]
    groups = [group for group in model.run.groups if model.threshold(group, "image") is not None]
    wrong = [image for group in groups for image in model.images(group) if not model.right(group, image)]
    maps = f"the maps of {models[0].name} and {models[1].name}" if len(models) > 1 else "its map"
    beside = f"Beside each photograph {maps}" if drawn[0][0].image.image.image is not None else f"Of each image {maps}"
    judged = any(model.threshold(group, "image") is not None for group in model.run.groups)
    missed, alarms = (sum(image.anomalous == side for image in wrong) for side in (True, False))
    said = f" {missed:,} missed, {alarms:,} false alarms;" if judged else ""
    return f"{beside}, on one scale for a category.{said} the worst {len(drawn):,} are here. Press one to enlarge it."


def _keys(model: Model) -> str:
    """The legend of the lines over images."""
    keys = '<span><i class="line defect"></i>true defect</span>'
    if any(model.threshold(group, "pixel") is not None for group in model.run.groups):
        keys += '<span><i class="line flagged"></i>score &gt; threshold of pixels</span>'
    return f'<p class="keys lines">{keys}<span><i class="scale"></i>score, low to high</span></p>'


def _tiles(worst: Sequence[Worst], models: Sequence[Model], side: int) -> Iterator[tuple[Worst, Tile]]:
    """The tiles of a group, with one scale of colours for each model's maps."""
    images = [one.image for one in worst]
    scales = [_scale(read_maps(model, images)) for model in models]
    for one, *contents in zip(worst, *(read_maps(model, images) for model in models)):
        yield one, _tile(one, contents, models, scales, side)


def _tile(
    worst: Worst,
    contents: Sequence[MapAndMask],
    models: Sequence[Model],
    scales: Sequence[tuple[float, float]],
    side: int,
) -> Tile:
    image, content, model = worst.image, contents[0], models[0]
    threshold = model.threshold(worst.group, "pixel")
    words = _words(worst, content, model)
    name = " ".join(filter(None, (image.image.category, image.image.defect, image.image.stem)))
    over = outline(content.masks.mask, "defect")
    if threshold is not None:
        over = outline(content.score_map > threshold, "flagged") + over
    pictures = []
    if image.image.image is not None:
        pictures.append(
            photo_html(image.image.image, content.score_map.shape, side, f"{name}: {', '.join(words)}", over)
        )
        over = ""
    for each, one, scale in zip(contents, models, scales):
        alt = f"Map of {one.name}, {name}"
        middle = one.threshold(worst.group, "pixel")
        pictures.append(heat_html(each.score_map, scale, middle, 2 * side // 5 if pictures else side, alt, over))
        over = ""
    shown = pictures[0] if len(pictures) == 1 else f'<span class="beside n{len(pictures)}">{"".join(pictures)}</span>'
    kinds = [worst.kind, _key("group", worst.group), _key("defect", image.image.defect)]
    return Tile(name, words, shown, kinds)


def _words(worst: Worst, content: MapAndMask, model: Model) -> list[str]:
    """Lines on the decision on an image, and its number of flagged pixels."""
    score, image = worst.image.score, model.threshold(worst.group, "image")
    pixel = model.threshold(worst.group, "pixel")
    if image is None:
        words = [f"score {score:.4g}"]
    else:
        text = model.threshold_text(worst.group)
        kind = {"alarm": "false alarm", "partly": "mostly uncovered"}.get(worst.kind, worst.kind)
        words = [f"{kind} · score {score_beside(score, text)} {'>' if score > image else '≤'} {text}"]
    if pixel is not None:
        flagged, mask = content.score_map > pixel, content.masks.mask
        if content.masks.void is not None:
            flagged = flagged & ~content.masks.void
        covered = f"{int((flagged & mask).sum()):,} of {int(mask.sum()):,} defect px covered"
        words.append(covered if worst.image.anomalous else f"{int(flagged.sum()):,} px flagged")
    return words


def _scale(contents: Iterator[MapAndMask]) -> tuple[float, float]:
    """The lowest and highest finite scores of maps."""
    low, high = np.inf, -np.inf
    for content in contents:
        finite = content.score_map[np.isfinite(content.score_map)]
        if len(finite):
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    return (low, high) if low < high else (0.0, 1.0) if low > high else (low, low + 1)


def _key(what: str, name: str) -> str:
    """A name encoded as one word, for a filter."""
    return f"{what}-{name.encode().hex()}"
