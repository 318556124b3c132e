"""The images of a detection report: those with the most errors, and one error of each kind. Needs Pillow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..detection.errors import MISSED
from ..detection.false_positives import FALSE_POSITIVES
from ..evaluation.image_errors import OBJECT, DetectionErrors, ErrorBox, ImageErrors
from ..formats.boxes.dataset import Dataset
from .frame import Section, Tile, tiles_html
from .pictures import image_with_boxes

# pixels of a picture and quality of its JPEG, by how many there are at most: a thousand take less than 20 MB
_SIZES = ((60, (512, 82)), (300, (384, 80)))
_SMALLEST = (256, 70)
_WORDS = {
    ("unknown", "called known"): "unknown, called known",
    ("known", "called unknown"): "known, called unknown",
    ("known", "called another known"): "known, wrong class",
    ("unknown", "badly placed"): "badly placed",
    ("known", "badly placed"): "badly placed",
    ("unknown", "both"): "badly placed and misnamed",
    ("known", "both"): "badly placed and misnamed",
    ("unknown", "missed"): "unknown, missed",
    ("known", "missed"): "known, missed",
}
_FILTERS = {word.replace(",", "").replace(" ", "-"): word.capitalize() for word in _WORDS.values()}
_KEYS = (
    ("accepted", "unknown, called known"),
    ("rejected", "known, called unknown"),
    ("wrong", "known, wrong class"),
    ("placed", "badly placed; its object dashed"),
    ("missed", "missed"),
    ("found", "right"),
    ("nothing", "nothing there"),
)


def images_section(
    errors: DetectionErrors, dataset: Dataset, names: Mapping[int, str], number: int, rows: Iterable[int]
) -> Section:
    """The images of some rows, the worst first, with filters.

    Parameters: errors; data set; names of classes by id; number, how many images have errors; rows, places of the
    images, of which each is drawn as it comes.
    """
    shown = list(rows)
    size = next((size for most, size in _SIZES if len(shown) <= most), _SMALLEST)
    tiles = [_tile(errors.images[row], dataset, row, names, size) for row in shown]
    if not tiles:
        return Section("Images", "Images", "<p>No image has an error.</p>")
    fine = len(errors.images) - number
    lead = f"The {len(tiles)} worst of {len(errors.images):,}, most errors first"
    lead += f"; {fine:,} without an error." if fine else "."
    keys = "".join(f'<span><i class="line {kind}"></i>{words}</span>' for kind, words in _KEYS)
    lead += " Press one to enlarge it."
    body = tiles_html(tiles, _FILTERS, everything="All")
    return Section("Images", "Images with the most errors", f'<p class="keys lines">{keys}</p>{body}', lead)


def examples_section(errors: DetectionErrors, dataset: Dataset, names: Mapping[int, str]) -> Section:
    """The most confident false positive of each kind, and the largest missed object."""
    tiles = []
    for kind, row, boxes in examples(errors):
        alt = f"{kind}, in {dataset.names[row]}"
        picture, _ = image_with_boxes(dataset.paths[row], dataset.sizes[row], boxes, names, alt, *_SIZES[0][1])
        tiles.append(Tile(kind, [dataset.names[row]], picture))
    lead = "The most confident false positive of each kind, and the largest missed object."
    return Section("Examples", "One error of each kind", tiles_html(tiles, {}) if tiles else "", lead)


def examples(errors: DetectionErrors) -> Sequence[tuple[str, int, list[ErrorBox]]]:
    """A kind, the place of an image, and the box with its object, of each kind that occurs."""
    best: dict[str, tuple[float, int, list[ErrorBox]]] = {}
    for row, image in enumerate(errors.images):
        for place, box in enumerate(image.boxes):
            if box.kind not in (*FALSE_POSITIVES, MISSED):
                continue
            x1, y1, x2, y2 = box.box
            rank = (x2 - x1) * (y2 - y1) if box.score is None else box.score
            if box.kind not in best or rank > best[box.kind][0]:
                beside = [other for other in image.boxes[place + 1 : place + 2] if other.kind == OBJECT]
                best[box.kind] = rank, row, [box, *beside]
    return [(kind, *best[kind][1:]) for kind in (*FALSE_POSITIVES, MISSED) if kind in best]


def _tile(image: ImageErrors, dataset: Dataset, row: int, names: Mapping[int, str], size: tuple[int, int]) -> Tile:
    counts: dict[str, int] = {}
    for fate, word in _WORDS.items():
        if fate in image.fates:
            counts[word] = counts.get(word, 0) + image.fates[fate]
    words = ", ".join(f"{count} {word}" for word, count in counts.items())
    alt = f"{dataset.names[row]}: {words}"
    picture, drawn = image_with_boxes(dataset.paths[row], dataset.sizes[row], image.boxes, names, alt, *size)
    lines = [words]
    if drawn < len(image.boxes):
        lines.append(f"{drawn} of {len(image.boxes):,} boxes are drawn")
    kinds = [word.replace(",", "").replace(" ", "-") for word in counts]
    return Tile(
        f"{dataset.names[row]} · {image.errors} {'error' if image.errors == 1 else 'errors'}", lines, picture, kinds
    )
