"""Ctrl-C while modules are imported, without a traceback."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_ctrl_c() -> Iterator[None]:
    """End the process at once on Ctrl-C: imports leave nothing to clean up, but may print or lose the interrupt."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        yield
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
