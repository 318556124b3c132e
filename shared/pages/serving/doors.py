"""Limit the request bodies in transit and the bytes of uploads kept, for all clients together and for each."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from weakref import WeakValueDictionary

from .limits import Allowance


class Door:
    """The limits of one kind of request, the free places for bodies, and the sizes of recent bodies."""

    def __init__(self, allowance: Allowance) -> None:
        self.allowance = allowance
        self._places = asyncio.Semaphore(allowance.at_once)
        self._own: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._kept: deque[tuple[float, str, int]] = deque()

    async def enter(self, client: str) -> Callable[[], None]:
        """Wait for a place; call the returned function to give it back."""
        own = self._own.setdefault(client, asyncio.Semaphore(self.allowance.of_each or self.allowance.at_once))
        await own.acquire()
        try:
            await self._places.acquire()
        except BaseException:
            own.release()
            raise

        def leave() -> None:
            self._places.release()
            own.release()

        return leave

    def keep(self, client: str, size: int) -> None:
        """Record a received body, which is kept for a while; its folder and name take space too."""
        if self.allowance.kept is not None:
            self._kept.append((time.monotonic(), client, max(size, self.allowance.kept // 40_000)))

    def is_full(self, client: str, size: int) -> bool:
        """Whether one more body would exceed the bytes kept for all clients, or a quarter of that for one client."""
        most, old = self.allowance.kept, time.monotonic() - self.allowance.kept_seconds
        while self._kept and self._kept[0][0] < old:
            self._kept.popleft()
        own = sum(kept for _, name, kept in self._kept if name == client)
        return most is not None and (own + size > most // 4 or sum(kept for _, _, kept in self._kept) + size > most)
