"""Say which images are in one input alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..reading.archives import some


def note_on_boxes(files: Mapping[str, Sequence[Any]], detector: str = "") -> str:
    """A note on images that have boxes, or a file, on one side only.

    files: the images of the predictions and of the references, by column
    """
    (first, predicted), (second, true) = ((name, [*dict.fromkeys(map(str, images))]) for name, images in files.items())
    both = (predicted, true), (true, predicted)
    alone, empty = ([one for one in own if one not in set(other)] for own, other in both)
    of = f" of {detector}" if detector else ""
    notes = []
    if alone:
        notes.append(f"Images with {first}{of} but no {second}, so all are wrong: {len(alone):,} ({some(alone)}).")
    if empty:
        notes.append(f"Images with {second} but no {first}{of}: {len(empty):,} ({some(empty)}).")
    return " ".join(notes)


def check_common(names: Mapping[str, Sequence[Any]]) -> None:
    """Raise ValueError if the rows of two columns name their images, and no name is in both."""
    sides = [side for side in names.values() if side and all(isinstance(name, str) for name in side)]
    if len(sides) == 2 and not set(sides[0]) & set(sides[1]):
        first, second = (some(list(dict.fromkeys(side))) for side in sides)
        raise ValueError(f"images: expected names that are in both inputs, got {first} and {second}: no name in common")
