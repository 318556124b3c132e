"""Reports as one HTML file, in light, dark and print, without a network.

    sections = [
        Section("Errors", "Where the errors go", [grid(chart(figure), chart(other))]),
        details({"All numbers, six digits": [table(…, digits=6)], "Options and versions": [facts({…})]}),
    ]
    html = page_html(title, "openworld-metrics detect", ["60 images"], [headline(answer)], sections)

A block is HTML, of a template. All text is plain, and templates escape it. Colours are roles of `palette`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from ...answers.answer import Decisions, Figure, Image, Key
from ...written.files import check_file, check_folder, nearest_folder
from .. import palette
from ..drawing import WIDTH
from ..html import drawn, framed, rendered
from ..images import chips_of

Block = str
_TILE = 176  # pixels of the narrowest tile, by which labels are placed


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
    head: Sequence[Block],
    sections: Sequence[Section],
    *,
    date: datetime | None = None,
) -> str:
    """The HTML of a report.

    title; command, which wrote it, such as "openworld-metrics detect"
    lines: facts on the data, to which the date and the version of this package are added
    head: the blocks of the first screen; sections, of which the last is that of `details`; date, by default now
    """
    now = (date or datetime.now(timezone.utc)).astimezone(timezone.utc)
    stated = [f"{now.day} {now:%B %Y, %H:%M} UTC", *filter(None, lines), _package()]
    shown = [section for section in sections if section.blocks]
    parts = {"style": style(), "script": _text("../filters.js") + _text("report.js")}
    return str(rendered("page", title=title, command=command, facts=stated, head=head, sections=shown, **parts))


def check_report_folder(folder: Path, read: Sequence[Path]) -> None:
    """Raise ValueError for a report among the input files, OSError for one that cannot be written."""
    for place in read:
        if folder.resolve().is_relative_to(place.resolve()):
            raise ValueError(f"{folder}: expected a report outside of {place}, which is an input")
    check_folder(nearest_folder(folder))
    if folder.is_dir():
        check_file(folder / "index.html")


def style() -> str:
    """The style of a report: the palette, the rules of parts that pages have, too, and its own."""
    return palette.css() + _text("../parts.css") + _text("report.css")


def _package() -> str:
    """The package and its version, which a Space, where a copy of it lies, does not know."""
    try:
        return f"openworld-metrics {version('openworld-metrics')}"
    except PackageNotFoundError:
        return "openworld-metrics"


def _text(name: str) -> str:
    return Path(__file__).parent.joinpath(name).read_text(encoding="utf-8")


def card(*blocks: Block) -> Block:
    """Blocks in one frame, such as a figure with its title and its key."""
    return rendered("card", blocks=blocks)


def grid(*blocks: Block, columns: int = 2) -> Block:
    """Cards side by side, up to `columns` (1 to 4) if there is room."""
    return rendered("grid", blocks=blocks, columns=columns)


def fold(title: str, *blocks: Block) -> Block:
    """A part that is folded away until a reader opens it; prints of the report show it."""
    return rendered("fold", title=title, blocks=blocks)


def details(folds: Mapping[str, Sequence[Block]]) -> Section:
    """The last section: folded parts by name, for details that most readers skip."""
    return Section("Details", "Details", [fold(name, *blocks) for name, blocks in folds.items() if any(blocks)])


def facts(values: Mapping[str, Any]) -> Block:
    """Names with their values, such as options and versions."""

    def words(value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {each}" for name, each in value.items())
        return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)

    return rendered("facts", entries={name: words(value) for name, value in values.items()}) if values else ""


def text(*sentences: str, kind: str = "") -> Block:
    """Paragraphs; kind: a class of them, such as "small quiet"."""
    return rendered("text", sentences=[each for each in sentences if each], kind=kind)


def code(content: str) -> Block:
    """The text of a program, as it is, in a frame that scrolls where lines are long."""
    return rendered("code", content=content)


def legend(entries: Mapping[str, str]) -> Block:
    """A legend of the lines over images: the role of each by its words."""
    return rendered("legend", entries=[Key(words, role) for words, role in entries.items()])


def chart(
    figure: Figure,
    decisions: Decisions | None = None,
    place: int = 0,
    *,
    note: str | None = None,
    name: str = "",
    width: int = WIDTH,
    threshold: float | None = None,
) -> Block:
    """A card with a figure, and its title and key above it; see `html.drawn`."""
    titled = figure if note is None else replace(figure, note=note)
    return card(drawn(titled, decisions, place, name=name, width=width, threshold=threshold))


class Tile(NamedTuple):
    """An image of the grid: its name, the lines below, pictures, and the keys of the filters that show it."""

    title: str
    lines: Sequence[str]
    pictures: Sequence[Image] = ()
    kinds: Sequence[str] = ()


def tiles(shown: Sequence[Tile], filters: Mapping[str, str] = {}, *, wide: bool = False) -> Block:
    """A grid of images, of which a press enlarges one, below a button for each filter that some tiles pass.

    shown: the worst first; filters, a name for each kind; wide, for tiles of several pictures
    """
    chips = chips_of(filters, [tile.kinds for tile in shown])
    pictures = [[framed(picture, {"all": _TILE}) for picture in tile.pictures] for tile in shown]
    return rendered("tiles", tiles=zip(shown, pictures), chips=chips, kind="", wide=wide)
