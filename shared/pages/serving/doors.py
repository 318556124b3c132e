"""How many bodies may be on their way at once, and how much of them is kept: of all clients together, and of each."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from weakref import WeakValueDictionary

from .limits import Allowance


class Door:
    """The limits of one kind of request, the places for bodies, and the sizes of recent ones."""

    def __init__(self, allowance: Allowance) -> None:
        self.allowance = allowance
        self._places = asyncio.Semaphore(allowance.at_once)
        self._own: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._kept: deque[tuple[float, str, int]] = deque()

    async def enter(self, client: str) -> Callable[[], None]:
        """Wait for a place; what is returned gives it back."""
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
        """A body has come, which is kept for a while; a folder and a name take something too."""
        if self.allowance.kept is not None:
            self._kept.append((time.monotonic(), client, max(size, self.allowance.kept // 40_000)))

    def is_full(self, client: str, size: int) -> bool:
        """Whether one more body would be more than is kept of all, or of a client a quarter of that."""
        most, old = self.allowance.kept, time.monotonic() - self.allowance.kept_seconds
        while self._kept and self._kept[0][0] < old:
            self._kept.popleft()
        own = sum(kept for _, name, kept in self._kept if name == client)
        return most is not None and (own + size > most // 4 or sum(kept for _, _, kept in self._kept) + size > most)
