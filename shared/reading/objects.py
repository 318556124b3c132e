"""Objects in files: JSON in any of its encodings, and torch files (.pt).

orjson parses COCO's results twice as fast as Python's json, which makes reading them a third faster. Text that it reads
differently, or refuses, goes to json: integers of more than 64 bits, NaN and Infinity, halves of surrogate pairs,
UTF-16, and malformed text. Results and errors are therefore those of json, but for a name that an object states twice,
which is an error. Of torch files, only tensors and plain containers are unpickled.
"""

from __future__ import annotations

import codecs
import gc
import json
import reprlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ..extras import extra
from .reasons import out_of_memory

_BLOCK = 1 << 18  # bytes that fit in a cache
_BEFORE_A_NUMBER = np.frombuffer(b"[,: \t\r\n", np.uint8)


class _RepeatedNameError(ValueError):
    """A name that an object states twice."""


def parse_json(data: bytes) -> Any:
    """The content of JSON. Raises ValueError, with line and column, for other text, and for a name stated twice."""
    try:
        return loads(data)
    except json.JSONDecodeError as error:
        raise ValueError(f"expected JSON, got other text at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("expected fewer nested lists") from None


def parse_json_lines(data: bytes) -> list[Any]:
    """The contents of lines of JSON; blank lines are skipped.

    Raises ValueError, with the line, for other text, and for a name that an object states twice.
    """
    text = data.removeprefix(codecs.BOM_UTF8)
    with no_collection():
        contents = _contents_of_lines(text, json.loads if _has_long_integers(text) else orjson.loads)
        return contents if _has_each_name(text, contents) else _contents_of_lines(text, _checked)


def _contents_of_lines(text: bytes, parse: Callable[[bytes], Any]) -> list[Any]:
    contents = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            try:
                contents.append(_line(line, parse))
            except _RepeatedNameError as error:
                raise ValueError(f"{error} in line {number}") from None
            except (ValueError, RecursionError):
                raise ValueError(f"expected JSON in each line, got other text in line {number}") from None
    return contents


def loads(data: bytes) -> Any:
    """`json.loads(data)`, but faster, UTF-8 may begin with a byte order mark, and no name may be stated twice."""
    with no_collection():
        text = data.removeprefix(codecs.BOM_UTF8)
        if not _has_long_integers(text):
            try:
                content = orjson.loads(text)
            except orjson.JSONDecodeError:
                pass  # json reports the error, if there is one
            else:
                if _has_each_name(text, content):
                    return content
        return _checked(data)


def _line(line: bytes, parse: Callable[[bytes], Any]) -> Any:
    try:
        return parse(line)
    except orjson.JSONDecodeError:
        return _checked(line)  # of NaN and Infinity


def _checked(data: bytes) -> Any:
    """`json.loads(data)`. Raises _RepeatedNameError for a name that an object states twice."""
    return json.loads(data, object_pairs_hook=_with_names_once)


def _with_names_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        name, values = next((name, values) for name, values in _values(pairs).items() if len(values) > 1)
        came = " and ".join(reprlib.repr(value) for value in values[:2])
        raise _RepeatedNameError(f"expected each name once in an object, got {name!r} as {came}")
    return content


def _values(pairs: list[tuple[str, Any]]) -> dict[str, list[Any]]:
    values: dict[str, list[Any]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


def _has_each_name(text: bytes, content: Any) -> bool:
    """Whether a content surely has all names that its text states, since both have as many colons.

    Objects keep the last value of a name, so a repeated one loses its colon; an escaped colon might make up for it.
    To write a content takes a fifteenth of the time to read it.
    """
    if b"\\u003a" in text or b"\\u003A" in text:
        return False
    try:
        return orjson.dumps(content).count(b":") == text.count(b":")
    except orjson.JSONEncodeError:  # of long integers, and of many levels
        return False


def _has_long_integers(text: bytes) -> bool:
    """Whether text may hold integers beyond 64 bits, which orjson turns into floats: 20 or more digits and signs."""
    if text[:1] in b"-0123456789":
        return True
    data = np.frombuffer(text, np.uint8)
    for start in range(0, len(data), _BLOCK):
        part = data[start : start + _BLOCK + 20]
        run = (part - np.uint8(ord("0")) < 10) | (part == ord("-"))
        for step in (1, 2, 4, 8, 4):
            run = run[step:] & run[:-step]
        if np.isin(part[:-20][run[1:]], _BEFORE_A_NUMBER).any():
            return True
    return False


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the garbage collector while millions of live objects are created."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def by_column(content: Any) -> Any:
    """Records as columns, None where a record lacks one; anything else, and dicts of boxes, is unchanged.

    So are the other forms of `DataFrame.to_json`: columns and data, records below one name, columns by their index,
    records by their index.

    >>> by_column([{"scores": 0.1}, {"scores": 0.7, "groups": "far"}])
    {'scores': [0.1, 0.7], 'groups': [None, 'far']}
    >>> by_column({"columns": ["scores", "labels"], "data": [[0.1, 0], [0.7, 1]]})
    {'scores': [0.1, 0.7], 'labels': [0, 1]}
    >>> by_column({"scores": {"0": 0.1, "1": 0.7}}), by_column({"0": {"scores": 0.1}, "1": {"scores": 0.7}})
    ({'scores': [0.1, 0.7]}, {'scores': [0.1, 0.7]})
    """
    rows = content if isinstance(content, list) else _rows_of_object(content) if isinstance(content, dict) else []
    if not rows or not all(isinstance(row, dict) and "boxes" not in row for row in rows):
        return content
    return {name: [row.get(name) for row in rows] for name in dict.fromkeys(chain.from_iterable(rows))}


def by_path(content: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The values of an object, and of the objects and records in it, by their paths; dicts of boxes are values.

    >>> [*by_path({"predictions": {"real": [0.1], "rows": [{"p": 0.7}, {"p": 0.9}]}, "auroc": 1.0})]
    [('predictions.real', [0.1]), ('predictions.rows.p', [0.7, 0.9]), ('auroc', 1.0)]
    """
    for name, value in content.items():
        column = by_column(value) if isinstance(value, (dict, list)) else value
        if isinstance(column, dict) and "boxes" not in column and column:
            yield from by_path(column, f"{above}{name}.")
        else:
            yield f"{above}{name}", column


def _rows_of_object(content: dict[str, Any]) -> list[Any]:
    """The records in an object of pandas; none in another one."""
    names, data = content.get("columns"), content.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(len(row) == len(names) for row in data):
        return [dict(zip(map(str, names), row)) for row in data]
    values = [value for name, value in content.items() if name != "schema"]
    if len(values) == 1 and isinstance(values[0], list):
        return values[0] if values[0] and all(isinstance(row, dict) for row in values[0]) else []
    if not content or not all(isinstance(value, dict) for value in content.values()):
        return []
    index = [*map(str, range(len(content)))]
    if [*content] == index:
        return [*content.values()]
    first = [*next(iter(content.values()))]
    if first == [*map(str, range(len(first)))] and all([*column] == first for column in content.values()):
        return [{name: column[key] for name, column in content.items()} for key in first]
    return []


_SAFE = (2, 6)
_FEW = 1 << 20  # numbers that a file of any size may repeat, such as labels that images share


def read_torch_file(path: Path, otherwise: str) -> Any:
    """The content of a .pt file, on the CPU. Raises ValueError with the message `otherwise` for any other content.

    Raises ValueError also for tensors that NumPy does not support, such as sparse ones, and for a small file of many
    numbers: expanded tensors, or lists that hold one another. Raises MemoryError if the tensors do not fit into memory,
    OSError for a missing file.
    """
    with extra("torch"):
        torch = import_module("torch")  # by name, since Spaces do without it
    if tuple(map(int, torch.__version__.split(".")[:2])) < _SAFE:
        raise ImportError(
            "expected torch 2.6 or newer, since older versions may run code from a .pt file (CVE-2025-32434), "
            f"got {torch.__version__}: pip install -U torch"
        )

    with path.open("rb") as file:
        try:
            content = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # torch raises errors of many types for damaged files
            if out_of_memory(error):
                raise MemoryError from error
            # torch's own messages are long, and suggest disabling the safeguard
            raise ValueError(otherwise) from None
    size = path.stat().st_size
    most = max(size, _FEW)
    numbers, parts = 0, [content]
    while parts:
        part = parts.pop()
        numbers += 1
        if isinstance(part, torch.Tensor):
            kinds = {"meta": part.is_meta, "quantized": part.is_quantized, "nested": part.is_nested}
            kinds["sparse"] = part.layout != torch.strided
            if any(kinds.values()):
                raise ValueError(f"expected plain tensors, got a {max(kinds, key=lambda kind: kinds[kind])} one")
            numbers += part.numel()
        elif isinstance(part, (Mapping, list, tuple)):
            parts.extend(part.values() if isinstance(part, Mapping) else part)
        if numbers > most:
            raise ValueError(f"expected at most {most} numbers in a file of {size} bytes, got repeated numbers")
    return content
