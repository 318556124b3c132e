"""Sections on the fates of objects and predictions: confusions, decisions, kinds of errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...detection.errors import FATES
from ...suites.image_errors import DetectionErrors
from ..frame import Part, Section, card, data_table, grid, matrix, percent, stacked_bars

FATE_COLORS = {
    "found": "known",
    "called another known": "d1",
    "called unknown": "d2",
    "called known": "unknown",
    "badly placed": "misplaced",
    "both": "both",
    "missed": "edge",
}
_SIDES = ("unknown", "known")
_MATRIX = 8  # the most rows and columns of the confusion matrix
_DECISIONS = ("right class", "wrong class", "unknown", "badly placed", "missed")
_RIGHT = [("Known", "right class"), ("Unknown", "unknown")]


def fates_section(errors: Mapping[str, DetectionErrors], names: Mapping[int, str]) -> Section:
    """The section on fates: bars of known and unknown objects, and the known classes that unknown objects were called.

    Parameters: errors of each detector by name, the report's detector first; class names by id.
    """
    first = next(iter(errors.values()))
    cards = [card(*(_bars(errors, side) for side in _SIDES))]
    if first.confused:
        cards.append(_confusions(first, names))
    return Section("Errors", "Where the objects went", grid(*cards, columns=len(cards)), _said(first))


def decisions_section(errors: DetectionErrors) -> Section:
    """The section on decisions: counts of objects, and of boxes where nothing is."""
    fates = errors.fates
    both = {side: fates[side, "badly placed"] + fates[side, "both"] for side in _SIDES}
    known: list[int | None] = [fates["known", fate] for fate in ("found", "called another known", "called unknown")]
    unknown: list[int | None] = [None, fates["unknown", "called known"], fates["unknown", "found"]]
    if not errors.says_unknown:
        known[-1] = unknown[-1] = None
    nothing: list[int | None] = [
        None,
        errors.kinds["background called known"],
        errors.kinds["background called unknown"] if errors.says_unknown else None,
        None,
        None,
    ]
    rows = {
        "Known": [*known, both["known"], fates["known", "missed"]],
        "Unknown": [*unknown, both["unknown"], fates["unknown", "missed"]],
        "Nothing there": nothing,
    }
    totals = {row: sum(count or 0 for count in counts) for row, counts in rows.items()}
    notes = {row: f"{total:,} {'boxes' if row == 'Nothing there' else 'objects'}" for row, total in totals.items()}
    colors = dict.fromkeys(_RIGHT, "known")
    table = matrix(rows, _DECISIONS, "Decisions", colors=colors, right=_RIGHT, notes=notes)
    lead = "Each object once, by what it was called. Framed cells are right; badly placed boxes may be misnamed, too."
    return Section("Decisions", "Decisions", grid(card(table), columns=1), lead)


def kinds_html(results: Mapping[str, Any], errors: DetectionErrors) -> str:
    """A table of the kinds of errors with their counts and, if in the results, the gain from correcting each kind."""
    note = (
        "<p>A gain is the effect of correcting one kind alone; gains do not add up. Badly placed or misnamed boxes"
        " become right, other false positives are removed, and missed objects no longer count.</p>"
    )
    if "errors" in results:
        table = dict(results["errors"])
        return data_table({"error": table.pop("error"), **table}, "Kinds of errors") + note
    missed = sum(count for (_, fate), count in errors.fates.items() if fate == "missed")
    kinds = {**errors.kinds, "missed": missed}
    return data_table({"error": [*kinds], "count": [*kinds.values()]}, "Kinds of errors")


def _bars(errors: Mapping[str, DetectionErrors], side: str) -> str:
    """The bars of all detectors below a title; several bars have names."""
    title, parts = f"{side.capitalize()} objects", {name: _parts(one, side) for name, one in errors.items()}
    if len(parts) == 1:
        return stacked_bars(dict(zip([title], parts.values())), unit="objects")
    return f"<h3>{title}</h3>" + stacked_bars(parts, unit="objects")


def _parts(errors: DetectionErrors, side: str) -> list[Part]:
    return [Part(fate, errors.fates[of, fate], FATE_COLORS[fate]) for of, fate in FATES if of == side]


def _said(errors: DetectionErrors) -> str:
    """A sentence on the fates of unknown objects."""
    own = {fate: count for (side, fate), count in errors.fates.items() if side == "unknown"}
    total = sum(own.values())
    if not total:
        return "There are no unknown objects."
    words = {
        "called known": "called a known class",
        "badly placed": "badly placed",
        "both": "badly placed and misnamed",
        "missed": "missed",
    }
    parts = [f"{percent(own[fate], total)} {said}" for fate, said in words.items() if own[fate]]
    if not parts:
        return "All unknown objects were found and called unknown."
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    near = " A badly placed box overlaps its object by at least 0.1." if own["badly placed"] + own["both"] else ""
    if not errors.says_unknown:
        return f"Of the unknown objects {listed.replace(' %', ' % were', 1)}.{near}"
    return f"Of the unknown objects {percent(own['found'], total)} were found, {listed}.{near}"


def _confusions(errors: DetectionErrors, names: Mapping[int, str]) -> str:
    """The known classes that unknown objects were called, as a matrix or, for many classes, the most frequent pairs."""
    rows, columns = (sorted({pair[place] for pair in errors.confused}) for place in (0, 1))
    title, note = "Called known, as what", f"({sum(errors.confused.values()):,} objects)"
    called = {label: names.get(label, str(label)) for label in (*rows, *columns)}
    if len(rows) <= _MATRIX and len(columns) <= _MATRIX and len({*called.values()}) == len(called):
        table = {called[row]: [errors.confused.get((row, column), 0) for column in columns] for row in rows}
        heads = [called[column] for column in columns]
        return card(
            matrix(table, heads, "Unknown objects by what they were called", shares=False), title=title, note=note
        )
    most = sorted(errors.confused.items(), key=lambda entry: (-entry[1], entry[0]))[:_MATRIX]
    pairs: dict[str, list[Any]] = {
        "unknown object": [called[row] for (row, _), _ in most],
        "called": [called[column] for (_, column), _ in most],
        "objects": [count for _, count in most],
    }
    return card(
        data_table(pairs, "Unknown objects by what they were called"), title=title, note=f"(most frequent of {note[1:]}"
    )
