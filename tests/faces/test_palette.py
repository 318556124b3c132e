"""One palette: legible on both grounds, one colour for one meaning, and no colour elsewhere."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

from openworld_metrics import faces
from openworld_metrics.faces.palette import DASHES, TOKENS, css, light, token

DATA = ("known", "unknown", "misplaced", "d1", "d2", "d3", "edge")
TEXT = ("ink", "ink2", "bad", "link")
GROUNDS = ("ground", "surface")
HERE = Path(faces.__file__).parent


def luminance(color: str) -> float:
    """Relative luminance, as WCAG defines it."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", [*DATA, *TEXT])
def test_contrast_on_grounds(name: str, theme: int) -> None:
    for ground in (*GROUNDS, *(("soft", "mark") if name in TEXT[:2] else ())):
        least = 3.0 if name in DATA else 4.5
        assert contrast(TOKENS[name][theme], TOKENS[ground][theme]) >= least, (name, ground)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast_of_text_on_data(theme: int) -> None:
    assert contrast(TOKENS["on-known"][theme], TOKENS["known"][theme]) >= 4.5
    for name in ("unknown", "misplaced", "edge"):
        assert contrast(TOKENS["on-unknown"][theme], TOKENS[name][theme]) >= 4.5


def test_one_colour_has_one_meaning() -> None:
    for one, other in combinations(DATA, 2):
        assert TOKENS[one].light != TOKENS[other].light
    assert len({*DASHES.values()}) == len(DASHES)
    assert token("right") == token("known") != token("unknown")
    assert light("d4") == TOKENS["ink"].light


def test_no_other_file_has_colours() -> None:
    files = [path for path in HERE.rglob("*") if path.suffix in (".py", ".html", ".css", ".js")]
    own = {
        path.relative_to(HERE).as_posix(): re.findall(r"(?<!&)#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b", path.read_text())
        for path in files
    }
    assert {name for name, colors in own.items() if colors} == {"palette.py"}


def test_tokens_are_variables_of_both_themes() -> None:
    assert css().count("--known:") == 3
    assert css(system=False).count("--known:") == 2
