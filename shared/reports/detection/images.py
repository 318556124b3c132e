"""The images of a detection report: the images with the most errors, and one error of each kind. Needs Pillow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...reading.boxes.dataset import Dataset
from ...reading.progress import progress_bar
from ...suites.image_errors import OF_NO_OBJECT, DetectionErrors
from ..frame import Section, Tile, tiles_html
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
_FILTERS = {word.replace(",", "").replace(" ", "-"): word.capitalize() for word in (*_WORDS.values(), *OF_NO_OBJECT)}
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
    errors: DetectionErrors, dataset: Dataset, names: Mapping[int, str], rows: Sequence[int], progress: bool
) -> Section:
    """The section of images, worst first, with filters.

    Parameters: errors; data set; names of classes by id; rows, places of the images; progress, whether to show a
    bar on a terminal.
    """
    size = next((size for most, size in _SIZES if len(rows) <= most), _SMALLEST)
    drawn = progress_bar(rows, unit=" pictures", shown=progress)
    tiles = [_tile(errors, dataset, row, names, size) for row in drawn]
    if not tiles:
        return Section("Images", "Images", "<p>No image has an error.</p>")
    fine = int((errors.errors == 0).sum())
    lead = f"The {len(tiles)} worst of {len(errors.errors):,}, most errors first"
    lead += f"; {fine:,} without an error." if fine else "."
    keys = "".join(f'<span><i class="line {kind}"></i>{words}</span>' for kind, words in _KEYS)
    lead += " Press one to enlarge it."
    body = tiles_html(tiles, _FILTERS, everything="All")
    return Section("Images", "Images with the most errors", f'<p class="keys lines">{keys}</p>{body}', lead)


def examples_section(errors: DetectionErrors, dataset: Dataset, names: Mapping[int, str]) -> Section:
    """The most confident false positive of each kind, and the largest missed object."""
    tiles = []
    for kind, row, boxes in errors.examples():
        alt = f"{kind}, in {dataset.names[row]}"
        picture, _ = image_with_boxes(dataset.paths[row], dataset.sizes[row], boxes, names, alt, *_SIZES[0][1])
        tiles.append(Tile(kind, [dataset.names[row]], picture))
    lead = "The most confident false positive of each kind, and the largest missed object."
    return Section("Examples", "One error of each kind", tiles_html(tiles, {}) if tiles else "", lead)


def _tile(errors: DetectionErrors, dataset: Dataset, row: int, names: Mapping[int, str], size: tuple[int, int]) -> Tile:
    counts, boxes, number = Counter[str](), errors.boxes(row), int(errors.errors[row])
    fates = errors.fates_of(row)
    for fate, word in _WORDS.items():
        if fate in fates:
            counts[word] += fates[fate]
    counts.update(errors.false_of(row))
    words = ", ".join(f"{count} {word}" for word, count in counts.items())
    alt = f"{dataset.names[row]}: {words}"
    picture, drawn = image_with_boxes(dataset.paths[row], dataset.sizes[row], boxes, names, alt, *size)
    lines = [words]
    if drawn < len(boxes):
        lines.append(f"{drawn} of {len(boxes):,} boxes are drawn")
    kinds = [word.replace(",", "").replace(" ", "-") for word in counts]
    return Tile(f"{dataset.names[row]} · {number} {'error' if number == 1 else 'errors'}", lines, picture, kinds)
