"""What is said of data before anything is computed: what they are taken for, what is missing, what follows of them."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..columns.columns import FLIPPED
from ..columns.detectors import detectors, pooled
from ..columns.direction import wrong_way
from ..columns.guesses import settled
from ..columns.inputs import missing_columns, offered
from ..columns.left_out import unread, without
from ..page import Page
from ..reading.readers import Data
from ..results.results import message
from .preview import preview


class Seen(NamedTuple):
    """What a page shows of data.

    html: the first rows with what each column is taken for, and notes below
    offers, made_of: for each column of the metric, what it may be made of, and what it is made of
    missing: columns that nothing was found for, so that a person is asked
    options: those that the format brings, or that follow of the data
    flipped: names of scores whose sign is to be turned
    unread: how many rows cannot be read, and whether they are left out
    """

    html: str
    offers: Mapping[str, list[str]]
    made_of: Mapping[str, list[str]]
    missing: list[str]
    options: Mapping[str, Any]
    flipped: list[str]
    unread: int = 0
    leave_out: bool = False


def look(
    page: Page,
    sources: Sequence[Data],
    chosen: Mapping[str, Sequence[str]],
    read_as: str = "automatic",
    rows: bool = True,
    leave_out: bool = False,
) -> Seen:
    """Look at what was read. What a person chose stays as long as there are columns of these names.

    leave_out: whether a person wants rows that cannot be read left out.

    Raises what putting the columns together raises.
    """
    offers = offered(page, sources)
    made_of = settled(page, sources, chosen, offers)
    missing = missing_columns(page, made_of)
    options = {name: value for data in sources for name, value in data.options.items()}
    notes: list[str] = []
    turned: dict[str, float] = {}
    score = ""
    cannot = None if missing else unread(page, sources, made_of)
    if cannot and leave_out:
        sources = [without(sources[0], cannot)]
        notes.append(html.escape(cannot.told))
    shown = preview(page, sources, made_of, rows)
    if cannot and not leave_out:
        return Seen(shown + message(cannot.asked), offers, made_of, missing, options, [], len(cannot.rows))
    if missing:
        which = " and ".join(f"<strong>{html.escape(name)}</strong>" for name in missing)
        notes.append(f"Which column holds {which}? Choose below, under Columns.")
    else:
        several = detectors(page, sources, made_of, read_as)
        derived = page.derive(pooled(several))
        options |= derived.options
        score = next((column.name for column in page.columns if column.kind == "score"), "")
        turned = wrong_way(page, several)
        if len(several) == 1 and turned:
            turned = dict(zip(made_of[score], turned.values()))
        told = dict.fromkeys([*(one.told for one in several.values()), derived.reason])
        notes += [html.escape(text) for text in told if text]
        notes += [_sign(name, value) for name, value in turned.items()]
    shown += "".join(f'<div class="message note" role="status">{note}</div>' for note in notes)
    names = made_of[score] if turned else []
    flipped = [_turn(name) if name in turned else name for name in names] if {*names} & {*turned} else []
    left_out = len(cannot.rows) if cannot else 0
    return Seen(shown, offers, made_of, missing, options, flipped, left_out, leave_out and cannot is not None)


def _turn(name: str) -> str:
    return name.removeprefix(FLIPPED) if name.startswith(FLIPPED) else FLIPPED + name


def _sign(name: str, value: float) -> str:
    return (
        f"<strong>{html.escape(name)}</strong>: AUROC {value:.3f} is below a half. Is higher more in-distribution "
        "here? Then turn the sign."
    )
