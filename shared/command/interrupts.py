"""Handle Ctrl-C during imports without a traceback."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_ctrl_c() -> Iterator[None]:
    """Exit at once on Ctrl-C: imports need no clean-up, but may print or swallow the interrupt."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        yield
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
