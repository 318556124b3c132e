"""Sides and classes without objects, whose rates do not exist: recall, AP and their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

_MOST = 5  # classes that are named
_OF_SIDE = {"known": "recall, mAP and other rates of them", "unknown": "U-Recall and other rates of them"}


def no_objects_notes(
    labels: np.ndarray, ignored: np.ndarray, known_classes: Sequence[int], names: Mapping[int, str] = {}
) -> list[str]:
    """Sentences, without capitals and full stops, on the rates that are left out since there are no objects.

    Parameters: labels and ignored (m,), the class of each object and whether it is ignored; known_classes, ids; names
    of classes by id.

    >>> no_objects_notes(np.asarray([3, 7]), np.asarray([False, True]), [3, 4], {4: "cat"})[0]
    'there are no unknown objects, but 1 ignored: U-Recall and other rates of them are left out'
    >>> no_objects_notes(np.asarray([3, 7]), np.asarray([False, True]), [3, 4], {4: "cat"})[1]
    'no objects of 1 of 2 known classes (cat): it has no recall or AP, and means over classes leave it out'
    """
    is_known, notes = np.isin(labels, known_classes), []
    for side, here in (("known", is_known), ("unknown", ~is_known)):
        if not (here & ~ignored).any():
            but = f", but {np.count_nonzero(here):,} ignored" if here.any() else ""
            notes.append(f"there are no {side} objects{but}: {_OF_SIDE[side]} are left out")
    known = dict.fromkeys(known_classes)
    without = [label for label in known if label not in {*labels[is_known & ~ignored].tolist()}]
    if 0 < len(without) < len(known):
        some = ", ".join(names.get(label, str(label)) for label in without[:_MOST])
        some += f" and {len(without) - _MOST:,} more" if len(without) > _MOST else ""
        one, them = ("it has", "it") if len(without) == 1 else ("they have", "them")
        notes.append(
            f"no objects of {len(without):,} of {len(known):,} known classes ({some}): {one} no recall or AP, and means"
            f" over classes leave {them} out"
        )
    return notes
