"""Read files in several threads, in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

THREADS = min(8, (os.cpu_count() or 1) + 2)  # some wait for the disk while others decode
_Item = TypeVar("_Item")
_Read = TypeVar("_Read")


def read_ahead(read: Callable[[_Item], _Read], items: Iterable[_Item], threads: int = THREADS) -> Iterator[_Read]:
    """Map a function over items in several threads, in order, only a few items ahead.

    >>> list(read_ahead(abs, [-3, 2, -1]))
    [3, 2, 1]
    """
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[Any]] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(read, item))
                if len(ahead) >= 2 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()
