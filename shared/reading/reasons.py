"""Explain failures to the user of a file; the file's name precedes the explanation."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .cures import CurableError, CurableTypeError, cures_of, sentence_of
from .limits import RefusedError

_PACKAGE = Path(__file__).parents[1]


def reason(error: BaseException) -> str:
    """The message of an error.

    >>> reason(KeyError("labels")), reason(FileNotFoundError(2, "No such file or directory", "x.npy"))
    ('labels', 'No such file or directory')
    >>> reason(MemoryError("of 3 GB")), reason(RuntimeError("CUDA error: out of memory"))
    ('there is not enough memory: of 3 GB', 'there is not enough memory')
    """
    if out_of_memory(error):
        detail = str(error) if isinstance(error, MemoryError) else ""
        return "there is not enough memory" + (f": {detail}" if detail else "")
    if isinstance(error, UnicodeDecodeError):
        return f"expected UTF-8 text, got the byte {error.object[error.start]:#04x} at position {error.start}"
    if isinstance(error, RecursionError):
        return "expected fewer levels, got a value nested too deeply"
    if isinstance(error, KeyError) and error.args:  # str(error) would be the repr of the argument
        return str(error.args[0])
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def place_of_bug(error: BaseException) -> str:
    """The file and line of an error of this package that no `raise` of it puts into words; "" for all others.

    Such an error is a bug: a key that is not there, or arrays whose shapes do not fit.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or out_of_memory(error) or isinstance(error, (OSError, ImportError)):
        return ""
    inside = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    in_words = frames[-1] not in inside or (frames[-1].line or "raise").startswith("raise")
    if isinstance(error, (ValueError, TypeError)) and in_words:
        return ""
    frame = (inside or frames)[-1]
    return f"{frame.filename}:{frame.lineno}"


def out_of_memory(error: BaseException) -> bool:
    """Whether there was not enough memory, for which torch has no special error on the CPU."""
    words = ("can't allocate memory", "Cannot allocate memory", "out of memory")
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in words)
    )


def with_text(error: Exception, text: str) -> Exception:
    """An error with another sentence, and with its cures: TypeError stays TypeError, others become ValueError."""
    is_type = isinstance(error, TypeError)
    if cures := cures_of(error):
        return (CurableTypeError if is_type else CurableError)(text, *cures)
    return (TypeError if is_type else ValueError)(text)


@contextmanager
def readable() -> Iterator[None]:
    """Turn system errors about a path, such as a name that is too long, into a ValueError with the path."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"{error.filename or 'a file'}: {reason(error)}") from error


@contextmanager
def rows_from(first: int) -> Iterator[None]:
    """Say in errors about a batch with a position that it counts from another row than 0."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if not first or not re.search(r"\b(position|row)\b", str(error)):
            raise
        raise with_text(error, f"{sentence_of(error)}, counted from row {first}") from error


@contextmanager
def named(place: object) -> Iterator[None]:
    """Put a file's name before errors about its content, once: TypeError stays TypeError, others become ValueError."""
    try:
        yield
    except (ImportError, RefusedError):
        raise  # not an error of the file, or one that names it
    except Exception as error:
        text = sentence_of(error) if cures_of(error) else reason(error)
        raise with_text(error, text if text.startswith(f"{place}: ") else f"{place}: {text}") from error


def some(names: Sequence[str], most: int = 5) -> str:
    """The first names, and the number of others.

    >>> some(["a", "b"]), some(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> listed(["a", "b", "c"]), listed(["a", "b"]), listed(["a"])
    ('a, b and c', 'a and b', 'a')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
