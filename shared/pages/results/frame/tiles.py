"""A grid of images with filters; a press enlarges one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple


class Tile(NamedTuple):
    """An image of the grid.

    title: its name, in bold
    words: the lines below the title
    picture: the HTML of one or several pictures, from `picture_html`; "" for none
    kinds: the keys of the filters that show it
    """

    title: str
    words: Sequence[str]
    picture: str
    kinds: Sequence[str] = ()


def tiles_html(
    tiles: Sequence[Tile], filters: Mapping[str, str], *, everything: str = "All", wide: bool = False
) -> str:
    """The grid, below a button for each filter with tiles and their number.

    Parameters: tiles, the worst first; filters, a name for each kind; everything, the name of the filter that shows
    all; wide, for tiles of several pictures.
    """
    counts = {kind: sum(kind in tile.kinds for tile in tiles) for kind in filters}
    chips = [_chip("", everything, len(tiles))] + [_chip(kind, filters[kind], n) for kind, n in counts.items() if n]
    useful = any(0 < n < len(tiles) for n in counts.values())
    group = f'<div class="chips" role="group" aria-label="Show">{"".join(chips)}</div>' if useful else ""
    return f'{group}<div class="tiles{" wide" if wide else ""}">{"".join(map(_tile, tiles))}</div>'


def picture_html(source: str | None, alt: str, size: tuple[int, int], over: str = "") -> str:
    """A picture with an SVG of its size over it.

    Parameters: source, a data: URI of `photograph`, or the name of a file beside the report; None for a plain ground;
    alt, a sentence; size, width and height in pixels; over, the contents of the SVG, in pixels of `size`.
    """
    width, height = size
    drawn = f'<svg viewBox="0 0 {width} {height}" aria-hidden="true">{over}</svg>' if over or source is None else ""
    if source is None:
        return f'<span class="pic plain" role="img" aria-label="{escape(alt)}">{drawn}</span>'
    image = (
        f'<img loading="lazy" decoding="async" src="{escape(source)}" width="{width}" height="{height}"'
        f' alt="{escape(alt)}">'
    )
    return f'<span class="pic">{image}{drawn}</span>'


def _chip(kind: str, name: str, count: int) -> str:
    pressed = "false" if kind else "true"
    return (
        f'<button type="button" class="chip" data-kind="{escape(kind)}" aria-pressed="{pressed}">'
        f"{escape(name)} <b>{count:,}</b></button>"
    )


def _tile(tile: Tile) -> str:
    words = "".join(f"<small>{escape(line)}</small>" for line in tile.words)
    return (
        f'<button type="button" class="tile" data-kinds="{escape(" ".join(tile.kinds))}" aria-expanded="false">'
        f"{tile.picture}<b>{escape(tile.title)}</b>{words}</button>"
    )
