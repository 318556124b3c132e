"""One execution of a target: its input made from a number, run, and held to the rule."""

from __future__ import annotations

import hashlib
import math
import os
import re
import shutil
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import openworld_metrics
from openworld_metrics.written.results import as_json
from tests.fuzz.contents import Files, damaged_files
from tests.fuzz.values import changed, torch

PACKAGE = Path(openworld_metrics.__file__).resolve().parent
SECONDS = 5.0  # of processor time that one execution may take
MEMORY = 512 << 20  # bytes beyond what the process holds anyway
WHOLE = 16  # one of so many inputs is not damaged
# what is no share: scores, counts, and ratios that have no upper bound
UNBOUNDED = ("threshold", "WI", "per_", "A-OSE", "conf", "num_", "total", "TP", "FP", "FN", "prr")

calls = {"taken": 0, "refused": 0}  # how many inputs were, in this process


class BrokenError(Exception):
    """The rule is broken. The message says how, the same for all inputs for which it is so; more is in `detail`."""

    def __init__(self, how: str, detail: object = "") -> None:
        super().__init__(how)
        self.how, self.detail = how, detail


class Refused(NamedTuple):
    """What came in place of a result, as it may."""

    error: Exception


class Input(NamedTuple):
    """Files by their names in an empty folder, and arguments by theirs."""

    files: Files
    values: dict[str, Any]

    def with_value(self, **values: Any) -> Input:
        return self._replace(values={**self.values, **values})


class Case(NamedTuple):
    """The arguments of an input, whose files are in the current folder, and whether it is undamaged."""

    values: dict[str, Any]
    whole: bool

    def attempt(self, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """What a call returns, or `Refused` for an error that is allowed, unless the input is a valid one."""
        try:
            result = call(*args, **options)
        except (ValueError, TypeError) as error:
            calls["refused"] += 1
            if self.whole:
                raise BrokenError(f"refused a valid input: {_shape(error)}", traceback.format_exc()) from None
            if not str(error):
                raise BrokenError(f"an error without words: {place_of(error)}", traceback.format_exc()) from None
            return Refused(error)
        calls["taken"] += 1
        return result


def damage(rng: Random, value: Input) -> Input:
    """Something wrong with a file, or with an argument."""
    if value.files and (not value.values or rng.random() < 0.8):
        return value._replace(files=damaged_files(rng, value.files))
    key = rng.choice([*value.values])
    return value.with_value(**{key: changed(rng, value.values[key])})


class Target(NamedTuple):
    """What is fuzzed. make: a valid input; run: raises what breaks the rule; damage: the input changed."""

    make: Callable[[Random], Input]
    run: Callable[[Case], None]
    damage: Callable[[Random, Input], Input] = damage


class Finding(NamedTuple):
    """A broken rule: for which input, how (the same words for the same defect), and all that there is to say."""

    target: str
    number: int
    how: str
    detail: str


def draw(name: str, target: Target, index: int) -> tuple[Input, bool]:
    """The input of a number, and whether it is undamaged."""
    rng = Random(f"{name}:{index}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that make odd arrays
        value, whole = target.make(rng), index % WHOLE == 0
        return (value if whole else target.damage(rng, value)), whole


def execute(name: str, target: Target, index: int, folder: Path) -> Finding | None:
    """Run one input in a folder, which becomes the current one and is emptied before that."""
    try:
        value, whole = draw(name, target, index)
    except Exception as error:
        return Finding(name, index, f"no input can be made: {_shape(error)}", traceback.format_exc())
    shutil.rmtree(folder, ignore_errors=True)
    try:
        write_files(value.files, folder)
    except (OSError, ValueError):  # no file can have such a name
        return None
    os.chdir(folder)
    before = _begin_peak()
    begin = time.process_time()
    how, detail = "", ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same = fingerprint(value.values)
            target.run(Case(value.values, whole))
            check_same(same, fingerprint(value.values), "an input")
            _check_files(value.files, folder)
    except BrokenError as error:
        how, detail = error.how, str(error.detail)
    except BaseException as error:
        how, detail = _shape(error), traceback.format_exc()
    seconds, grown = time.process_time() - begin, memory("VmHWM") - before
    if seconds > SECONDS:
        how, detail = f"takes more than {SECONDS:g} s; {how}", f"{seconds:.1f} s\n{detail}"
    if grown > MEMORY:
        how, detail = f"takes more than {MEMORY >> 20} MiB; {how}", f"{grown >> 20} MiB\n{detail}"
    return Finding(name, index, how, detail) if how else None


def place_of(error: BaseException) -> str:
    """The last line of the package that an error went through."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(PACKAGE)
    ]
    return f"{Path(frames[-1].filename).relative_to(PACKAGE)}, {frames[-1].name}" if frames else "outside the package"


def _shape(error: BaseException) -> str:
    """An error in words that are the same for the same defect."""
    words = re.sub(r"0x[0-9a-f]+|'[^']*'|\"[^\"]*\"|[-\d.]+", "#", str(error).replace("\n", " "))
    return f"{type(error).__name__} in {place_of(error)}: {words[:80]}"


def write_files(files: Files, folder: Path) -> None:
    """Write the files of an input."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _check_files(files: Files, folder: Path) -> None:
    """Raise unless a folder holds the files of an input as they were, and no others."""
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in {**files, **there}:
        if name not in files:
            raise BrokenError("a file was written", name)
        if name not in there or there[name].read_bytes() != files[name]:
            raise BrokenError("a file has changed", name)


def save(value: Input, folder: Path) -> None:
    """Write an input so that a person can look at it: its files, and the rest as Python shows it."""
    shutil.rmtree(folder, ignore_errors=True)
    write_files(value.files, folder)
    (folder / "input.txt").write_text(f"{value.values!r}\n", encoding="utf-8", errors="backslashreplace")


def _begin_peak() -> int:
    """Forget the highest memory so far; what the process holds now."""
    if (path := Path("/proc/self/clear_refs")).exists():
        path.write_text("5", encoding="ascii")
    return memory("VmRSS")


def memory(field: str) -> int:
    """A field of this process's status, in bytes; 0 where a system does not say."""
    status = Path("/proc/self/status")
    match = re.search(rf"{field}:\s+(\d+) kB", status.read_text(encoding="ascii")) if status.exists() else None
    return int(match[1]) << 10 if match else 0


def fingerprint(value: Any) -> Any:
    """A value to compare: the bits of arrays and tensors, the items of lists and dicts, the type of all."""
    if isinstance(value, np.ndarray):
        bits = value.tolist() if value.dtype.hasobject else hashlib.sha256(value.tobytes()).digest()
        return "array", value.dtype, value.shape, bits
    if torch is not None and isinstance(value, torch.Tensor):
        dense = value.layout == torch.strided and not value.is_nested and value.device.type == "cpu"
        return "tensor", str(value.dtype), value.detach().tolist() if dense and not value.is_quantized else None
    if isinstance(value, Mapping):
        return "dict", [(repr(key), fingerprint(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [fingerprint(item) for item in value]
    return type(value), repr(value) if isinstance(value, (int, float, str, bytes)) else None


def samples_of(metric: Any) -> Any:
    """A metric's samples: their number, and its state to the bit."""
    return len(metric), fingerprint(metric.state())


def check_same(before: Any, after: Any, what: str) -> None:
    """Raise unless something is as it was."""
    if repr(before) != repr(after):  # NaN is not equal to itself
        raise BrokenError(f"{what} has changed", f"{before}\n{after}")


def check_results(results: Any, percent: bool = False) -> None:
    """Raise unless results are plain numbers, tables of them and lists, without NaN, and shares are shares."""
    if not isinstance(results, dict) or not results or not all(isinstance(name, str) for name in results):
        raise BrokenError("the results are no dict by name", results)
    try:
        as_json(results)
    except (TypeError, ValueError) as error:
        raise BrokenError(f"the results are not JSON: {error}", results) from None
    for name, value in results.items():
        if isinstance(value, float) and not any(word in name for word in UNBOUNDED):
            if not 0 <= value <= (100 if percent else 1):
                raise BrokenError(f"the result {name} is no share", results)
        elif isinstance(value, int) and value < 0:
            raise BrokenError(f"the result {name} is negative", results)
        elif isinstance(value, float) and math.isnan(value):
            raise BrokenError(f"the result {name} is NaN", results)
