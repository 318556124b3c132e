"""One execution of a target: its input made from a number, run, and held to the rule."""

from __future__ import annotations

import re
import shutil
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import openworld_metrics

PACKAGE = Path(openworld_metrics.__file__).resolve().parent
SECONDS = 5.0  # of processor time that one execution may take
MEMORY = 512 << 20  # bytes beyond what the process holds anyway
WHOLE = 16  # one of so many inputs is not damaged
ALLOWED = (ValueError, TypeError)
Files = dict[str, bytes]


calls = {"taken": 0, "refused": 0}  # how many inputs were, in this process


class BrokenError(Exception):
    """The rule is broken. The message says how, the same for all inputs for which it is so; more is in `detail`."""

    def __init__(self, how: str, detail: object = "") -> None:
        super().__init__(how)
        self.how, self.detail = how, detail


class Refused(NamedTuple):
    """What came in place of a result, as it may."""

    error: Exception


class Case(NamedTuple):
    """An input, an empty folder to work in, and whether the input is undamaged."""

    value: Any
    folder: Path
    whole: bool

    def attempt(self, call: Callable[[], Any], allowed: tuple[type[Exception], ...] = ALLOWED) -> Any:
        """What a call returns, or `Refused` for an error that is allowed, unless the input is a valid one."""
        try:
            result = call()
            calls["taken"] += 1
            return result
        except allowed as error:
            calls["refused"] += 1
            if self.whole:
                raise BrokenError(f"refused a valid input: {_shape(error)}", traceback.format_exc()) from None
            if not str(error):
                raise BrokenError(f"an error without words: {place_of(error)}", traceback.format_exc()) from None
            return Refused(error)


class Target(NamedTuple):
    """What is fuzzed.

    make: a valid input; damage: the input changed, in place or not; run: raises what breaks the rule
    """

    name: str
    make: Callable[[Random], Any]
    damage: Callable[[Random, Any], Any]
    run: Callable[[Case], None]


class Finding(NamedTuple):
    """A broken rule: for which input, how (the same words for the same defect), and all that there is to say."""

    target: str
    number: int
    how: str
    detail: str


def draw(target: Target, index: int) -> tuple[Any, bool]:
    """The input of a number, and whether it is undamaged."""
    rng = Random(f"{target.name}:{index}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that make odd arrays
        value, whole = target.make(rng), index % WHOLE == 0
        return (value if whole else target.damage(rng, value)), whole


def execute(target: Target, index: int, folder: Path) -> Finding | None:
    """Run one input in a folder, which is emptied before that."""
    try:
        value, whole = draw(target, index)
    except Exception as error:
        return Finding(target.name, index, f"no input can be made: {_shape(error)}", traceback.format_exc())
    _empty(folder)
    before = _begin_peak()
    begin = time.process_time()
    how, detail = "", ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.run(Case(value, folder, whole))
    except BrokenError as error:
        how, detail = error.how, str(error.detail)
    except BaseException as error:
        how, detail = _shape(error), traceback.format_exc()
    seconds, grown = time.process_time() - begin, _peak() - before
    if seconds > SECONDS:
        how, detail = f"takes more than {SECONDS:g} s; {how}", f"{seconds:.1f} s\n{detail}"
    if grown > MEMORY:
        how, detail = f"takes more than {MEMORY >> 20} MiB; {how}", f"{grown >> 20} MiB\n{detail}"
    return Finding(target.name, index, how, detail) if how else None


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def place_of(error: BaseException) -> str:
    """The last line of the package that an error went through."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(PACKAGE)
    ]
    frame = frames[-1] if frames else None
    return f"{Path(frame.filename).relative_to(PACKAGE)}, {frame.name}" if frame else "outside the package"


def _shape(error: BaseException) -> str:
    """An error in words that are the same for the same defect."""
    words = re.sub(r"0x[0-9a-f]+|'[^']*'|\"[^\"]*\"|[-\d.]+", "#", str(error).replace("\n", " "))
    return f"{type(error).__name__} in {place_of(error)}: {words[:80]}"


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write the files of an input."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def check_files(files: Mapping[str, bytes], folder: Path, written: tuple[str, ...] = ()) -> None:
    """Raise unless a folder holds the files of an input as they were, and others only of names that begin as said."""
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in {**files, **there}:
        if written and name.startswith(written):
            continue
        if name not in files:
            raise BrokenError("a file was written", name)
        if name not in there or there[name].read_bytes() != files[name]:
            raise BrokenError("a file has changed", name)


def save(value: Any, folder: Path) -> None:
    """Write an input so that a person can look at it: its files, and the rest as Python shows it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_files(getattr(value, "files", {}), folder)
    rest = value._replace(files=sorted(value.files)) if hasattr(value, "files") else value
    (folder / "input.txt").write_text(f"{rest!r}\n", encoding="utf-8", errors="backslashreplace")


_STATUS = Path("/proc/self/status")


def _begin_peak() -> int:
    """Forget the highest memory so far; what the process holds now. 0 where a system does not say."""
    if not _STATUS.exists():
        return 0
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return memory("VmRSS")


def _peak() -> int:
    return memory("VmHWM")


def memory(field: str) -> int:
    """A field of this process's status, in bytes."""
    if not _STATUS.exists():
        return 0
    found = re.search(rf"{field}:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"))
    return int(found[1]) << 10 if found else 0
