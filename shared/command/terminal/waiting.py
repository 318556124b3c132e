"""A line of progress for work that has no bar of its own: after two seconds, until something is printed."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_AFTER, _EVERY = 2.0, 0.5  # seconds
_CLEAR = "\r\x1b[K"


class _Line:
    """A line on standard error that says how long the work has taken, rewritten by a thread."""

    def __init__(self, words: str) -> None:
        self._words, self._start, self._drawn = words, time.monotonic(), False
        self._ended, self._lock = threading.Event(), threading.Lock()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        wait = _AFTER
        while not self._ended.wait(wait):
            wait = _EVERY
            with self._lock:
                if not self._ended.is_set() and not _bars():
                    sys.stderr.write(f"{_CLEAR}{self._words}, {time.monotonic() - self._start:.0f} s")
                    sys.stderr.flush()
                    self._drawn = True

    def end(self) -> None:
        """Take the line away, for good."""
        with self._lock:
            if self._drawn and not self._ended.is_set() and not _bars():
                sys.stderr.write(_CLEAR)
                sys.stderr.flush()
            self._ended.set()


_lines: list[_Line] = []


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """A line of progress while the body runs, where standard error is a terminal that can rewrite a line."""
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        _lines.append(_Line(words))
    try:
        yield
    finally:
        end_waiting()


def end_waiting() -> None:
    """Take the line of progress away, if there is one, before other text is printed."""
    while _lines:
        _lines.pop().end()


def _bars() -> bool:
    """Whether there is a bar of tqdm, which has the line."""
    tqdm = sys.modules.get("tqdm")
    return bool(tqdm is not None and getattr(tqdm.tqdm, "_instances", ()))
