"""JSON is parsed by orjson, with the results and the errors of Python's json."""

from __future__ import annotations

import codecs
import gc
import json
import random
from typing import Any

import orjson
import pytest

from openworld_metrics.reading import objects as reader

TEXTS = [
    *("[1, 2.5, -0, -0.0, 1e5, 1E+2, 5e-324, 1e-400, true, null]", "7", "NaN", "[NaN, Infinity, -Infinity]", "[1e999]"),
    *("[-1e400]", "123456789012345678901234", "-9223372036854775809", '{"a":12345678901234567890}', "[1]\x0b"),
    *("[0.12345678901234567890123]", "[12345678901234567890123.5]", "[-1e-00000000000000000007]"),
    *('["12345678901234567890123"]', "[0,\n\t-99999999999999999999]"),
    *('{"a": 1, "b": 2, "a": 3}', '["\\u00e9é\\n"]', '["\\ud800"]', "", " ", "\ufeff[1]", "\ufeff\ufeff[1]"),
    *(f"[{sign}{2**bits + more}]" for sign in ("", "-") for bits in (53, 63, 64, 70) for more in (-1, 0, 1)),
    *("[01]", "[1.]", "[.5]", "[+1]", "[1,]", "[1 2]", "[1]]", '{"a"}', "nul", '["\t"]', '["a', "[1]\x00", "[1_0]"),
    *("[" * depth + "]" * depth for depth in (200, 5000)),
]
NO_UTF_8 = [b'["\xff"]', b'["\xed\xa0\x80"]', b'["\xc3"]', b"\xff", b'["\xf4\x90\x80\x80"]']


def outcome(read: Any, data: bytes) -> str:
    """What is read, with types and signs; or the error, with its place."""
    try:
        return repr(read(data))
    except RecursionError:
        return "too deep"
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


def test_results_and_errors_are_those_of_json() -> None:
    encodings = ("utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be")
    for data in [*NO_UTF_8, *(text.encode(encoding, "surrogatepass") for encoding in encodings for text in TEXTS)]:
        assert outcome(reader.loads, data) == outcome(json.loads, data), data


def test_damaged_text_and_numbers_of_any_length() -> None:
    rng = random.Random(0)
    box = {"id": 12 * 10**18, "bbox": [0.1, 2, -3e-7, 1e22], "name": "é\n"}
    valid = [json.dumps([box] * 3, ensure_ascii=ascii).encode() for ascii in (True, False)]
    for number in range(3000):
        data = bytearray(valid[number % 2])
        place = rng.randrange(len(data))
        damage = (b"", b"9" * 21, b"-", b"]", b",", b"NaN", bytes([rng.randrange(256)]))
        data[place : place + rng.randrange(3)] = rng.choice(damage)
        whole, fraction = rng.getrandbits(rng.randrange(1, 200)), rng.getrandbits(60)
        text = f"[{whole}.{fraction:0{rng.randrange(20)}}e{rng.randrange(-340, 250)}]".encode()
        for one in (bytes(data), text):
            assert outcome(reader.loads, one) == outcome(json.loads, one), one


def test_long_integers_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_BLOCK", 64)
    for spaces in range(130):
        for number in ("12345678901234567890", "-1234567890123456789"):
            data = f"[1,{' ' * spaces}{number}, 0.5]".encode()
            assert reader._has_long_integers(data), data
            assert not reader._has_long_integers(data.replace(b"9, 0", b", 0").replace(b"90, 0", b", 0"))


def test_orjson_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "loads", None)
    data = b'[{"image_id": 1234567890123456789, "score": 0.0001234567890123456789, "file": "12345678901234567890.jpg"}]'
    for mark in (b"", codecs.BOM_UTF8):
        assert reader.loads(mark + data) == orjson.loads(data)


@pytest.mark.parametrize("data", [b"[1]", b"[NaN]", b"[1"])
@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_as_before(data: bytes, enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        outcome(reader.loads, data)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


LINES = ['{"a": 1}', "  ", "[0.5, NaN]", "-Infinity", '"é"', "12345678901234567890123", "[]", '{"a": [1, {"b": null}]}']


def test_each_line_by_itself() -> None:
    rng = random.Random(0)
    for _ in range(100):
        lines = rng.choices(LINES, k=rng.randrange(6))
        text = rng.choice(("", "\ufeff")) + rng.choice(("\n", "\r\n")).join(lines)
        contents = reader.parse_json_lines(text.encode())
        assert repr(contents) == repr([json.loads(line) for line in lines if line.strip()])


@pytest.mark.parametrize("text", ["[1\n2]", "1 2", "\n\n{", '["a"\n]', "[" * 100_000, "\ud800"])
def test_lines_that_are_not_json(text: str) -> None:
    data = text.encode(errors="surrogatepass")
    line = 1 + len(text) - len(text.lstrip())
    with pytest.raises(ValueError, match=f"^expected JSON in each line, got other text in line {line}$"):
        reader.parse_json_lines(data)
