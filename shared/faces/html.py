"""Parts of a page as HTML, of the templates beside this file; every value is escaped there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..answers.answer import Answer, Bars, Box, Difference, Figure, Histogram, Image, Number, Table
from ..answers.decisions import number_at
from ..answers.tables import plural
from . import numbers as texts
from .moving import theme_css
from .palette import DASHES, css, on, token

MAX_ROWS = 30  # of a table
MAX_WORST = 6  # samples of a side
MAX_VERDICTS = 5
MAX_COMPARED = 2  # keys in the comparison
_HERE = Path(__file__).parent
_WORDS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"]
_STEPS = (1, 2, 5)  # of an axis, times a power of ten
_LETTER, _LINE, _NARROW = 6.8, 17, 340  # pixels: a letter, a label's height, a narrow picture


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": texts.number,
        "interval": texts.interval,
        "typographic": texts.typographic,
        "token": token,
        "on": on,
        "dash": lambda role: DASHES.get(role, "solid"),
        "brief": texts.brief,
        "is_picture": lambda url: url.startswith("data:image/"),
    }
    return environment


def _rendered(name: str, **values: Any) -> str:
    return _templates().get_template(f"{name}.html").render(**values)


def page_css() -> str:
    """The style sheet of a page: tokens, figures in both themes, and the rules of page.css."""
    return css(system=False) + theme_css() + (_HERE / "page.css").read_text(encoding="utf-8")


class _Column(NamedTuple):
    """A number in the comparison: its words, and the ends of the axis of its drawings."""

    title: str
    meaning: str
    higher: bool | None
    low: str
    high: str


class _Mark(NamedTuple):
    """A number of a model, with the places of its drawing in percent of the axis."""

    number: Number | None
    at: float | None
    ends: tuple[float, float] | None
    guide: float | None


class _Row(NamedTuple):
    name: str
    role: str
    marks: list[_Mark]


class _Verdict(NamedTuple):
    """A sentence in parts: the models, the difference, and which is better."""

    who: str
    what: str
    how: str


def comparison(answer: Answer) -> str:
    """The models as rows of a choice, with intervals drawn, and the verdicts; "" for one model."""
    if len(answer.models) < 2:
        return ""
    columns: list[_Column] = []
    marks: dict[str, list[_Mark]] = {name: [] for name in answer.models}
    for key in answer.leading[:MAX_COMPARED]:
        column, of_key = _compared(answer, key)
        columns.append(column)
        for name, mark in of_key.items():
            marks[name].append(mark)
    rows = [_Row(name, _role_of(answer, name), marks[name]) for name in answer.models]
    return _rendered(
        "comparison",
        answer=answer,
        title=_counted(len(answer.models), answer.noun),
        columns=columns,
        rows=rows,
        level="" if answer.level is None else f"{100 * answer.level:g} % interval",
        verdicts=[_verdict(sentence) for sentence in answer.verdicts[:MAX_VERDICTS]],
        more=max(0, len(answer.verdicts) - MAX_VERDICTS),
    )


def _compared(answer: Answer, key: str) -> tuple[_Column, dict[str, _Mark]]:
    """A number of all models on one axis; the dashed guide is at the best value."""
    own = {name: _by_key(answer, name).get(key) for name in answer.models}
    present = [number for number in own.values() if number is not None and math.isfinite(number.value)]
    points = [float(point) for number in present for point in (number.value, *(number.interval or ()))]
    low, high, digits = _axis([point for point in points if math.isfinite(point)])
    digits = max(digits, 2 if present and present[0].share else 0)

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    def mark(number: Number | None) -> _Mark:
        if number is None or not math.isfinite(number.value):
            return _Mark(number, None, None, best)
        start, end = number.interval or (math.nan, math.nan)
        ends = (place(start), place(end)) if math.isfinite(end - start) else None
        return _Mark(number, place(number.value), ends, best)

    first = present[0] if present else Number(key, 0)
    best = None
    if first.higher is not None and present:
        best = place((max if first.higher else min)(number.value for number in present))
    marks = {name: mark(number) for name, number in own.items()}
    words = (texts.typographic(f"{end:.{digits}f}") for end in (low, high))
    return _Column(first.title or key, first.meaning, first.higher, *words), marks


def _axis(points: Sequence[float]) -> tuple[float, float, int]:
    """Round ends of an axis around points, and the decimals of their texts.

    >>> _axis([0.681, 0.839]), _axis([12.0, 70.0]), _axis([1.0])
    ((0.65, 0.85, 2), (0.0, 80.0, 0), (0.95, 1.05, 2))
    """
    low, high = (min(points), max(points)) if points else (0.0, 1.0)
    if high - low < 1e-12 * max(1.0, abs(high)):
        low, high = low - 0.05 * max(1.0, abs(low)), high + 0.05 * max(1.0, abs(high))
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * part for part in (*_STEPS, 10) if unit * part >= rough * (1 - 1e-9))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    ends = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return round(ends[0], digits), round(ends[1], digits), digits


def _counted(count: int, noun: str) -> str:
    """A number of things as a title.

    >>> _counted(2, "set of maps"), _counted(20, "model")
    ('Two sets of maps', '20 models')
    """
    return f"{_WORDS[count] if count < len(_WORDS) else f'{count:,}'} {plural(noun)}"


def _verdict(sentence: str) -> _Verdict:
    """The parts of a sentence of a comparison.

    >>> _verdict("knn vs msp: AUROC +0.115 [0.092, 0.137], knn is better")
    _Verdict(who='knn vs msp', what='AUROC +0.115 [0.092, 0.137]', how='knn is better')
    """
    who, colon, rest = sentence.rpartition(": ")
    what, comma, how = rest.rpartition(", ")
    return _Verdict(who if colon else "", what if comma else rest, how if comma else "")


def _role_of(answer: Answer, model: str) -> str:
    """The role of a model: "d1" of the first in the file, and so on."""
    return f"d{[*answer.models].index(model) + 1}"


def _by_key(answer: Answer, model: str) -> dict[str, Number]:
    return {number.key: number for number in answer.numbers.get(model, ())}


def headline(answer: Answer) -> str:
    """The leading numbers of the model shown, large, with intervals and what they are of."""
    own = _by_key(answer, answer.model)
    leading = [own[key] for key in answer.leading if key in own]
    return _rendered("headline", answer=answer, leading=leading, role=_role_of(answer, answer.model))


class _Part(NamedTuple):
    name: str
    samples: int
    first: bool


class _Side(NamedTuple):
    """The samples of a side, by decision."""

    name: str
    role: str
    total: int
    parts: list[_Part]


def decisions(answer: Answer, place: int) -> str:
    """The counts, the rates and the promise of the decisions at the threshold at an index; "" without decisions."""
    if answer.decisions is None:
        return ""
    own, rows = answer.decisions, []
    for name, cells in own.table.items():
        parts = [_Part(words, own.counts[count][place], i == 0) for i, (words, count) in enumerate(cells.items())]
        rows.append(_Side(name, own.roles.get(name, "edge"), sum(part.samples for part in parts), parts))
    rates = [(name, number_at(own, name, place)) for name in (*own.rates, *own.values)]
    promised = [words for preset, words in own.promises.items() if own.presets.get(preset) == place]
    threshold = texts.typographic(own.thresholds[place])
    promise = " ".join(words.replace("{threshold}", threshold) for words in promised)
    return _rendered("decisions", rows=rows, rates=rates, note=own.note, promise=promise)


def numbers(answer: Answer) -> str:
    """All numbers of the model shown that do not lead, by section, folded; "" if there are none."""
    rest = {key: number for key, number in _by_key(answer, answer.model).items() if key not in answer.leading}
    sections = []
    for title, keys in answer.sections.items():
        own = [rest.pop(key) for key in keys if key in rest]
        if own:
            sections.append((title, own))
    if rest:
        sections.append(("Others" if sections else "", [*rest.values()]))
    return _rendered("numbers", sections=sections) if sections else ""


class _Head(NamedTuple):
    title: str
    higher: bool | None
    is_number: bool


class _Cell(NamedTuple):
    text: str
    is_number: bool
    best: bool = False
    interval: tuple[float, float] | None = None


class _View(NamedTuple):
    """A table as it is shown: `first` of its rows are means, and `more` rows are left out."""

    title: str
    heads: list[_Head]
    rows: list[list[_Cell]]
    first: int = 0
    more: int = 0
    note: str = ""


def tables(answer: Answer) -> str:
    """The models or groups side by side, and all other tables, folded; "" without tables."""
    if answer.side_by_side is None and not answer.tables:
        return ""
    titles = {number.key: number.title for number in answer.numbers.get(answer.model, ()) if number.title}
    beside = None if answer.side_by_side is None else _view(answer.side_by_side, titles)
    return _rendered("tables", beside=beside, others=[_view(table, titles) for table in answer.tables])


def _view(table: Table, titles: Mapping[str, str] = {}, most: int = MAX_ROWS) -> _View:
    names, best = [*table.columns], {*table.best}
    length = len(table.columns[names[0]]) if names else 0
    are_numbers = {name: all(_is_number(value) for value in table.columns[name]) for name in names}
    heads = [_Head(titles.get(name, name), table.higher.get(name), are_numbers[name]) for name in names]
    rows = [
        [
            _Cell(
                texts.number(table.columns[name][row]),
                are_numbers[name],
                (row, name) in best,
                table.intervals[name][row] if name in table.intervals else None,
            )
            for name in names
        ]
        for row in range(min(length, most))
    ]
    return _View(table.title, heads, rows, table.first, max(0, length - most))


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def differences(answer: Answer) -> str:
    """The paired comparison of all models, folded; "" without one."""
    if not answer.differences:
        return ""
    titles = {number.key: number.title or number.key for number in answer.numbers.get(answer.model, ())}
    heads = [
        *(_Head(title, None, False) for title in ("Pair", "Group", "Number")),
        *(_Head(title, None, True) for title in ("Difference", "p")),
        _Head("Better", None, False),
    ]
    rows = [_pair(row, titles.get(row.key, row.key)) for row in answer.differences[:200]]
    view = _View("", heads, rows, more=max(0, len(answer.differences) - 200))
    if not any(row.group for row in answer.differences):
        view = view._replace(heads=[heads[0], *heads[2:]], rows=[[row[0], *row[2:]] for row in rows])
    return _rendered("differences", answer=answer, view=view)


def _pair(row: Difference, title: str) -> list[_Cell]:
    """A row of a comparison as cells."""
    words = (f"{row.first} − {row.second}", row.group, title)
    difference = _Cell(texts.signed(row.difference), True, interval=(row.low, row.high))
    better = row.better or "no clear difference"
    return [
        *(_Cell(text, False) for text in words),
        difference,
        _Cell(texts.number(row.p_value), True),
        _Cell(better, False),
    ]


def worst(answer: Answer) -> str:
    """The samples ranked worst on both sides, folded on a narrow page; "" without them."""
    if not answer.worst:
        return ""
    by = f" by {answer.model}" if len(answer.models) > 1 else ""
    sides = [
        _view(Table(side.title, side.columns), most=MAX_WORST)._replace(more=0, note=side.note) for side in answer.worst
    ]
    return _rendered("worst", title=f"Ranked worst{by}", sides=sides)


def gallery(answer: Answer, shown: int = 0) -> str:
    """Thumbnails of the images as a choice named "image", of indices; "" without images."""
    return _rendered("gallery", images=answer.images, shown=shown) if answer.images else ""


def notes(answer: Answer) -> str:
    """A list of what was left out, what intervals hold, and the signature; "" without either."""
    return _rendered("notes", answer=answer) if answer.notes or answer.signature else ""


def title_of(figure: Figure) -> str:
    """The title of a figure, its unit, what it is of, and the names of the parts of bars."""
    unit = figure.unit if isinstance(figure, Histogram) else ""
    parts = [*zip(figure.parts, figure.roles)] if isinstance(figure, Bars) else []
    return _rendered("title", figure=figure, about=" · ".join(filter(None, (unit, figure.note))), parts=parts)


def picture_of(image: Image, width: int = 640) -> str:
    """An image, at most `width` pixels wide, with its boxes and a list of their outcomes. Needs Pillow for boxes.

    Labels of errors do not cover each other; every box says what it is on hover. The first boxes are on top.
    """
    outcomes = Counter(_outcome(box) for box in image.boxes) or dict.fromkeys(image.keys)
    boxes = [(box, _places(box.corners, image.size)) for box in reversed(image.boxes)]
    labels = {"wide": _labels(image, width), "small": _labels(image, _NARROW)} if image.boxes else {}
    return _rendered("picture", image=image, width=width, boxes=boxes, labels=labels, outcomes=outcomes)


def _outcome(box: Box) -> tuple[str, str]:
    """The name of a box in a list of outcomes, and its role."""
    return box.outcome.rpartition(": ")[2] if ": " in box.outcome or box.predicted else "object", box.role


def _places(corners: Sequence[float], size: tuple[float, float]) -> list[float]:
    """Left, top, width and height of a rectangle, xyxy, in percent of a picture."""
    left, top, right, bottom = (100 * end / size[i % 2] for i, end in enumerate(corners))
    return [round(number, 3) for number in (left, top, right - left, bottom - top)]


def _labels(image: Image, width: int) -> list[tuple[Box, list[float]]]:
    """The labels that find a place in a picture of some width, with their places in percent."""
    from ..answers.pictures import label_places

    boxes = sorted(image.boxes, key=lambda box: not box.label or box.role == "right")
    named = [box for box in boxes if box.label and box.role != "right"]
    across, down = image.size
    size = width, round(width * (0.75 if across == down == 1 else down / across))  # shares do not say the size
    corners = [[round(end * size[i % 2] / image.size[i % 2]) for i, end in enumerate(box.corners)] for box in boxes]
    widths = [round(_LETTER * len(texts.brief(box.label))) + 10 for box in named]
    places = label_places(widths, _LINE, corners, size)
    return [(box, _places(place, size)) for box, place in zip(named, places) if place is not None]
