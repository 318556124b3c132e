"""Colours of pictures are seen in both themes; legends leave curves free."""

from __future__ import annotations

import pytest

from openworld_metrics.pages.browser import layout
from openworld_metrics.pages.figures import boxes, roc, style

BACKGROUNDS = ("#ffffff", "#18181b")  # of a picture in the light theme and in the dark one, which is neutral_900


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted(map(luminance, (first, second)))
    return (high + 0.05) / (low + 0.05)


def test_every_colour_is_seen_in_both_themes() -> None:
    """A contrast of 3, as WCAG asks of graphics; what has a colour has a dash or a sign of its own too."""
    outcomes = {each.color for each in boxes.STYLES.values()}
    for color in {*(color for color, _ in style.LINES), *outcomes}:
        assert min(contrast(color, ground) for ground in BACKGROUNDS) >= 3, color
    assert layout.THEME.block_background_fill_dark == "*neutral_900"
    for marks in (style.LINES, [each[1:] for each in boxes.STYLES.values()]):
        assert len({mark[1] for mark in marks}) == len(marks)


@pytest.mark.parametrize(
    ("y", "corner"),
    [([0, 0.9, 1], ("right", "bottom")), ([0, 0, 0.1], ("right", "top")), ([0, 0, 1], ("left", "top"))],
)
def test_a_legend_leaves_a_curve_to_be_clicked(y: list[float], corner: tuple[str, str]) -> None:
    """A line that skips the hover, such as that of chance, may be covered."""
    fig = roc.chance(style.curve(style.figure("x", "y"), [0, 0.5, 1], y, "curve"))
    legend = style.legend_inside(fig).layout.legend
    assert (legend.xanchor, legend.yanchor) == corner
