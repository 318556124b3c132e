"""Cache the latest computations of a few visitors, so that another image or detector needs no new computation."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

MAX_KEPT = 16
MAX_KEPT_BYTES = 400_000_000


class Kept:
    """A cache of a few values by unguessable tokens; the least recently used value is dropped first."""

    def __init__(self, most: int = MAX_KEPT, most_bytes: int = MAX_KEPT_BYTES) -> None:
        self.most, self.most_bytes = most, most_bytes
        self._values: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, value: Any, old: str = "") -> str:
        """Keep a value in place of an old one, and return its token; a value that is too large by itself is not kept.

        >>> kept = Kept(most=1)
        >>> first, second = kept.put("a"), kept.put("b")
        >>> kept.get(first), kept.get(second)
        (None, 'b')
        """
        size, token = num_bytes(value), secrets.token_urlsafe(16)
        with self._lock:
            self._values.pop(old, None)
            if size <= self.most_bytes:
                self._values[token] = value, size
            while len(self._values) > self.most or sum(size for _, size in self._values.values()) > self.most_bytes:
                self._values.popitem(last=False)
        return token

    def exchange(self, token: str, old: Any, new: Any) -> bool:
        """Replace the value of a token if it is still `old`; return whether it was replaced."""
        size = num_bytes(new)
        with self._lock:
            if token not in self._values or self._values[token][0] is not old or size > self.most_bytes:
                return False
            self._values[token] = new, size
            return True

    def get(self, token: str) -> Any:
        """The value of a token; None if it has been dropped."""
        with self._lock:
            if token not in self._values:
                return None
            self._values.move_to_end(token)
            return self._values[token][0]


def num_bytes(value: Any) -> int:
    """Estimate the memory of a value: arrays in lists, tuples and mappings in full, anything else as some bytes.

    >>> num_bytes({"a": [np.zeros(1000), np.zeros(10)]}) > 8 * 1010
    True
    """
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Mapping):
        return 100 + sum(map(num_bytes, value.values()))
    if isinstance(value, list) and not isinstance(next(iter(value), None), (list, tuple, Mapping, np.ndarray)):
        return 100 + 40 * len(value)  # of numbers
    if isinstance(value, (list, tuple)):
        return 100 + sum(map(num_bytes, value))
    return 100


KEPT = Kept()  # shared by all pages of this process
