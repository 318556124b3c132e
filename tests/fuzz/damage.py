"""What happens to bytes and texts: flipped bits, pieces lost, moved and repeated, lengths and numbers that are lies."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

MAX_BYTES = 200_000
NUMERALS = (
    *("0", "-1", "-0", "1e999", "-1e999", "1e-999", "nan", "NaN", "inf", "-Infinity", "0x10", "1_0", "٣", "", " "),
    *("2147483648", "4294967295", "9007199254740993", "9223372036854775808", "18446744073709551616", "1" * 400),
    *("1.5", "1e308", "5e-324", "1e5", "100000", "true", "null", "1" * 5000, "½", "1,5", "+1", ".5", "1."),
)
WORDS = (
    *("\x00", "\ufeff", "\u2028", "\x1b]0;x\x07", "\x85", "é", "😀", "\r", "\r\n", "\n", "\n\n", "\t", "  ", '"', "'"),
    *("{", "}", "[", "]", "[[[[", ",", ",,", ":", "&a [", "*a", "<<: *a", "!!python/object:os.system x", "---\n", "#"),
    *("<!ENTITY a 'b'>", "&a;", "<![CDATA[", "-->", "<?xml version='1.1' encoding='utf-16'?>", "</object>", "x" * 3000),
    *("\\ud800", "\\u0000", "null", "{}", "[]", "../x", "/etc/hostname", "a" * 300, "%", "{0}", "$(x)", "e" * 70),
)
_INTEGERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 62, (1 << 64) - 1)


def damaged(rng: Random, data: bytes) -> bytes:
    """Bytes with one or a few things wrong."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(_WAYS)(rng, data)
    return data[:MAX_BYTES]


def damaged_text(rng: Random, text: str) -> str:
    """A text with one or a few things wrong."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        text = rng.choice(_TEXT_WAYS)(rng, text)
    return text[:MAX_BYTES]


def damaged_bytes_of(rng: Random, text: str) -> bytes:
    """A text in some encoding, with something wrong in its words or in its bytes."""
    if rng.random() < 0.7:
        text = damaged_text(rng, text)
    encoding = rng.choice(("utf-8",) * 8 + ("utf-8-sig", "utf-16", "utf-32", "latin-1"))
    data = text.encode(encoding, errors="replace" if encoding == "latin-1" else "surrogatepass")
    return damaged(rng, data) if rng.random() < 0.3 else data


def _flip(rng: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 16)) if data else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _move(rng: Random, data: bytes) -> bytes:
    """Pieces that are cut off or out, repeated, in each other's place, or copied over others."""
    a, b, c, d = sorted(rng.randrange(len(data) + 1) for _ in range(4))
    b = min(b, a + rng.choice((1, 4, 16, 100, 1000)))
    copied = data[:c] + data[a:b] + data[c + b - a :]
    repeated = data[:b] + data[a:b] * rng.choice((1, 2, 50)) + data[b:]
    return rng.choice((data[:a], data[:a] + data[b:], repeated, data[:a] + data[c:d] + data[b:c] + data[d:], copied))


def _insert(rng: Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.randbytes(rng.choice((1, 2, 4, 30))) + data[place:]


def _overwrite(rng: Random, data: bytes) -> bytes:
    """A length, an offset or a count that lies."""
    size, place = rng.choice((1, 2, 4, 8)), rng.randrange(len(data) + 1)
    number = rng.choice((*_INTEGERS, rng.randrange(1 << 64))) % (1 << 8 * size)
    return data[:place] + number.to_bytes(size, rng.choice(("little", "big"))) + data[place + size :]


def _renumber(rng: Random, data: bytes) -> bytes:
    """A number in letters that is another."""
    return _replace(rng, data.decode("latin-1"), r"\d+", rng.choice(NUMERALS)).encode("latin-1", "replace")


_WAYS: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(_flip, _flip, _move, _move, _move, _move, _move, _insert, _overwrite, _overwrite, _renumber),
)


def _replace(rng: Random, text: str, pattern: str, by: str) -> str:
    """The text with one match replaced."""
    matches = [*re.finditer(pattern, text)]
    if not matches:
        return text + by
    match = rng.choice(matches)
    return text[: match.start()] + by + text[match.end() :]


def _another_line(rng: Random, text: str) -> str:
    """Lines that are gone, twice, or in each other's place."""
    lines = text.splitlines(keepends=True) or [""]
    i, j, way = rng.randrange(len(lines)), rng.randrange(len(lines)), rng.randrange(4)
    if way == 0:
        del lines[i]
    elif way == 1:
        lines.insert(j, lines[i])
    elif way == 2:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines[i] = lines[i].rstrip("\n")
    return "".join(lines)


def _inserted(rng: Random, text: str) -> str:
    """Words, or brackets in brackets."""
    place, depth = rng.randrange(len(text) + 1), rng.choice((3, 100, 5000))
    begin, end = rng.choice(("[]", "{}", "()", "-!"))
    words = (rng.choice((*WORDS, *NUMERALS)), begin * depth + end * rng.choice((0, depth)))
    return text[:place] + rng.choice(words) + text[place:]


_TEXT_WAYS: tuple[Callable[[Random, str], str], ...] = (
    *[lambda rng, text: _replace(rng, text, r"[-+]?\d[-+\d.e]*", rng.choice(NUMERALS))] * 2,
    lambda rng, text: _replace(rng, text, r"[A-Za-z_]+", rng.choice((*WORDS, *NUMERALS))),
    lambda rng, text: _replace(rng, text, r"[^\w]", rng.choice((*WORDS, ""))),
    lambda rng, text: text[: rng.randrange(len(text) + 1)],
    *(_another_line, _inserted, _inserted),
)
