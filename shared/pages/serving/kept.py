"""The latest computations of a few visitors, so that another image or detector needs no new one."""

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
    """A few values by tokens that cannot be guessed; the one that was used longest ago goes first."""

    def __init__(self, most: int = MAX_KEPT, most_bytes: int = MAX_KEPT_BYTES) -> None:
        self.most, self.most_bytes = most, most_bytes
        self._values: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, value: Any, old: str = "") -> str:
        """Keep a value in place of an old one, and return its token; one that is too large by itself is not kept.

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
        """Keep a value under the token of an old one, unless another has taken its place."""
        size = num_bytes(new)
        with self._lock:
            if token not in self._values or self._values[token][0] is not old or size > self.most_bytes:
                return False
            self._values[token] = new, size
            return True

    def get(self, token: str) -> Any:
        """The value of a token; None for one that has gone."""
        with self._lock:
            if token not in self._values:
                return None
            self._values.move_to_end(token)
            return self._values[token][0]


def num_bytes(value: Any) -> int:
    """About the memory of the arrays in lists, tuples and mappings; of anything else, some bytes.

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


KEPT = Kept()  # of all pages of this process
