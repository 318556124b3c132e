"""Preview data before a computation: roles of columns, missing columns, and options that follow from the data."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...reading.rows.kinds import FLIPPED
from ...reading.rows.metrics import LAYOUTS
from ...reading.rows.recognised import wrong_way
from ..data import Arguments, Data
from ..page import Derived
from ..results.message import message
from .class_names import with_class_ids, with_class_names
from .preview import contents, preview


class Look(NamedTuple):
    """A preview of data that were read.

    html: the first rows with the role of each column, and notes below
    options: the options that the format implies, or that follow from the data
    flipped: the names of the scores after wrong signs are flipped; empty if no sign is wrong
    """

    reading: Data
    html: str
    options: Mapping[str, Any] = {}
    flipped: Sequence[str] = ()


def look(reading: Data, rows: bool = True, held: Mapping[str, Any] | None = None) -> Look:
    """Preview data that were read; without `rows` if an editable table shows the rows already.

    With `held`, the options of the form, the reason for derived options is shown only if they hold these.

    Raises the errors of `Data.arguments`.
    """
    if reading.held is None:
        data, options = preview(reading.page, reading.tables, reading.made_of, rows), dict[str, Any]()
    else:
        data, options = contents(reading.held.contents), dict(reading.held.options)
    if reading.unread and not reading.leaves_out:
        return Look(reading, data + message(reading.unread.question), options)
    notes = [html.escape(reading.unread.note)] if reading.unread else []
    if reading.missing:
        which = " and ".join(f"<strong>{html.escape(name)}</strong>" for name in reading.missing)
        return Look(
            reading, data + _as_html([*notes, f"Which column holds {which}? Choose below, under Columns."]), options
        )
    detectors = reading.arguments()
    if reading.held is None:
        derived = reading.page.derive(_pooled(detectors), reading.reading.classes)
    else:
        derived = Derived(reading.held.options, " ".join(reading.held.guesses))
    reason = "" if held is not None and _differ(reading, derived, held) else derived.reason
    sentences = dict.fromkeys([*(one.note for one in detectors.values()), *derived.notes, reason])
    notes += [html.escape(sentence) for sentence in sentences if sentence]
    turned = _turned(reading, detectors)
    notes += [_sign(name, value) for name, value in turned.items()]
    options |= with_class_names(reading.page, derived.options, reading.reading.classes)
    return Look(reading, data + _as_html(notes), options, _flipped(reading, turned))


def _differ(reading: Data, derived: Derived, held: Mapping[str, Any]) -> bool:
    """Whether options differ from derived ones."""
    try:
        options = with_class_ids(reading.page, held, reading.reading.classes)
    except ValueError:  # a name that is not written out yet
        return True
    return any(options.get(name) != value for name, value in derived.options.items())


def _as_html(notes: Sequence[str]) -> str:
    return "".join(f'<div class="message note" role="status">{note}</div>' for note in notes)


def _pooled(several: Mapping[str, Arguments]) -> dict[str, Any]:
    """The columns of the first model; lists of images are followed by those of the others."""
    first, *others = several.values()
    columns = dict(first.columns)
    for one in others:
        for name, value in one.columns.items():
            columns[name] = [*columns[name], *value] if isinstance(value, list) else columns[name]
    return columns


def _turned(reading: Data, detectors: Mapping[str, Arguments]) -> dict[str, float]:
    """The AUROC of scores that rank the wrong way round, by the names of their arrays."""
    layout = LAYOUTS[reading.page.name]
    aurocs = {name: wrong_way(layout, one.columns) for name, one in detectors.items()}
    turned = {name: value for name, value in aurocs.items() if value is not None}
    column = layout.scores()
    if column and turned and len(detectors) == 1:
        return dict(zip(reading.made_of[column.name], turned.values()))
    return turned


def _flipped(reading: Data, turned: Mapping[str, float]) -> list[str]:
    """The names of the scores, where the ones in `turned` have the opposite sign; empty if none is turned."""
    column = LAYOUTS[reading.page.name].scores()
    names = reading.made_of[column.name] if column and turned else []
    return [_turn(name) if name in turned else name for name in names] if {*names} & {*turned} else []


def _turn(name: str) -> str:
    return name.removeprefix(FLIPPED) if name.startswith(FLIPPED) else FLIPPED + name


def _sign(name: str, value: float) -> str:
    return (
        f"<strong>{html.escape(name)}</strong>: AUROC {value:.3f} is below 0.5. If higher scores mean "
        "in-distribution here, flip the sign."
    )
