"""An image with its boxes, coloured by outcome. Needs Pillow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..detection.words import CALLED_UNKNOWN, IGNORED, NO_OBJECT, TAKEN_FOR_KNOWN, WRONG_CLASS
from ..evaluation.box_outcomes import BoxOutcome
from ..extras import extra
from ..formats.boxes.dataset import Size
from ..formats.reasons import named
from .colors import DASHED, OUTCOME_COLORS

MAX_WITHOUT_OBJECT = 20  # of an image, the most confident; a low confidence threshold lets hundreds through
_WIDTHS = (800, 1280)  # of a picture
_HEIGHT = 2000
_DASH = 8


def draw_image(boxes: Sequence[BoxOutcome], names: Mapping[int, str], path: Path | None, size: Size | None) -> Any:
    """Draw an image and its boxes, as a Pillow image.

    Parameters: boxes and their outcomes; names of classes by id; path of the image, or None for a plain ground as
    large as size says, or as the boxes reach.
    """
    with extra("detection"):
        from PIL import Image, ImageDraw, ImageFont, ImageOps
    if path is None:
        reach = [max([1.0, *(box.box[side] for box in boxes)]) for side in (2, 3)]
        picture = Image.new("RGB", size or (round(reach[0]), round(reach[1])), "#eeeeee")
    else:
        with named(path), Image.open(path) as image:
            picture = ImageOps.exif_transpose(image).convert("RGB")
    scale = min(max(picture.width, _WIDTHS[0]), _WIDTHS[1]) / picture.width
    scale = min(scale, _HEIGHT / picture.height)
    picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(14)
    shown = list(shown_boxes(boxes))
    for box in shown:
        corners = [scale * side for side in box.box]
        if box.outcome in DASHED:
            for line in _dashes(*corners):
                draw.line(line, fill=OUTCOME_COLORS[box.outcome], width=3)
        else:
            draw.rectangle(corners, outline=OUTCOME_COLORS[box.outcome], width=1 if box.outcome == NO_OBJECT else 3)
    for box in shown:
        if box.outcome not in (NO_OBJECT, IGNORED):
            _write(draw, font, box, names, [scale * side for side in box.box])
    return picture


def shown_boxes(boxes: Sequence[BoxOutcome]) -> Iterator[BoxOutcome]:
    """The boxes that are drawn: all, but for the less confident ones that match no object, which come first."""
    alone = [box for box in boxes if box.outcome == NO_OBJECT][:MAX_WITHOUT_OBJECT]
    yield from alone
    yield from (box for box in boxes if box.outcome != NO_OBJECT)


def _write(draw: Any, font: Any, box: BoxOutcome, names: Mapping[int, str], corners: Sequence[float]) -> None:
    """The name and the confidence of a box, above it, or below it if it was missed: another's may be above."""
    text = names.get(box.label, str(box.label))
    text = f"missed {text}" if box.score is None else f"{text} {box.score:.2f}"
    if box.true_label is not None and box.true_label != box.label:
        text += f", is {names.get(box.true_label, str(box.true_label))}"
    width, height = draw.textlength(text, font=font) + 6, 18
    left = max(0, min(corners[0], draw.im.size[0] - width))
    top = corners[3] if box.score is None else corners[1] - height
    top = max(0, min(top, draw.im.size[1] - height))
    draw.rectangle([left, top, left + width, top + height], fill=OUTCOME_COLORS[box.outcome])
    light = box.outcome in (CALLED_UNKNOWN, WRONG_CLASS, TAKEN_FOR_KNOWN)
    draw.text((left + 3, top + 1), text, fill="black" if light else "white", font=font)


def _dashes(x1: float, y1: float, x2: float, y2: float) -> Iterator[list[float]]:
    for start in range(0, int(x2 - x1), 2 * _DASH):
        end = min(x1 + start + _DASH, x2)
        yield [x1 + start, y1, end, y1]
        yield [x1 + start, y2, end, y2]
    for start in range(0, int(y2 - y1), 2 * _DASH):
        end = min(y1 + start + _DASH, y2)
        yield [x1, y1 + start, x1, end]
        yield [x2, y1 + start, x2, end]
