"""Images of an answer: the meaning of each outline, and filters by kind of error, group and defect."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from ..answers.answer import Image
from ..answers.box_errors import KINDS as BOXES
from ..answers.worst_images import KINDS
from ..reading.sides import means_normal

_MOST_FILTERS = 10  # the most names of groups and of defects among the filters
_ORDER = {words: place for place, words in enumerate(BOXES.values())}


def legend_of(images: Iterable[Image]) -> dict[str, str]:
    """The legend of several images: the role of each kind of outline by its words, with boxes in one order."""
    roles = {key.words: key.role for image in images for key in image.keys}
    return {words: roles[words] for words in sorted(roles, key=lambda words: _ORDER.get(words, -1))}


def filters_of(images: Sequence[Image]) -> dict[str, str]:
    """The filters of images by their keys, in words: kinds of errors, then groups and defects where there are several.

    >>> filters_of([Image("a", (1, 1), kind=kind) for kind in ("alarm", "missed")])
    {'missed': 'Missed', 'alarm': 'False alarms'}
    """
    errors = {key.role for image in images for key in image.keys if key.is_error}
    filters = {role: f"{words[:1].upper()}{words[1:]}" for role, words in BOXES.items() if role in errors}
    filters |= {kind: words for kind, words in KINDS.items() if any(image.kind == kind for image in images)}
    for what, names in (("group", [one.group for one in images]), ("defect", [*map(_defect, images)])):
        several = dict.fromkeys(filter(None, names))
        filters |= {_key(what, name): name for name in several} if 1 < len(several) <= _MOST_FILTERS else {}
    return filters


def kinds_of(image: Image, filters: Collection[str]) -> list[str]:
    """The keys of the filters that show an image: its kind, group, defect and errors."""
    names = {"group": image.group, "defect": _defect(image)}
    keys = [image.kind, *(_key(what, name) for what, name in names.items() if name)]
    return [*sorted({key.role for key in image.keys if key.is_error} & {*filters}), *filter(None, keys)]


def chips_of(filters: Mapping[str, str], kinds: Sequence[Collection[str]]) -> list[tuple[str, str, int]]:
    """The key, the words and the number of images of all, and of each filter; none where no filter leaves any out.

    kinds: of each image, the keys of the filters that show it
    """
    counts = {key: sum(key in shown_by for shown_by in kinds) for key in filters}
    if not any(0 < count < len(kinds) for count in counts.values()):
        return []
    return [("", "All", len(kinds)), *((key, filters[key], count) for key, count in counts.items() if count)]


def filter_key(name: str) -> str:
    """A name encoded as one word, for a filter.

    >>> filter_key("unknown, called known")
    'unknown-called-known'
    """
    plain = re.sub(r"[ ,]+", "-", name)
    return plain if re.fullmatch(r"[\w-]+", plain, re.ASCII) else f"x-{name.encode().hex()}"


def _key(what: str, name: str) -> str:
    """A name as one word, for a filter, which no kind of error is."""
    return f"{what}-{filter_key(name)}"


def _defect(image: Image) -> str:
    """The defect of an image of maps, which is the folder in its name; "" for a normal one, or without a folder."""
    folder = PurePosixPath(image.name).parent.name if image.group else ""
    return "" if means_normal(folder) else folder
