"""A progress line for work without a progress bar: shown after two seconds, until other text is printed."""

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
        """Remove the line for good."""
        with self._lock:
            if self._drawn and not self._ended.is_set() and not _bars():
                sys.stderr.write(_CLEAR)
                sys.stderr.flush()
            self._ended.set()


_lines: list[_Line] = []


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """Show a progress line while the body runs, if standard error is a terminal that can rewrite a line."""
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        _lines.append(_Line(words))
    try:
        yield
    finally:
        end_waiting()


def end_waiting() -> None:
    """Remove the progress line, if there is one, before other text is printed."""
    while _lines:
        _lines.pop().end()


def _bars() -> bool:
    """Whether a progress bar of tqdm occupies the line."""
    tqdm = sys.modules.get("tqdm")
    return bool(tqdm is not None and getattr(tqdm.tqdm, "_instances", ()))
