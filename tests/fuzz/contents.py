"""Valid files of every format that holds columns, and what is wrong with files in their format's own terms."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.damage import damaged, damaged_bytes_of, damaged_text
from tests.fuzz.values import changed, kind_of_array, plain, torch

ENDINGS = ("npy", "npz", "csv", "parquet", "json", *(("pt",) if torch is not None else ()))
NAMES = ("predictions", "references", "open_scores", "a", "b", "image", "class 0", "class 1", "x:y", "é", "c0", "c1")
Files = dict[str, bytes]
Columns = dict[str, Any]


def columns(rng: Random) -> Columns:
    """A few named columns of one length."""
    numbers = np.random.default_rng(rng.getrandbits(64))
    length, names = rng.choice((1, 2, 5, 30)), rng.sample(NAMES, rng.choice((1, 2, 4)))
    kinds = rng.choices(("f8", "f4", "i8", "u1", "?"), k=len(names))
    return {name: (8 * numbers.random(length)).astype(kind) for name, kind in zip(names, kinds)}


def content(rng: Random, ending: str, table: Columns) -> bytes:
    """A valid file of some columns; .npy holds the first, .json and .parquet also hold lists."""
    return _WRITERS[ending](rng, table)


def _npy(rng: Random, table: Columns) -> bytes:
    return _array_bytes(next(iter(table.values())), order=rng.choice("CF"))


def _array_bytes(array: Any, order: Any = "C") -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array, order=order), allow_pickle=True)
    return buffer.getvalue()


def _npz(rng: Random, table: Columns) -> bytes:
    members = {f"{name}.npy": _array_bytes(array) for name, array in table.items()}
    return _zipped(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def _zipped(members: Mapping[str, bytes], way: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", way) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _csv(rng: Random, table: Columns) -> bytes:
    mark, quoted = rng.choice(("\n", "\n", "\r\n")), rng.random() < 0.2
    rows = [[*table], *zip(*(map(repr, array.tolist()) for array in table.values()))]
    lines = [",".join(f'"{cell}"' if quoted else cell for cell in row) for row in rows]
    return (mark.join(lines) + mark).encode(rng.choice(("utf-8", "utf-8-sig")))


def _parquet(rng: Random, table: Columns) -> bytes:
    return _parquet_bytes(rng, pa.table({name: _arrow(rng, column) for name, column in table.items()}))


def _arrow(rng: Random, array: Any) -> Any:
    """The same numbers as Arrow has them: flat, in lists, in a dictionary, as words."""
    flat = pa.array(array)
    if not isinstance(array, np.ndarray):
        return flat
    way = rng.choice(("flat", "flat", "flat", "lists", "fixed", "dictionary", "words", "decimals", "half", "tensor"))
    if way == "lists":
        return pa.array([[value] * 3 for value in array.tolist()])
    if way == "fixed":
        return pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(array, 2)), 2)
    if way == "half":
        return pa.array(array.astype(np.float16))
    if way == "decimals" and array.dtype.kind in "iu":
        return flat.cast(pa.decimal128(20, 0))
    if array.dtype == bool:
        return flat
    if way == "dictionary":
        return flat.dictionary_encode()
    if way == "words":
        return pa.array(map(str, array.tolist()))
    if way == "tensor":
        return pa.FixedShapeTensorArray.from_numpy_ndarray(np.stack([array, array], axis=1))
    return flat


def _parquet_bytes(rng: Random, table: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(
        table,
        buffer,
        row_group_size=rng.choice((1, 7, 1000)),
        compression=rng.choice(("none", "snappy", "zstd", "gzip")),
        write_page_checksum=rng.random() < 0.3,
        version=rng.choice(("1.0", "2.4", "2.6")),
        data_page_version=rng.choice(("1.0", "2.0")),
        use_dictionary=rng.random() < 0.5,
    )
    return buffer.getvalue()


def _json(rng: Random, table: Columns) -> bytes:
    lists: Any = {name: column.tolist() if isinstance(column, np.ndarray) else column for name, column in table.items()}
    if rng.random() < 0.5:
        lists = [dict(zip(lists, row)) for row in zip(*lists.values())]
    text = json.dumps(lists, indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.5)
    return text.encode(rng.choice(("utf-8", "utf-8-sig", "utf-16")))


def _pt(rng: Random, table: Columns) -> bytes:
    return torch_bytes(rng, {name: torch.from_numpy(array) for name, array in table.items()})


def torch_bytes(rng: Random, value: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, _use_new_zipfile_serialization=rng.random() < 0.7)
    return buffer.getvalue()


_WRITERS: dict[str, Callable[[Random, Columns], bytes]] = {
    **{"npy": _npy, "npz": _npz, "csv": _csv, "parquet": _parquet, "json": _json, "pt": _pt}
}
_ODD_PLACES = ("x.txt", "é.png", "classes.txt", "{}.txt", "{}.jpg", "{}.xml", "{}.npy", "a/b.txt", "b.npz", "A" * 250)


def damaged_files(rng: Random, files: Files) -> Files:
    """Files of which one is damaged, lost, or also somewhere else."""
    name, way = rng.choice([*files]), rng.random()
    if way < 0.85:
        return {**files, name: damaged_content(rng, name.rpartition(".")[2], files[name])}
    if way < 0.92:
        return {other: data for other, data in files.items() if other != name}
    folder, _, stem = name.rpartition("/")
    other = f"{folder}/{rng.choice(_ODD_PLACES).format(stem.partition('.')[0])}".strip("/")
    return {**files, other: rng.choice((b"", b"0 .5 .5 1 1", *files.values()))}


def damaged_content(rng: Random, ending: str, data: bytes) -> bytes:
    """A file with something wrong: bytes anywhere, or what its format says."""
    if ending in _BOMBS and rng.random() < 0.01:
        return _BOMBS[ending]
    try:
        return damaged(rng, data) if rng.random() < 0.3 else _DAMAGES.get(ending, damaged)(rng, data)
    except (zipfile.BadZipFile, OSError, pa.ArrowException, ValueError, RecursionError):
        return damaged(rng, data)  # it was no file of this format any more


def _damaged_npy(rng: Random, data: bytes) -> bytes:
    """Another header, of its right length, or another kind of array."""
    if rng.random() < 0.3:
        array = kind_of_array(rng, np.arange(rng.choice((0, 1, 6))))
        fits = isinstance(array, np.ndarray) and array.dtype != object
        return _array_bytes(array if fits else np.asarray([1, None], dtype=object))
    start = 10 if data[6:7] == b"\x01" else 12
    header = data[start : start + int.from_bytes(data[8:start], "little")].decode("latin-1").rstrip()
    lie = rng.choice((_lying_header, damaged_text))(rng, header)[:60_000]
    encoded = lie.encode("utf-8", errors="replace") + b" " * 7 + b"\n"
    return data[:8] + len(encoded).to_bytes(start - 8, "little") + encoded + data[start + len(header) :]


def _lying_header(rng: Random, header: str) -> str:
    shapes = "()", "(0,)", "(-1,)", f"({1 << 40},)", "(2, -3)", f"({1 << 62}, 4)", "(True,)", "(1.0,)", "None"
    kind = rng.choice(("<f8", ">f8", "|O", "|S0", "|V0", "<U9", "<M8[s]", "<f2", "[('a', '<f8')]", "<c16", "<i16", "x"))
    order, shape = rng.choice(("True", "False", "2")), rng.choice(shapes)
    return f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}"


def _damaged_npz(rng: Random, data: bytes) -> bytes:
    """Another member, another name of one, or a member that is broken in an archive that is not."""
    members, way = _members(data), rng.random()
    name = rng.choice([*members])
    if way < 0.6:
        members[name] = (damaged if way < 0.3 else _damaged_npy)(rng, members[name])
    elif way < 0.8:
        odd = ("../x.npy", "/x.npy", "x", " ", "a/b.npy", "é.npy", "x\x00y.npy", "predictions.npy.npy", "conf.npy")
        members[rng.choice(odd)] = members.pop(name)
    elif way < 0.9:
        members[name] = b"\x93NUMPY\x01\x00" + bytes(1 << 22)  # four million zeros in four kilobytes
    else:
        del members[name]
    return _zipped(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA)))


def _damaged_text_file(rng: Random, data: bytes) -> bytes:
    return damaged_bytes_of(rng, data.decode("utf-8-sig"))


def _damaged_json(rng: Random, data: bytes) -> bytes:
    if rng.random() < 0.4:
        return damaged_bytes_of(rng, data.decode(json.detect_encoding(data)))
    return json.dumps(changed(rng, json.loads(data), plain, 0.03)).encode("utf-8", errors="surrogatepass")


def _damaged_parquet(rng: Random, data: bytes) -> bytes:
    """A broken footer of its right length, gaps, other types, or columns of one name."""
    if rng.random() < 0.5:
        length = int.from_bytes(data[-8:-4], "little")
        footer = damaged(rng, data[-8 - length : -8])
        return data[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    table = pq.read_table(io.BytesIO(data))
    odd = rng.choice(_ODD_ARROW)
    column = pa.array((odd * (table.num_rows // len(odd) + 1))[: table.num_rows])
    name = rng.choice((*table.column_names, "", "a.b", "predictions", "x\x1b[31m"))
    return _parquet_bytes(rng, table.set_column(rng.randrange(table.num_columns), name, column))


_ODD_ARROW: tuple[list[Any], ...] = (
    *([None], [1, None], [[1], [1, 2]], [[None], [1]], [[[1, 2]], [[3]]], [[], [1]], [None, [1]], ["a", "b"]),
    *([{"y": 1}], [True, None], [[True]], [float("nan")], [2**63 - 1], [[float("inf")]], [[[[1]]]], [["a"]]),
    *([[{"y": 1}]], [b"\xff"]),
)


class _Caller:
    """A pickle that makes a file when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("canary", "w")


def _damaged_pt(rng: Random, data: bytes) -> bytes:
    if rng.random() < 0.3:
        return torch_bytes(rng, rng.choice(_ODD_TORCH)(rng))
    members = _members(data)
    name = rng.choice([name for name in members if rng.random() < 0.3 or name.endswith("data.pkl")])
    return _zipped({**members, name: damaged(rng, members[name])})


_ODD_TORCH: tuple[Callable[[Random], Any], ...] = (
    lambda rng: _Caller(),
    lambda rng: {"predictions": _Caller()},
    lambda rng: torch.zeros(3, device="meta"),
    lambda rng: torch.eye(3).to_sparse(),
    lambda rng: torch.zeros(2, dtype=rng.choice((torch.bfloat16, torch.complex64, torch.float8_e5m2, torch.uint16))),
    lambda rng: torch.zeros(1).expand(1 << 20),
    lambda rng: [torch.zeros(2), torch.zeros(3)],
    lambda rng: {"predictions": rng.choice((None, 1, "x", [], {}, [[1, 2], [3]]))},
    lambda rng: {1: torch.zeros(2), None: 3},
    lambda rng: torch.nn.Parameter(torch.zeros(2)),
    lambda rng: [{"boxes": torch.zeros(1, 4), "labels": torch.zeros(1), "scores": plain(rng)}],
)
_DAMAGES: dict[str, Callable[[Random, bytes], bytes]] = {
    **{"npy": _damaged_npy, "npz": _damaged_npz, "parquet": _damaged_parquet, "json": _damaged_json, "pt": _damaged_pt},
    **dict.fromkeys(("csv", "txt", "yaml", "xml"), _damaged_text_file),
}


def _lists_of_lists() -> bytes:
    """A .pt file of a few hundred bytes that means a billion numbers."""
    numbers: list[Any] = [0.5] * 10
    for _ in range(8):
        numbers = [numbers] * 10
    data = pickle.dumps([{"boxes": numbers, "labels": numbers}], protocol=2)
    return _zipped({"archive/data.pkl": data, "archive/version": b"3\n"})


_BOMBS: dict[str, bytes] = {
    "pt": _lists_of_lists(),
    "yaml": b"a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    + b"".join(b"a%d: &a%d [%s]\n" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 9))
    + b"names: *a8\nval: images/val\n",
    "xml": b'<!DOCTYPE a [<!ENTITY a0 "xxxxxxxxx">'
    + b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 9) for i in range(1, 9))
    + b"]><annotation><object><name>&a8;</name></object></annotation>",
    "json": b"[" * 100_000,
    "txt": b"0 .5 .5 1 1 .5\n" * 10_000,
}
