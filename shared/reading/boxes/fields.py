"""Fields that exporters write beside boxes, and that no metric here uses: refused, or named in a note.

A rotated box: CVAT and Datumaro write the box before its rotation, and the angle in degrees beside it, into COCO's and
Pascal VOC's files; roLabelImg writes `robndbox` in place of `bndbox`.
Lists of classes: LVIS does not annotate all classes in all images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

ROTATIONS = {  # by format, the paths of the angle in an annotation
    "COCO": (("attributes", "rotation"), ("rotation",)),
    "VOC": (("attributes", "rotation"), ("rotation",), ("robndbox", "angle")),
}
_HALF_TURN = 180  # degrees, after which a box is the same
LISTS = {  # of images, with what they mean in LVIS
    "not_exhaustive_category_ids": "LVIS leaves out unmatched predictions of these classes, which here are wrong",
    "neg_category_ids": "LVIS counts a class only in images that have it or list it, and here it counts in all",
}


def check_rotation(form: str, entry: Mapping[str, Any], place: str) -> None:
    """Raise ValueError for an annotation of a rotated box, whose corners are not the ones in the file.

    >>> check_rotation("COCO", {"attributes": {"rotation": 90.0}}, "a.json: annotations[0]")
    Traceback (most recent call last):
    ...
    ValueError: a.json: annotations[0]: expected attributes.rotation to be 0, since rotated boxes are not read, got 90.0
    """
    for path in ROTATIONS[form]:
        value: Any = entry
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None and not _is_straight(value):
            name = ".".join(path)
            raise ValueError(f"{place}: expected {name} to be 0, since rotated boxes are not read, got {value!r:.40}")


def _is_straight(value: Any) -> bool:
    try:
        return float(value) % _HALF_TURN == 0
    except (TypeError, ValueError):
        return False


def fields_of_object(element: Element) -> dict[str, Any]:
    """The attributes and the other fields of an object of Pascal VOC, as of an annotation of COCO."""
    fields: dict[str, Any] = {
        child.tag: {below.tag: below.text for below in child} if len(child) else child.text for child in element
    }
    pairs = element.iterfind("attributes/attribute")
    return {**fields, "attributes": {pair.findtext("name", "").strip(): pair.findtext("value", "") for pair in pairs}}


def notes_on_lists(images: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each list of classes that images have, which changes no number here.

    >>> notes_on_lists([{"id": 1, "neg_category_ids": [3]}, {"id": 2, "neg_category_ids": []}])[0].partition(":")[0]
    '1 of 2 images have neg_category_ids'
    """
    counts = {name: sum(bool(image.get(name)) for image in images) for name in LISTS}
    return [
        f"{count:,} of {len(images):,} images have {name}: {LISTS[name]}" for name, count in counts.items() if count
    ]
