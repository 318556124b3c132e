"""Wait for something rather than for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 120  # seconds until an app has to answer, a page to show what it computes, or a process to do its part


def until(there: Callable[[], object]) -> bool:
    """Ask again and again, at most as long as anybody waits: whether it is there."""
    deadline = time.monotonic() + PATIENCE
    while not there():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
