"""The frame that reports share: one HTML file in the look of the mock-ups, in light, dark and print, without a network.

    figures = [Figure("auroc", 0.82, 0.79, 0.85, higher=True, words="chance that …")]
    table = compare(…)                                   # or None, and one name
    bars = stacked_bars({"mine": [Part("found", 191, "known"), Part("called known", 78, "unknown")]}, unit="objects")
    tiles = [Tile("031 · 6 errors", ["5 called known"], picture_html(path), kinds=["known"])]
    sections = [
        Section("Errors", "Where the errors go", grid(card(bars))),
        Section("Images", "Images with the most errors", tiles_html(tiles, {"known": "Called known"})),
        Section("Classes", "By class", data_table({"class": […], "recall": […]}, meters=["recall"])),
        details({"All numbers, six digits": data_table(…, digits=6), "Options and versions": facts_html(…)}),
    ]
    html = report_html("Open-set detection of …", "openworld-metrics detect", facts, headline(figures, …), sections)

Functions of this room take plain text, and escape it; only arguments named `html`, `body`, `picture` and the strings
that these functions return are HTML. Colours are names of tokens of `report.css`: known, unknown, misplaced, both,
edge, d1, d2, d3. Numbers have three decimals (`values.number`), a minus sign, and their interval beside them.
"""

from .bars import Part, share_bar, stacked_bars
from .blocks import card, facts_html, grid
from .headline import Figure, headline
from .matrix import matrix
from .page import Section, details, report_html
from .table import data_table, names_beside
from .tiles import Tile, picture_html, tiles_html
from .values import interval, number, percent, signed

__all__ = [
    "Figure",
    "Part",
    "Section",
    "Tile",
    "card",
    "data_table",
    "details",
    "facts_html",
    "grid",
    "headline",
    "interval",
    "matrix",
    "names_beside",
    "number",
    "percent",
    "picture_html",
    "report_html",
    "share_bar",
    "signed",
    "stacked_bars",
    "tiles_html",
]
