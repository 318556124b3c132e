"""Parts of pages and of reports as HTML, of the templates of this folder; every value is escaped there."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..answers.answer import (
    NO_DIFFERENCE,
    Answer,
    Bars,
    Box,
    Curves,
    Decisions,
    Figure,
    Histogram,
    Image,
    Matrix,
    Number,
    Table,
)
from ..answers.charts import joined
from ..answers.decisions import number_at
from ..answers.models import plural
from ..extras import extra
from . import typography as texts
from .drawing import WIDTH, svg_of, width_of
from .images import chips_of, filters_of, kinds_of
from .palette import DASHES, on, token

MAX_ROWS = 30  # of a table of a page
MAX_WORST = 6  # samples of a side
MAX_PAIRS = 200
MAX_VERDICTS = 5
MAX_COMPARED = 2  # keys in the comparison
MAX_ROWS_OF_A_PAIR = 8
_HERE = Path(__file__).parent
_WORDS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"]
_STEPS = (1, 2, 5)  # of an axis, times a power of ten
_LETTER, _LINE, _NARROW, _WIDE = 6.8, 17, 340, 640  # pixels: a letter, a line, two pictures


@cache
def _templates() -> Any:
    with extra("cli"):
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    environment = Environment(
        loader=FileSystemLoader([_HERE / "templates", _HERE / "report/templates", _HERE / "page/templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": texts.number,
        "interval": texts.interval,
        "signed": texts.signed,
        "threshold": texts.threshold_shown,
        "prose": texts.prose,
        "token": token,
        "on": on,
        "dash": lambda role: DASHES.get(role, "solid"),
        "brief": texts.brief,
        "is_picture": lambda url: url.startswith("data:image/"),
    }
    return environment


def rendered(template: str, /, **values: Any) -> str:
    """The HTML of a template, whose values are escaped unless they are HTML of this function."""
    html: str = _templates().get_template(f"{template}.html").render(**values)
    safe: str = _templates().filters["safe"](html)
    return safe


class _Axis:
    """An axis of drawings with round ends, whose places are in percent of it.

    low, high: its ends as text
    """

    def __init__(self, points: Iterable[float], least: int = 0) -> None:
        self._low, self._high, digits = _axis([point for point in points if math.isfinite(point)])
        self.low, self.high = (texts.typographic(f"{end:.{max(digits, least)}f}") for end in (self._low, self._high))

    def place(self, value: float) -> float | None:
        """The place of a value; None for one that is not finite."""
        return round(100 * (value - self._low) / (self._high - self._low), 2) if math.isfinite(value) else None

    def drawn(self, value: float, interval: tuple[float, float] | None, guide: float | None) -> dict[str, Any]:
        """The places of a value, of its interval, if both ends have one, and of a dashed guide."""
        ends = [*map(self.place, interval or ())]
        return {"at": self.place(value), "ends": None if None in ends else ends, "guide": guide}


def comparison(answer: Answer, *, choice: bool = True) -> str:
    """The models as rows, with intervals drawn, and the verdicts; "" for one model.

    choice: whether the model that is shown is chosen here
    """
    if len(answer.models) < 2:
        return ""
    columns: list[dict[str, Any]] = []
    marks: dict[str, list[tuple[Number | None, dict[str, Any]]]] = {name: [] for name in answer.models}
    for key in answer.leading[:MAX_COMPARED]:
        of_models = {name: _by_key(answer, name).get(key) for name in answer.models}
        present = [number for number in of_models.values() if number is not None and math.isfinite(number.value)]
        first = present[0] if present else Number(key, 0)
        axis = _Axis((end for one in present for end in (one.value, *(one.interval or ()))), 2 if first.share else 0)
        best = None
        if first.higher is not None and present:
            best = axis.place((max if first.higher else min)(number.value for number in present))
        columns.append({"number": first, "axis": axis})
        for name, number in of_models.items():
            value, interval = (math.nan, None) if number is None else (number.value, number.interval)
            marks[name].append((number, axis.drawn(value, interval if math.isfinite(value) else None, best)))
    rows = [(name, _role_of(answer, name), marks[name]) for name in answer.models]
    return rendered(
        "comparison",
        answer=answer,
        title=counted(len(answer.models), answer.noun),
        columns=columns,
        rows=rows,
        choice=choice,
        level="" if answer.level is None else f"{100 * answer.level:g} % interval",
        verdicts=[_verdict(sentence) for sentence in answer.verdicts[:MAX_VERDICTS]],
        more=max(0, len(answer.verdicts) - MAX_VERDICTS),
    )


def pair(answer: Answer) -> str:
    """The differences of two models, of all samples, with intervals drawn, and the verdict; "" without any."""
    rows = [row for row in answer.differences if row.higher is not None and not row.group]
    if not rows:
        return ""
    rows.sort(key=lambda row: row.key not in answer.leading[:1])
    shown, titles = rows[:MAX_ROWS_OF_A_PAIR], titles_of(answer)
    drawn = [row for row in shown if max(abs(row.low), abs(row.high), abs(row.difference)) <= 1]  # counts are not
    axis = _Axis([0.0, *(end for row in drawn for end in (row.low, row.high, row.difference))], 2)
    names = rows[0].first, rows[0].second
    wins = {name: sum(row.better == name for row in rows) for name in names}
    counts = [f"{name} is better in {number}" for name, number in wins.items() if number]
    counts = counts or ["neither is better in any"]
    return rendered(
        "pair",
        names=names,
        rows=[
            (row, titles.get(row.key, row.key), axis.drawn(row.difference, (row.low, row.high), axis.place(0.0)))
            if row in drawn
            else (row, titles.get(row.key, row.key), None)
            for row in shown
        ],
        axis=axis,
        notes=[f"{', '.join(counts)} of {len(rows)} numbers"] * (len(rows) > 1) + [answer.over] * bool(answer.over),
        neither=NO_DIFFERENCE,
    )


def _axis(points: Sequence[float]) -> tuple[float, float, int]:
    """Round ends of an axis around points, and the decimals of their texts.

    >>> _axis([0.681, 0.839]), _axis([12.0, 70.0]), _axis([1.0])
    ((0.68, 0.84, 2), (10.0, 70.0, 0), (0.94, 1.06, 2))
    """
    low, high = (min(points), max(points)) if points else (0.0, 1.0)
    if high - low < 1e-12 * max(1.0, abs(high)):
        low, high = low - 0.05 * max(1.0, abs(low)), high + 0.05 * max(1.0, abs(high))
    rough = (high - low) / 8
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * part for part in (*_STEPS, 10) if unit * part >= rough * (1 - 1e-9))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    ends = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return round(ends[0], digits), round(ends[1], digits), digits


def counted(count: int, noun: str) -> str:
    """A number of things as a title.

    >>> counted(2, "set of maps"), counted(20, "model")
    ('Two sets of maps', '20 models')
    """
    return f"{_WORDS[count] if count < len(_WORDS) else f'{count:,}'} {plural(noun)}"


def _verdict(sentence: str) -> tuple[str, str, str]:
    """The parts of a sentence of a comparison: the models, the difference, and which is better.

    >>> _verdict("knn vs msp: AUROC +0.115 [0.092, 0.137], knn is better")
    ('knn vs msp', 'AUROC +0.115 [0.092, 0.137]', 'knn is better')
    """
    who, colon, rest = sentence.rpartition(": ")
    what, comma, how = rest.rpartition(", ")
    return who if colon else "", what if comma else rest, how if comma else ""


def _role_of(answer: Answer, model: str) -> str:
    """The role of a model: "d1" of the first in the file, and so on."""
    return f"d{[*answer.models].index(model) + 1}"


def _by_key(answer: Answer, model: str) -> dict[str, Number]:
    return {number.key: number for number in answer.numbers.get(model, ())}


def headline(answer: Answer) -> str:
    """The leading numbers of the model shown, large, with their names and intervals."""
    numbers = _by_key(answer, answer.model)
    leading = [numbers[key] for key in (*answer.leading, *answer.beside) if key in numbers]
    return rendered("headline", answer=answer, leading=leading, role=_role_of(answer, answer.model))


def decisions(answer: Answer, place: int) -> str:
    """The counts, the rates and the promise of the decisions at the threshold at an index; "" without decisions."""
    if answer.decisions is None:
        return ""
    choices, rows = answer.decisions, []
    for name, cells in choices.table.items():
        parts = [(words, choices.counts[count][place]) for words, count in cells.items()]
        rows.append((name, choices.roles.get(name, "edge"), sum(samples for _, samples in parts), parts))
    rates = [(name, number_at(choices, name, place)) for name in (*choices.rates, *choices.values)]
    promised = [words for preset, words in choices.promises.items() if choices.presets.get(preset) == place]
    threshold = texts.threshold_shown(choices.thresholds[place])
    promise = " ".join(words.replace("{threshold}", threshold) for words in promised)
    of_nothing = "–: a share of nothing" if any(map(math.isnan, dict(rates).values())) else ""
    there, possible = len(choices.thresholds), choices.possible
    fewer = f"{there:,} of {possible:,} thresholds" if there < possible else ""
    note = joined(of_nothing, choices.note, fewer)
    return rendered("decisions", rows=rows, rates=rates, note=note, promise=promise)


def numbers(answer: Answer) -> str:
    """All numbers of the model shown that do not lead, by section, folded; "" if there are none."""
    headline = {*answer.leading, *answer.beside}
    rest = {key: number for key, number in _by_key(answer, answer.model).items() if key not in headline}
    sections = []
    for title, keys in answer.sections.items():
        leading = [rest.pop(key) for key in keys if key in rest]
        if leading:
            sections.append((title, leading))
    if rest:
        sections.append(("Others" if sections else "", [*rest.values()]))
    return rendered("numbers", sections=sections) if sections else ""


def tables(answer: Answer) -> str:
    """The models or groups side by side, and all other tables, folded; "" without tables."""
    side_by_side, titles = beside(answer), titles_of(answer)
    if side_by_side is None and not answer.tables:
        return ""
    shown = None if side_by_side is None else table(side_by_side, titles, most=MAX_ROWS)
    others = [(one.title, table(one, titles, most=MAX_ROWS)) for one in answer.tables]
    return rendered("tables", title="" if side_by_side is None else side_by_side.title, beside=shown, others=others)


def beside(answer: Answer) -> Table | None:
    """The models or groups side by side; None where the comparison of the models has the same numbers."""
    table = answer.side_by_side
    compared = {answer.noun, *answer.leading[:MAX_COMPARED]} if len(answer.models) > 1 else set()
    return None if table is not None and {*table.columns} <= compared else table


def titles_of(answer: Answer) -> dict[str, str]:
    """The title of each number of the model that is shown, by its key; none without one."""
    return {number.key: number.title for number in answer.numbers.get(answer.model, ()) if number.title}


def table(
    shown: Table,
    titles: Mapping[str, str] = {},
    *,
    most: int | None = None,
    digits: int | None = None,
    meters: Collection[str] = (),
) -> str:
    """A table, which scrolls within itself.

    titles: of columns, in words; most, how many rows are shown; digits, of numbers
    meters: columns of shares that have a bar; a list in them has one for each model, in the models' colours
    """
    columns = [*shown.columns.items()]
    are_numbers = {name: all(map(_is_number, column)) for name, column in columns}
    best, length = {*shown.best}, min(map(len, shown.columns.values()), default=0)

    def cell(row: int, name: str, value: Any) -> dict[str, Any]:
        bars: list[tuple[str, float, str]] = []
        if name in meters and value is not None:
            several = {f"d{i}": one for i, one in enumerate(value, 1)} if isinstance(value, list) else {"known": value}
            bars = [
                (role, 100 * min(1.0, max(0.0, one or 0.0)), texts.number(one, digits)) for role, one in several.items()
            ]
        interval = shown.intervals[name][row] if name in shown.intervals else None
        text = interval and texts.interval(interval, digits)
        return {"text": texts.number(value, digits), "bars": bars, "best": (row, name) in best, "interval": text}

    rows = [
        [(are_numbers[name], cell(row, name, column[row])) for name, column in columns]
        for row in range(length if most is None else min(length, most))
    ]
    heads = [(titles.get(name, name), shown.higher.get(name), are_numbers[name]) for name, _ in columns]
    longest = max((len(cells[0][1]["text"]) for cells in rows), default=0)
    more = length - len(rows)
    return rendered("table", title=shown.title, heads=heads, rows=rows, first=shown.first, more=more, longest=longest)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float, list, tuple)) and not isinstance(value, bool))


def differences(answer: Answer) -> str:
    """The paired comparison of all models, folded; "" without one."""
    return rendered("differences", answer=answer, table=pairs(answer, most=MAX_PAIRS)) if answer.differences else ""


def pairs(answer: Answer, *, most: int | None = None, digits: int | None = None) -> str:
    """The paired comparison of all models as a table: every difference with its interval, p-value and verdict."""
    rows, titles = answer.differences, titles_of(answer)
    columns: dict[str, Sequence[Any]] = {"Pair": [f"{row.first} − {row.second}" for row in rows]}
    if any(row.group for row in rows):
        columns["Group"] = [row.group or "mean" for row in rows]
    columns |= {
        "Number": [titles.get(row.key, row.key) for row in rows],
        "Difference": [row.difference for row in rows],
        "p": [row.p_value for row in rows],
        "Better": [row.better or NO_DIFFERENCE for row in rows],
    }
    ends = [None if math.isnan(row.low) else (row.low, row.high) for row in rows]
    pairs = Table("All pairs compared", columns, intervals={"Difference": ends})
    return table(pairs, most=most, digits=digits)


def worst(answer: Answer) -> str:
    """The samples ranked worst on both sides, folded on a narrow page; "" without them."""
    if not answer.worst:
        return ""
    by = f" by {answer.model}" if len(answer.models) > 1 else ""
    sides = []
    for side in answer.worst:
        columns = {name: column[:MAX_WORST] for name, column in side.columns.items()}
        sides.append((side, table(Table(side.title, columns))))
    return rendered("worst", title=f"Ranked worst{by}", sides=sides)


def gallery(answer: Answer, shown: int = 0, kind: str = "") -> str:
    """Thumbnails of the images as a choice named "image", of indices, below filters; "" without images.

    kind: of the images that the filters leave, "" for all
    """
    if not answer.images:
        return ""
    filters = filters_of(answer.images)
    kinds = [kinds_of(one, filters) for one in answer.images]
    small = [framed(replace(one, picture=one.thumbnail), {}) for one in answer.images]
    images = [*zip(answer.images, small, kinds)]
    return rendered("gallery", images=images, shown=shown, kind=kind, chips=chips_of(filters, kinds))


def notes(answer: Answer) -> str:
    """The notes of an answer, such as on rows that were left out, and its signature; "" without either."""
    shown = notes_of(answer)
    return rendered("notes", notes=shown, signature=answer.signature) if shown or answer.signature else ""


def notes_of(answer: Answer) -> list[str]:
    """The notes of an answer that its headline does not have."""
    return [note for note in answer.notes if note != answer.why or not answer.leading]


def title_of(figure: Figure) -> str:
    """The title of a figure, its unit and note, and the names of its parts, sides or curves."""
    unit, parts, curves = figure.unit if isinstance(figure, Histogram) else "", [], []
    if isinstance(figure, Bars):
        parts = [*zip(figure.parts, figure.roles)]
    elif isinstance(figure, Histogram):
        parts = [(series.name, series.role) for series in figure.series]
    elif isinstance(figure, Curves) and any(series.name for series in figure.series):
        curves = sorted(figure.series, key=lambda series: -math.inf if series.value is None else -series.value)
    hatched = isinstance(figure, Histogram)
    return rendered("title", figure=figure, unit=unit, parts=parts, curves=curves, hatched=hatched)


def drawn(
    figure: Figure,
    decisions: Decisions | None = None,
    place: int = 0,
    *,
    name: str = "",
    width: int = WIDTH,
    threshold: float | None = None,
) -> str:
    """A figure that stands still, below its title and key; see `svg_of`. Needs matplotlib.

    name: the accessible one, by default the figure in words
    """
    sentences = [figure.title]
    if isinstance(figure, (Bars, Matrix)):
        names = figure.parts if isinstance(figure, Bars) else figure.columns
        for row, counts in zip(figure.rows, figure.counts):
            cells = (f"{words} {count:,}" for words, count in zip(names, counts) if count is not None)
            sentences.append(f"{row}: {', '.join(cells)}")
    if isinstance(figure, Matrix):
        width = max(width, width_of(figure))
    words = name or f"{sentences[0]}. {'; '.join(sentences[1:])}".removesuffix(". ")
    svg = svg_of(figure, decisions, place, name=words, width=width, threshold=threshold)
    return rendered("drawn", title=title_of(figure), svg=svg, width=width, name=figure.title)


def picture_of(image: Image) -> str:
    """An image, at most `_WIDE` pixels wide, with its boxes and its legend."""
    shown = framed(image, {"wide": _WIDE, "small": _NARROW})
    return rendered("picture", image=image, width=_WIDE, shown=shown)


def framed(image: Image, widths: Mapping[str, int]) -> str:
    """An image with its boxes, the first ones on top.

    widths: in pixels, of layers of labels by their names. Labels of errors do not cover each other; every box says
        what it is on hover.
    """
    boxes = [(box, _places(box.corners, image.size)) for box in reversed(image.boxes)]
    labels = {name: _labels(image, width) for name, width in widths.items()} if image.boxes else {}
    return rendered("frame", image=image, boxes=boxes, labels=labels)


def _places(corners: Sequence[float], size: tuple[float, float]) -> list[float]:
    """Left, top, width and height of a rectangle, xyxy, in percent of a picture."""
    left, top, right, bottom = (100 * end / size[i % 2] for i, end in enumerate(corners))
    return [round(number, 3) for number in (left, top, right - left, bottom - top)]


def ratio_of(image: Image) -> float:
    """The width of a picture in heights of it, 4/3 where its size is unknown."""
    across, down = image.size
    return 4 / 3 if across == down == 1 else across / down  # shares do not say the size


def _labels(image: Image, width: int) -> list[tuple[Box, list[float]]]:
    boxes = sorted(image.boxes, key=lambda box: not box.label or box.role == "right")
    named = [box for box in boxes if box.label and box.role != "right"]
    size = width, round(width / ratio_of(image))
    corners = [[round(end * size[i % 2] / image.size[i % 2]) for i, end in enumerate(box.corners)] for box in boxes]
    widths = [round(_LETTER * len(texts.brief(box.label))) + 10 for box in named]
    places = label_places(widths, _LINE, corners, size)
    return [(box, _places(place, size)) for box, place in zip(named, places) if place is not None]


def label_places(
    widths: Sequence[int], height: int, places: Sequence[Sequence[int]], size: tuple[int, int]
) -> list[tuple[int, int, int, int] | None]:
    """Rectangles for labels beside their boxes, or None for a label without a place.

    Parameters: widths of the labels, of the most important box first; their height; places of all boxes, of which the
    first have the labels; size of the picture. No label covers another; each covers as little of other boxes as it can.
    """
    every, written = np.asarray(places).reshape(-1, 4), np.zeros((0, 4))
    chosen: list[tuple[int, int, int, int] | None] = []
    for i, width in enumerate(widths):
        spots = np.reshape(np.asarray(_spots(places[i], width, height, size), np.int64), (-1, 4))
        free = spots[~_overlaps(spots, written).any(axis=1)]
        covered = _overlaps(free, np.delete(every, i, axis=0)).sum(axis=1)
        chosen.append((*free[np.argmin(covered)].tolist(),) if len(free) else None)
        written = np.asarray([spot for spot in chosen if spot is not None]).reshape(-1, 4)
    return chosen


def _spots(place: Sequence[int], width: int, height: int, size: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    """Rectangles for a label at a box and within the picture, the best first: above, below, beside, inside."""
    x1, y1, x2, y2 = place
    corners = [(x, y) for y in (y1 - height - 2, y2 + 2) for x in (x1, x2 - width, (x1 + x2 - width) // 2)]
    corners += [(x, y) for x in (x2 + 2, x1 - width - 2) for y in (y1, y2 - height)]
    corners += [(x, y) for y in (y1 + 3, y2 - height - 3) for x in (x1 + 3, x2 - width - 3)]
    within = [(min(max(0, x), size[0] - width), y) for x, y in corners]
    beside = [(x, y) for x, y in within if 0 <= y <= size[1] - height and x >= 0]
    return [(x, y, x + width, y + height) for x, y in beside]


def _overlaps(spots: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The area that each of some rectangles, (S, 4), shares with each of others, (N, 4)."""
    across = np.minimum(spots[:, None, 2], others[:, 2]) - np.maximum(spots[:, None, 0], others[:, 0])
    down = np.minimum(spots[:, None, 3], others[:, 3]) - np.maximum(spots[:, None, 1], others[:, 1])
    return np.asarray(np.maximum(across, 0) * np.maximum(down, 0))
