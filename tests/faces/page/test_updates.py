"""Several updates of a page in a row, of which Gradio's client writes each into the one before."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from openworld_metrics.faces.page import time_limit

PARTS = ("data", "state", "plot")
Turn = dict[str, Any]


def turns_of(seed: int) -> list[Turn]:
    """Random changes of properties, and plain values, which one part has always."""
    draw = random.Random(seed)

    def change(part: str) -> Any:
        new = draw.randrange(100)
        return new if part == "state" else {"__type__": "update", draw.choice(["value", "visible", "label"]): new}

    return [{part: change(part) for part in draw.sample(PARTS, draw.randrange(1, 4))} for _ in range(draw.randrange(6))]


async def sent(turns: list[Turn], *, superseded: bool) -> list[Turn]:
    from openworld_metrics.faces.page.page import gathered  # here, since it takes seconds

    @gathered
    async def handle() -> AsyncIterator[Turn]:
        for turn in turns:
            yield turn
        if superseded:
            raise time_limit.SupersededError

    return [turn async for turn in handle()]


def drawn(turns: list[Turn]) -> dict[tuple[str, str], Any]:
    """The properties of a page that draws each update after the client has written the next one's difference into it.

    The client keeps one object of properties for each part; a plain value, or none, takes its place.
    """
    kept: list[dict[str, Any]] = []
    last: Turn = {}
    for turn in turns:
        for part in PARTS:
            new = turn.get(part, {"__type__": "update"})
            if isinstance(new, dict) and isinstance(last.get(part), dict):
                last[part].clear()
                last[part].update(new)
            else:
                last[part] = dict(new) if isinstance(new, dict) else new
        kept.append(dict(last))
    return properties(kept)


def properties(turns: list[Turn]) -> dict[tuple[str, str], Any]:
    """The last value of each property of each part."""
    values: dict[tuple[str, str], Any] = {}
    for part, own in (item for turn in turns for item in turn.items()):
        values |= {(part, name): each for name, each in own.items()} if isinstance(own, dict) else {(part, ""): own}
    return {place: value for place, value in values.items() if place[1] != "__type__"}


@pytest.mark.parametrize("superseded", [False, True])
def test_no_property_is_lost(superseded: bool) -> None:
    lost = 0
    for seed in range(200):
        turns = turns_of(seed)
        whole = [turn for turn in asyncio.run(sent(turns, superseded=superseded)) if turn.keys() <= {*PARTS}]
        assert drawn(whole) == properties(turns)
        lost += drawn(turns) != properties(turns)
    assert lost > 50  # as they are, they would be


def test_a_request_ends_those_before() -> None:
    first, other = time_limit.begin("one"), time_limit.begin("another")
    second = time_limit.begin("one")
    assert [first(), second(), other()] == [False, True, True]
    time_limit.leave("one")
    assert [second(), other()] == [False, True]
    time_limit.leave("another")
