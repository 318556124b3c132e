"""Words for known and unknown samples, wherever files hold them: one vocabulary for tables, boxes and maps.

A word may be clear in one place and mean something else in another: `id` is in-distribution in a cell and an
identifier in a header, `true` is unknown in a column of labels and says nothing in the name of a file, and a class of
objects may well be called `anomaly`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Flag, auto
from functools import lru_cache


class Place(Flag):
    """Where a word is read.

    CELL: a cell of a column of labels
    FILE: a word in the name of a file, a folder or a data set
    COLUMN: the name of a column of 0 and 1, which says what 1 means, or of a folder of such samples
    OUTCOME: such a name of predictions, of which wrong ones are to have high scores
    CLASS: the name of a class of objects
    """

    CELL = auto()
    FILE = auto()
    COLUMN = auto()
    OUTCOME = auto()
    CLASS = auto()


_ANY = Place.CELL | Place.FILE | Place.COLUMN | Place.CLASS
_NAMED = Place.CELL | Place.FILE | Place.COLUMN
_LABEL = Place.CELL | Place.COLUMN
_KNOWN = (
    (_NAMED, "known inlier inliers indistribution indist ind normal nominal"),
    (_LABEL, "good ok okay pass passed healthy seen"),
    (Place.CELL | Place.FILE, "id in"),
    (Place.CELL | Place.FILE, "bonafide"),
    (Place.CELL, "closed false"),
    (Place.OUTCOME, "correct right"),
)
_UNKNOWN = (
    (_ANY, "unknown unknowns unk ood outofdistribution novel unseen"),
    (_NAMED, "outlier outliers anomaly anomalous"),
    (_LABEL, "anomalies abnormal novelty bad ng nok fail failed defect defective faulty open"),
    (Place.CELL | Place.FILE, "out"),
    (Place.CELL | Place.FILE, "spoof"),
    (Place.CELL, "true"),
    (Place.OUTCOME, "wrong incorrect error misclassified"),
)
_WORDS: Mapping[str, tuple[bool, Place]] = {
    word: (is_unknown, place)
    for is_unknown, rows in ((False, _KNOWN), (True, _UNKNOWN))
    for place, words in rows
    for word in words.split()
}
# words for known and unknown samples of a field, which mean these only beside one another: a class may be called human
_PAIRS = (
    "bonafide spoof, genuine impostor, target nontarget, correct wrong, human ai, real fake, benign malware, "
    "benign malicious, ok ng"
)
_BY_PAIR: Mapping[frozenset[str], str] = {
    frozenset(pair): pair[1] for pair in (text.split() for text in _PAIRS.split(", "))
}
TRUTHS = ("true", "false")  # cells that stand for 1 and 0, so that the name of their column says what they mean
_FILLERS = ("is", "are", "label", "labels", "flag", "target", "gt", "truth", "sample", "samples", "image", "images")
_NEGATIONS = ("not", "non")
_OBJECTS = ("object", "objects", "class", "classes", "category", "categories", "instance", "instances")


def _side(word: str, place: Place) -> bool | None:
    """Whether a word means unknown in a place, known (False), or neither (None)."""
    is_unknown, places = _WORDS.get(word, (None, Place(0)))
    return is_unknown if places & place else None


def side_of(word: object) -> bool | None:
    """Whether the word of a cell means unknown, known (False), or neither (None).

    >>> side_of("OOD"), side_of("In-distribution"), side_of("NG"), side_of("cat")
    (True, False, True, None)
    """
    return _side(_letters(word), Place.CELL)


def sides_of(words: Iterable[str]) -> dict[str, bool | None]:
    """Whether each distinct word of a column means unknown, known (False), or neither (None).

    >>> sides_of(["Human", "AI"]), sides_of(["human", "car"])
    ({'Human': False, 'AI': True}, {'human': None, 'car': None})
    """
    words = [*words]
    unknown = _unknown_of_pair(words)
    return {word: side_of(word) if unknown is None else _letters(word) == unknown for word in words}


def are_pair(words: Iterable[str]) -> bool:
    """Whether the distinct words of a column are the two of a field, such as bonafide and spoof."""
    return _unknown_of_pair(words) is not None


def _unknown_of_pair(words: Iterable[str]) -> str | None:
    return _BY_PAIR.get(frozenset(map(_letters, words)))


def _letters(word: object) -> str:
    return re.sub(r"[^a-z]", "", str(word).lower())


def side_of_name(name: str) -> bool | None:
    """Whether a word in the name of a file means unknown, known (False), or neither (None); None for both.

    >>> side_of_name("scores_ood"), side_of_name("ID"), side_of_name("cifar10")
    (True, False, None)
    """
    return sides_of_names([name])[0]


def sides_of_names(names: Sequence[str]) -> list[bool | None]:
    """As `side_of_name`, of several names: words that are in all of them say nothing.

    >>> sides_of_names(["in_id", "in_ood"]), sides_of_names(["out", "out"]), sides_of_names(["ood"])
    ([False, True], [None, None], [True])
    """
    words = [{*re.split(r"[^a-z]+", name.lower())} for name in names]
    shared = set.intersection(*words) if len(words) > 1 else set()
    return [_only(_side(word, Place.FILE) for word in each - shared) for each in words]


@lru_cache(maxsize=512)  # a reading looks at each name several times
def side_of_column(name: str, place: Place = Place.COLUMN | Place.OUTCOME) -> bool | None:
    """Whether 1 means unknown in a column, known (False), or neither (None), by its name.

    >>> [side_of_column(name) for name in ("is_known", "inDistribution", "is_id", "correct", "not_normal")]
    [False, False, False, False, True]
    >>> [side_of_column(name) for name in ("is_ood", "anomaly label", "label", "id", "known_classes")]
    [True, True, None, None, None]
    """
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    rest = "".join(word for word in words if word not in (*_FILLERS, *_NEGATIONS))
    after_is = Place.FILE if words[:1] in (["is"], ["are"]) else Place(0)  # is_id and is_in, where id may be a key
    side = _side(rest, place | after_is)
    return side if side is None or {*words}.isdisjoint(_NEGATIONS) else not side


def means_normal(name: str) -> bool:
    """Whether the name of a folder means that its images are normal.

    >>> means_normal("OK"), means_normal("Good"), means_normal("crack")
    (True, True, False)
    """
    return _side(re.sub(r"[^a-z]", "", name.lower()), Place.COLUMN) is False


def means_unknown(name: str) -> bool:
    """Whether the name of a class of objects means that the class is unknown.

    >>> means_unknown("Unknown_Object"), means_unknown("OOD"), means_unknown("unknown bird")
    (True, True, False)
    """
    words = re.split(r"[\s_-]+", name.strip().lower())
    words = words[:-1] if words[-1] in _OBJECTS else words
    is_one = len(words) == 1 or words == ["out", "of", "distribution"]
    return is_one and _side("".join(words), Place.CLASS) is True


def _only(sides: Iterable[bool | None]) -> bool | None:
    distinct = {*sides} - {None}
    return distinct.pop() if len(distinct) == 1 else None
