"""Cures of errors and notes: choices by name, which each face spells in its own way.

An error says what was expected and what came; a cure is a choice that mends it. The rooms below the faces never write
how it is made: `in_python` spells an argument of `read`, a command spells its flag, and a page the label of its widget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Or(tuple[Any, ...]):
    """Values of a choice of which any will do; empty where only the user knows the value."""

    def __new__(cls, *values: Any) -> Or:
        """Values of a choice, in the order in which they are spelled."""
        return super().__new__(cls, values)

    def __getnewargs__(self) -> tuple[Any, ...]:
        """The values, with which a copy in another process is made."""
        return (*self,)


ANY = Or()


@dataclass(frozen=True)
class Cure:
    """A way out of an error, or an alternative that a note offers.

    reason: the case, or the purpose, such as "if it stands for unknown" or "to leave out 3 files"
    choices: values by name, of arguments of `read` or options of the metric; those of `columns` are by column
    """

    reason: str
    choices: Mapping[str, Any]


Face = Callable[[Cure], str]  # how a face makes the choices of a cure, such as "use --leave-out"; "" if it has no way


class CurableError(ValueError):
    """An error with cures, of which its text has the spelling of Python."""

    def __init__(self, sentence: str, *cures: Cure) -> None:
        super().__init__(sentence, *cures)

    def __str__(self) -> str:
        return spelled(self)


class CurableTypeError(TypeError):
    """As `CurableError`, of a name or a type."""

    def __init__(self, sentence: str, *cures: Cure) -> None:
        super().__init__(sentence, *cures)

    def __str__(self) -> str:
        return spelled(self)


class Advice(str):
    """A note with cures, of which its text has the spelling of Python."""

    sentence: str
    cures: Sequence[Cure]

    def __new__(cls, sentence: str, *cures: Cure) -> Advice:
        """The sentence and its cures as a text."""
        text = super().__new__(cls, _joined(sentence, cures, in_python))
        text.sentence, text.cures = sentence, cures
        return text


def sentence_of(message: object) -> str:
    """The sentence of an error or a note, without its cures: the text of any other object."""
    if isinstance(message, (CurableError, CurableTypeError)):
        return str(message.args[0])
    return message.sentence if isinstance(message, Advice) else str(message)


def cures_of(message: object) -> Sequence[Cure]:
    """The cures of an error or a note; none of other errors and texts."""
    if isinstance(message, (CurableError, CurableTypeError)):
        return message.args[1:]
    return message.cures if isinstance(message, Advice) else ()


def advice_of(error: Exception) -> Advice:
    """An error as a note with the same sentence, and with its cures."""
    return Advice(sentence_of(error), *cures_of(error))


def error_of(note: str) -> CurableError:
    """A note as an error with the same sentence, and with its cures."""
    return CurableError(sentence_of(note), *cures_of(note))


def choices_of(message: object) -> set[str]:
    """The names of the choices that cure an error, or that a note offers.

    >>> choices_of(CurableError("x.csv: no labels", Cure("to leave it out", {"leave_out": True})))
    {'leave_out'}
    """
    return {name for cure in cures_of(message) for name in cure.choices}


def reworded(text: str, change: Callable[[str], str]) -> str:
    """A note whose sentence is changed, with its cures.

    >>> reworded(Advice("no images", Cure("to compare pixels", {"images": ANY})), str.capitalize)
    'No images; to compare pixels, use images=…'
    """
    return Advice(change(text.sentence), *text.cures) if isinstance(text, Advice) else change(text)


def spelled(message: object, face: Face | None = None) -> str:
    """The text of an error or a note with its cures, as a face spells them; by default as Python.

    >>> error = CurableError("got 8", Cure("if it is unknown", {"unknown_class_id": 8}))
    >>> spelled(error), spelled(error, lambda cure: f"enter {cure.choices['unknown_class_id']}")
    ('got 8; if it is unknown, use unknown_class_id=8', 'got 8; if it is unknown, enter 8')
    """
    return _joined(sentence_of(message), cures_of(message), face or in_python)


def _joined(sentence: str, cures: Sequence[Cure], face: Face) -> str:
    ways = [(cure.reason, face(cure)) for cure in cures]
    text = "; ".join([sentence.removesuffix("."), *(f"{reason}, {way}" for reason, way in ways if way)])
    return text + "." * sentence.endswith(".")


def in_python(cure: Cure) -> str:
    """The choices of a cure as arguments of `read`.

    >>> in_python(Cure("", {"resize": Or("nearest", "bilinear")})), in_python(Cure("", {"columns": {"labels": ANY}}))
    ("use resize='nearest' or 'bilinear'", "use columns={'labels': …}")
    """
    return f"use {' and '.join(f'{name}={_value(value)}' for name, value in cure.choices.items())}"


def _value(value: Any) -> str:
    if isinstance(value, Or):
        return " or ".join(map(repr, value)) or "…"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name!r}: {_value(one)}' for name, one in value.items())}}}"
    return repr(value)
