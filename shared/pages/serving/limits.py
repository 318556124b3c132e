"""Limits on the size and contents of uploads, and the checks that enforce them."""

from __future__ import annotations

import re
from typing import NamedTuple

from ...reading.limits import PAGES, RefusedError

MAX_BYTES = PAGES.size
# for a request without files: a page's table, or a call of the endpoint. Gradio parses it on the thread that serves all
# visitors, in about 4 µs for a list or an object and 0.3 µs for a number: others wait 0.2 s, or up to 0.7 s on a busy
# machine
MAX_BODY = 1_000_000
MAX_LISTS = 50_000
MAX_POINTS = 2_000  # of a curve
MAX_IMAGES = 200
MAX_DETECTORS = 20
STATED = (
    f"At most {PAGES.files} files of {PAGES.size // 1_000_000} MB together ({PAGES.json // 1_000_000} MB of JSON), "
    f"{PAGES.unpacked // 1_000_000} MB unpacked. They are deleted within two hours. Tables and calls of the endpoint: "
    f"{MAX_BODY // 1_000_000} MB with {MAX_LISTS:,} rows; upload larger data as files."
)
SILENCE = 30.0  # seconds within which the next part of a body must arrive


class Allowance(NamedTuple):
    """Limits of one kind of request.

    size: bytes of a body
    lists: opening brackets in a body of JSON; None for other bodies
    at_once: bodies in transit
    seconds: time until a body is complete
    advice: an alternative to a larger body, as text
    of_each: bodies in transit from one client; 0 for as many as `at_once`
    kept: bytes of all bodies received within `kept_seconds`; a client may use a quarter. None for no limit
    """

    size: int
    lists: int | None
    at_once: int
    seconds: float
    advice: str = ""
    of_each: int = 0
    kept: int | None = None
    kept_seconds: float = 7200


MAX_KEPT = 4_000_000_000  # bytes of uploads, which gradio deletes within two hours
# the separators between the files of a form count as well
UPLOADS = Allowance(MAX_BYTES + 1_000_000, None, at_once=16, seconds=600, of_each=4, kept=MAX_KEPT)
CALLS = Allowance(
    MAX_BODY, MAX_LISTS, at_once=64, seconds=60, advice="; larger data can be uploaded as a file", of_each=16
)


class IntervalsError(RefusedError):
    """Intervals that cost too much; without them, the numbers can be computed."""


def without_paths(message: str) -> str:
    """Strip folders, but not those in archives, and memory addresses from a message.

    >>> without_paths("cannot identify '/tmp/gradio/1b2c/mask.png'"), without_paths("got <Call object at 0x7f50>")
    ("cannot identify '…/mask.png'", 'got <Call object>')
    """
    message = re.sub(r" at 0x[0-9a-fA-F]+(?=>)", "", message)
    return re.sub(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][^\\/\s'\":]+)+(?=[\\/])", "…", message)
