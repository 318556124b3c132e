"""Reports as one HTML file, in light, dark and print, without a network: plain data for the jinja2 templates beside it.

    sections = [
        Section("Errors", "Where the errors go", [grid(card(bars(counts, unit="objects")), card(chart(figure)))]),
        Section("Classes", "By class", [table({"class": […], "recall": […]}, "By class", meters=["recall"])]),
        details({"All numbers, six digits": [table(…, digits=6)], "Options and versions": [facts({…})]}),
    ]
    html = page_html(title, "openworld-metrics detect", ["60 images"], headline(numbers), sections)

A block is a template's name with its data. All text is plain, and templates escape it. Numbers have three decimals, a
minus sign, and their interval beside them. Colours are roles of `palette`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from ...answers.answer import Bars, Decisions, Difference, Figure, Matrix, Number
from ...extras import extra
from ...metric.numbers import DIGITS, arrow, percent_text
from ...written.files import check_file, check_folder, nearest_folder
from .. import palette
from ..drawing import WIDTH, svg_of
from ..numbers import interval, number, signed, threshold_shown, typographic
from ..terminal import NO_DIFFERENCE

Block = SimpleNamespace
_ROWS = 8  # of a comparison on the first screen; the others are among all numbers
_CHARACTER = 0.03  # fraction of a bar that has room for a character
_SHORT = 6  # letters of a name that fits above a narrow cell
_TALL, _LONG = 40, 20  # rows above which a table scrolls within itself; characters above which a text may wrap


class Section(NamedTuple):
    """A section: its name in the contents, its heading, its blocks, and a sentence in grey below the heading.

    Without blocks, a section is left out of a page.
    """

    name: str
    title: str
    blocks: Sequence[Block]
    lead: str = ""

    @property
    def id(self) -> str:
        """The name as the target of a link."""
        return "-".join(self.name.lower().split())


def page_html(
    title: str,
    command: str,
    lines: Sequence[str],
    head: Block,
    sections: Sequence[Section],
    *,
    date: datetime | None = None,
) -> str:
    """The HTML of a report.

    title; command, which wrote it, such as "openworld-metrics detect"
    lines: facts on the data, to which the date and the version of this package are added
    head: of `headline`; sections, of which the last is that of `details`; date, by default now
    """
    now = (date or datetime.now(timezone.utc)).astimezone(timezone.utc)
    stated = [f"{now.day} {now:%B %Y, %H:%M} UTC", *filter(None, lines), _package()]
    shown = [section for section in sections if section.blocks]
    return str(
        _templates()
        .get_template("page.html")
        .render(title=title, command=command, facts=stated, headline=head, sections=shown, style=style(), script=_js())
    )


def rendered(*blocks: Block) -> str:
    """Blocks as HTML, for a page of one's own with the `style` of reports."""
    return "".join(_templates().get_template(block.template).render(block=block) for block in blocks)


def check_report_folder(folder: Path, read: Sequence[Path]) -> None:
    """Raise ValueError for a report among the input files, OSError for one that cannot be written."""
    for place in read:
        if folder.resolve().is_relative_to(place.resolve()):
            raise ValueError(f"{folder}: expected a report outside of {place}, which is an input")
    check_folder(nearest_folder(folder))
    if folder.is_dir():
        check_file(folder / "index.html")


def style() -> str:
    """The style of a report: the palette, the rules of its blocks, and those of tables on pages too narrow for them."""
    rules = _text("records.css")
    wide = "".join(f"@media {media} {{\n{rules.replace('FORM', form)}}}\n" for form, media in _MEDIA.items())
    return f"{palette.css()}{_text('report.css')}{wide}"


@cache
def _templates() -> Any:
    with extra():
        import jinja2

    folder = Path(__file__).with_name("templates")
    loader = jinja2.FileSystemLoader(folder)
    templates = jinja2.Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        undefined=jinja2.StrictUndefined,
    )
    return templates


def _package() -> str:
    """The package and its version, which a Space, where a copy of it lies, does not know."""
    try:
        return f"openworld-metrics {version('openworld-metrics')}"
    except PackageNotFoundError:
        return "openworld-metrics"


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _js() -> str:
    return _text("report.js")


def card(*blocks: Block, title: str = "", note: str = "") -> Block:
    """A framed figure, with a title and a grey note after it."""
    return Block(template="card.html", blocks=blocks, title=title, note=note)


def grid(*blocks: Block, columns: int = 2) -> Block:
    """Cards side by side, up to `columns` (1 to 4) if there is room."""
    return Block(template="grid.html", blocks=blocks, columns=columns)


def fold(title: str, *blocks: Block) -> Block:
    """A part that is folded away until a reader opens it; prints of the report show it."""
    return Block(template="fold.html", title=title, blocks=blocks)


def details(folds: Mapping[str, Sequence[Block]]) -> Section:
    """The last section: folded parts by name, for details that most readers skip."""
    return Section("Details", "Details", [fold(name, *blocks) for name, blocks in folds.items() if blocks])


def facts(values: Mapping[str, str]) -> Block:
    """Names with their values, such as options and versions."""
    return Block(template="facts.html", entries=list(values.items()))


def text(*sentences: str, kind: str = "") -> Block:
    """Paragraphs; kind: a class of them, such as "small quiet"."""
    return Block(template="text.html", sentences=[each for each in sentences if each], kind=kind)


def code(content: str) -> Block:
    """The text of a program, as it is, in a frame that scrolls where lines are long."""
    return Block(template="code.html", content=content)


def keys(entries: Sequence[tuple[str, str, str]], kind: str = "box") -> Block:
    """A legend: for each role its name, and a number or "". kind: "box", or "line" for lines over images."""
    return Block(template="keys.html", entries=entries, mark=kind)


def chart(
    figure: Figure,
    decisions: Decisions | None = None,
    place: int = 0,
    *,
    note: str = "",
    name: str = "",
    width: int = WIDTH,
    threshold: float | None = None,
    point: tuple[float, float] | None = None,
) -> Block:
    """A drawing of `svg_of`, with notes below; name: the accessible one, by default the figure's title."""
    svg = svg_of(figure, decisions, place, name=name, width=width, threshold=threshold, point=point)
    return Block(template="chart.html", svg=svg, notes=[part for part in (figure.note, note) if part])


def headline(
    numbers: Sequence[Number],
    names: Sequence[str] = (),
    differences: Sequence[Difference] = (),
    *,
    titles: Mapping[str, str] = {},
    note: str = "",
    hint: str = "",
    verdicts: Sequence[str] = (),
    blocks: Sequence[Block] = (),
) -> Block:
    """The leading numbers as cards; of two models also which is better, with a row for each key.

    numbers: at most three
    names: of the two models; differences, the paired comparison of these two, without that of groups
    titles: of keys, where they have one
    note: what the comparison is of, such as "mean of 2 categories"
    hint: a sentence below the cards, such as why there are no intervals
    verdicts: sentences on more than two models, which then stand in place of the rows, above other blocks
    """
    cards = [
        Block(
            key=each.title or each.key,
            arrow=arrow(each.higher),
            way=_way(each.higher),
            value=number(each.value),
            interval=interval(each.interval),
            words=_words(each),
        )
        for each in numbers
    ]
    rows = [row for row in differences if row.higher is not None and not row.group]
    compared = _compared(numbers[0].key, names, rows, titles, note) if rows and len(names) == 2 else None
    return Block(cards=cards, hint=hint, compared=compared, verdicts=verdicts, blocks=blocks)


def verdict(row: Difference) -> str:
    """Which of two models is better by the row of a comparison, in words, or that neither is."""
    return f"{row.better} is better" if row.better else NO_DIFFERENCE


def _words(each: Number) -> str:
    """A line on a number: its meaning, what it is of, and the threshold of its decisions."""
    at = f"at score > {threshold_shown(each.threshold)}" if each.threshold else ""
    return "; ".join(filter(None, [each.meaning, each.note, at]))


def _way(higher: bool | None) -> str:
    return "" if higher is None else "higher is better" if higher else "lower is better"


def _compared(
    first: str, names: Sequence[str], rows: Sequence[Difference], titles: Mapping[str, str], note: str
) -> Block:
    """The comparison of two models: its verdict on the first key, how often each is better, and rows with an axis."""
    rows = sorted(rows, key=lambda row: row.key != first)
    shown = rows[:_ROWS]
    one, other = names
    better = [sum(row.better == name for row in rows) for name in names]
    counted = f"{one} is better in {better[0]}, {other} in {better[1]} of {len(rows)} numbers" if len(rows) > 1 else ""
    axis = _Axis([row for row in shown if _is_share(row)])
    return Block(
        names=names,
        key=titles.get(shown[0].key, shown[0].key),
        ends=f"{signed(shown[0].difference)} {interval((shown[0].low, shown[0].high))}",
        verdict=verdict(shown[0]),
        notes=". ".join(filter(None, [counted, note[:1].upper() + note[1:]])),
        labels=axis.labels(),
        rows=[
            Block(
                key=titles.get(row.key, row.key),
                arrow=arrow(row.higher),
                way=_way(row.higher),
                pair=[number(value) for value in row.values],
                difference=signed(row.difference),
                interval=interval((row.low, row.high)),
                verdict=verdict(row),
                reach=axis.reach(row) if _is_share(row) else None,
            )
            for row in shown
        ],
    )


def _is_share(row: Difference) -> bool:
    """Whether a row compares rates; counts would need another axis."""
    return max(abs(row.low), abs(row.high), abs(row.difference)) <= 1


class _Axis:
    """The axis of differences in percent of its width: it includes 0 and all intervals, with a margin."""

    def __init__(self, rows: Sequence[Difference]) -> None:
        self.low = min([0.0, *(row.low for row in rows)])
        self.high = max([0.0, *(row.high for row in rows)])

    def at(self, value: float) -> float:
        """The place of a difference."""
        width = self.high - self.low
        return round(50.0 if not width else 4 + 92 * (value - self.low) / width, 1)

    def labels(self) -> list[tuple[float, str]]:
        """The places and labels of 0 and of the ends, without an end that would touch 0."""
        apart = (self.high - self.low) / 5
        ends = [0.0, *(end for end in (self.low, self.high) if abs(end) > apart)]
        return [(self.at(end), typographic(f"{end:+.2g}") if end else "0") for end in ends]

    def reach(self, row: Difference) -> Block:
        """An interval: the places of 0, its ends, and its value."""
        low, high = self.at(row.low), self.at(row.high)
        return Block(zero=self.at(0), low=low, width=round(high - low, 1), value=self.at(row.difference))


def bars(figure: Bars, *, unit: str = "", notes: Sequence[str] = (), thin: bool = False, legend: bool = True) -> Block:
    """A divided bar for each row, with counts in its parts.

    unit: what is counted, such as "objects"; notes, a text beside each bar in place of its total
    thin: low bars without numbers; legend, the roles below, with their shares if there is one bar
    """
    rows = []
    for place, (name, counts) in enumerate(zip(figure.rows, figure.counts)):
        total = sum(counts)
        parts = [
            Block(
                role=role,
                count=count,
                title=f"{part}: {count:,} of {total:,}",
                text="" if thin or count / total < _CHARACTER * (1 + len(f"{count:,}")) else f"{count:,}",
            )
            for part, role, count in zip(figure.parts, figure.roles, counts)
            if count
        ]
        label = ", ".join(f"{part} {count:,}" for part, count in zip(figure.parts, counts))
        note = notes[place] if notes else f"{total:,} {unit}".rstrip()
        rows.append(Block(name=name, note=note, label=f"{name}: {label}", parts=parts))
    own = figure.counts[0] if len(figure.counts) == 1 else ()
    shares = [percent_text(count, sum(own)) for count in own] or [""] * len(figure.parts)
    entries = [*zip(figure.roles, figure.parts, shares)]
    return Block(template="bars.html", rows=rows, thin=thin, legend=keys(entries) if legend and rows else None)


def matrix(figure: Matrix) -> Block:
    """Counts as a table, shaded by their share of the row or, without shares, by the highest count."""
    counts = [count for row in figure.counts for count in row if count is not None]
    most, rows = max([1, *counts]), []
    for place, (name, row) in enumerate(zip(figure.rows, figure.counts)):
        total = sum(count or 0 for count in row)
        cells = [
            Block(
                role=palette.token(figure.roles[place][column] if figure.roles else "unknown"),
                depth=round(50 * (count or 0) / ((total if figure.shares else most) or 1)),
                text="–" if count is None else f"{count:,}" if figure.shares or count else "·",
                share=percent_text(count, total) if figure.shares and count is not None else "",
                right=(place, column) in figure.right,
                none=count is None,
            )
            for column, count in enumerate(row)
        ]
        rows.append(Block(name=name, note=figure.notes[place] if figure.notes else "", cells=cells))
    upright = not figure.shares and max(map(len, figure.columns), default=0) > _SHORT
    kind = "matrix" + (" tight" if not figure.shares else "") + (" upright" if upright else "")
    return Block(template="matrix.html", name=figure.title, kind=kind, columns=figure.columns, rows=rows)


def table(
    columns: Mapping[str, Sequence[Any]],
    title: str,
    *,
    meters: Collection[str] = (),
    minor: Collection[str] = (),
    best: Collection[tuple[int, str]] = (),
    first: int = 0,
    digits: int = DIGITS,
) -> Block:
    """A table; a long one scrolls within itself, and its head stays. Where it is wider than its page, each row is a
    block of names with their values.

    columns: by name, the first of which names the rows; of the others floats are rates or differences, ints counts,
        None a dash, tuples (value, low, high) with an interval, lists of a rate for each model, which have bars in the
        models' colours, or a text
    title: what the table is, for readers of screens
    meters: columns of rates in [0, 1] that have a bar; minor, columns that a narrow screen leaves out
    best: the row, from 0, and the column of each number that is marked; first, how many rows at its beginning are means
    digits: of floats
    """
    form = _forms(columns, meters, minor, digits)
    names = list(columns)
    rows = []
    for place, (name, *rest) in enumerate(zip(*columns.values())):
        cells = []
        for value, column in zip(rest, names[1:]):
            kinds = {
                "minor": column in minor,
                "none": value is None,
                "best": (place, column) in best,
                "long": isinstance(value, str) and len(value) > _LONG,
            }
            classes = " ".join(kind for kind, applies in kinds.items() if applies)
            cells.append(Block(classes=classes, name=column, parts=_cell(value, column in meters, digits)))
        rows.append(Block(name=str(name), mean=place < first, cells=cells))
    heads = [Block(parts=name.split("_"), minor=name in minor) for name in names]
    kind = " ".join(["data", *form])
    return Block(template="table.html", title=title, kind=kind, heads=heads, rows=rows, tall=len(rows) > _TALL)


def names_beside(names: Sequence[str], others: Collection[str]) -> list[str]:
    """Names of models as columns of a table that has other columns, too.

    >>> names_beside(["mine", "key"], ["key", "difference"])
    ['mine', 'key (model)']
    """
    return [f"{name} (model)" if name in others else name for name in names]


def _cell(value: Any, meter: bool, digits: int) -> list[Block]:
    """The parts of a cell: a number with its interval, with a bar where there is a role, or one for each model."""
    if isinstance(value, list):
        return [_bar(each, f"d{place}", number(each, digits)) for place, each in enumerate(value, 1)]
    value, *ends = value if isinstance(value, tuple) else (value,)
    reach = interval((ends[0], ends[1]), digits) if ends and ends[0] is not None else ""
    return [_bar(value, "known" if meter and value is not None else "", number(value, digits), reach)]


def _bar(value: Any, role: str, shown: str, reach: str = "") -> Block:
    width = round(100 * min(1.0, max(0.0, value or 0.0)), 1) if role else 0
    return Block(role=role, width=width, text=shown, interval=reach)


# pixels there are, size of letters, pixels beside a column, of a bar, of the first column
_PAGES = {
    "narrow": (346, 12, 10, 0, 120),  # a telephone, where minor columns are left out and bars stand below their numbers
    "wide": (680, 9, 8, 44, 130),  # paper
    "records": (1020, 12.5, 12, 60, 180),  # the page at its full width
}
_MEDIA = {"narrow": "screen and (max-width: 760px)", "wide": "print, (max-width: 1200px)", "records": "all"}
_HEAD, _WIDE = 0.56, 0.63  # width of a letter of a head, and of a cell, by its size, of a wide font
_WORD = 16  # letters of a word in the first column, above which it is broken


def _forms(
    columns: Mapping[str, Sequence[Any]], meters: Collection[str], minor: Collection[str], digits: int
) -> list[str]:
    """The classes of a table: those of `_MEDIA` that it is too wide for, and "long" where long words are to be broken.

    >>> _forms({"name": ["a"], "auroc": [0.5]}, [], [], 3), _forms({f"column{i}": [1] for i in range(9)}, [], [], 3)
    ([], ['narrow'])
    """
    letters = {name: _letters(name, column, digits) for name, column in columns.items()}
    pages = [page for page in _PAGES if _pixels(page, letters, meters, minor) > _PAGES[page][0]]
    words = (word for name in next(iter(columns.values()), ()) for word in str(name).split())
    return [*pages, *(["long"] if max(map(len, words), default=0) > _WORD else [])]


def _pixels(page: str, widths: Mapping[str, float], meters: Collection[str], minor: Collection[str]) -> float:
    """About how wide a table is on a page."""
    _, size, beside, bar, longest = _PAGES[page]
    shown = {name: size * width for name, width in widths.items() if page != "narrow" or name not in minor}
    first = next(iter(shown))
    shown[first] = min(longest, shown[first])
    return sum(shown.values()) + beside * len(shown) + bar * sum(name in meters for name in shown)


def _letters(name: str, column: Sequence[Any], digits: int) -> float:
    """The width of the longest cell of a column, or word of its head, in sizes of letters."""
    head = max(map(len, re.split(r"[\s_]+", name)))
    cells = (f"{part.text} {part.interval}".strip() for value in column for part in _cell(value, False, digits))
    return max([_HEAD * head, *(_WIDE * len(cell) for cell in cells)])


class Mark(NamedTuple):
    """A box over a picture, in percent of its size; label: a text beside it, at (x, y) in percent, or ""."""

    kind: str
    left: float
    top: float
    width: float
    height: float
    title: str = ""
    label: str = ""
    x: float = 0
    y: float = 0


class Picture(NamedTuple):
    """A picture with boxes over it.

    source: a data: URI; "" for a plain ground
    alt: a sentence; size, width and height; marks: boxes
    """

    source: str
    alt: str
    size: tuple[float, float]
    marks: Sequence[Mark] = ()


class Tile(NamedTuple):
    """An image of the grid: its name, the lines below, pictures, and the keys of the filters that show it."""

    title: str
    lines: Sequence[str]
    pictures: Sequence[Picture] = ()
    kinds: Sequence[str] = ()


def tiles(shown: Sequence[Tile], filters: Mapping[str, str] = {}, *, wide: bool = False) -> Block:
    """A grid of images, of which a press enlarges one, below a button for each filter that some tiles pass.

    shown: the worst first; filters, a name for each kind; wide, for tiles of several pictures
    """
    counts = {kind: sum(kind in tile.kinds for tile in shown) for kind in filters}
    useful = any(0 < count < len(shown) for count in counts.values())
    chips = [("", "All", len(shown)), *((kind, filters[kind], count) for kind, count in counts.items() if count)]
    return Block(template="tiles.html", tiles=shown, chips=chips if useful else [], wide=wide)


def filter_key(name: str) -> str:
    """A name encoded as one word, for a filter.

    >>> filter_key("unknown, called known")
    'unknown-called-known'
    """
    plain = re.sub(r"[ ,]+", "-", name)
    return plain if re.fullmatch(r"[\w-]+", plain, re.ASCII) else f"x-{name.encode().hex()}"
