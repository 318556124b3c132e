"""Draw the boxes of an image over it, coloured by outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from ...detection.errors import MISSED
from ...evaluation.image_errors import FOUND, OBJECT, ErrorBox
from ...reading.places import Size
from ..frame import picture_html
from ..thumbnails import photograph

MOST = 60  # the most boxes to draw; more would hide the image
_NAMED = 12  # the most boxes with names
_CLASSES = {
    FOUND: "found",
    OBJECT: "object",
    MISSED: "missed",
    "badly placed": "placed",
    "known called another known": "wrong",
    "known called unknown": "rejected",
    "unknown called known": "accepted",
    "both, known called another known": "placed",
    "both, known called unknown": "placed",
    "both, unknown called known": "placed",
}  # all other kinds lie on nothing
_UNNAMED = (FOUND, OBJECT)
_LAST = (FOUND, "duplicate", "background called known", "background called unknown")


def image_with_boxes(
    path: Path | None,
    size: Size | None,
    boxes: Sequence[ErrorBox],
    names: Mapping[int, str],
    alt: str,
    side: int,
    quality: int = 82,
) -> tuple[str, int]:
    """An image with its boxes as HTML, and the number of boxes drawn.

    Parameters: path of the image, or None for a plain ground as large as size says, or as the boxes reach; boxes;
    names of classes by id; alt, a sentence; side, of the picture within the page, its longer one, in pixels, and the
    quality of its JPEG.
    """
    shown = shown_boxes(boxes)
    source = None
    if path is not None:
        source, own = photograph(path, side, quality)
        size = size or own  # the picture is scaled to the size that the data set says, in which boxes lie
    reach = [max([1.0, *(box.box[end] for box in boxes)]) for end in (2, 3)]
    width, height = size or (round(reach[0]), round(reach[1]))
    letters = max(width, height) / 18
    drawn = "".join(
        _rect(box, names) + (_name(box, names, letters, width) if left <= _NAMED else "")
        for left, box in zip(range(len(shown), 0, -1), shown)
    )
    return picture_html(source, alt, (width, height), drawn), len(shown)


def shown_boxes(boxes: Sequence[ErrorBox]) -> list[ErrorBox]:
    """At most `MOST` boxes: errors on objects first, then right boxes, then boxes on nothing.

    The least confident boxes are left out. The order is such that errors are drawn on top.
    """
    place = {kind: at for at, kind in enumerate(_LAST, 1)}
    ranked = sorted(boxes, key=lambda box: place.get(box.kind, 0))
    return ranked[:MOST][::-1]


def box_words(box: ErrorBox, names: Mapping[int, str]) -> str:
    """The outcome of a box as text.

    >>> box_words(ErrorBox((0, 0, 1, 1), "unknown called known", 0, 0.5, 6), {0: "zero", 6: "six"})
    'called zero (0.50), is six: unknown called known'
    """
    label = names.get(box.label, str(box.label))
    if box.score is None:
        return f"{label}: missed" if box.kind == MISSED else label
    own = "" if box.true_label is None else f", is {names.get(box.true_label, str(box.true_label))}"
    return f"called {label} ({box.score:.2f}){own}: {box.kind}"


def _rect(box: ErrorBox, names: Mapping[int, str]) -> str:
    x1, y1, x2, y2 = box.box
    return (
        f'<rect class="{_CLASSES.get(box.kind, "nothing")}" x="{x1:.5g}" y="{y1:.5g}" width="{max(0, x2 - x1):.5g}"'
        f' height="{max(0, y2 - y1):.5g}"><title>{escape(box_words(box, names))}</title></rect>'
    )


def _name(box: ErrorBox, names: Mapping[int, str], letters: float, reach: float) -> str:
    """The class of an erroneous box, above the box, or below it if there is no room."""
    if _CLASSES.get(box.kind) in (None, *_UNNAMED):
        return ""
    x1, y1, _, y2 = box.box
    name = names.get(box.label, str(box.label))
    at = y1 - letters / 4 if y1 > letters else y2 + letters
    left = min(max(0.0, x1), max(0.0, reach - 0.76 * letters * len(name)))
    return f'<text x="{left:.5g}" y="{at:.5g}" style="font-size:{letters:.4g}px">{escape(name)}</text>'
