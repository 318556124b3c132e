"""A small SVG for each metric that illustrates what it measures, with axes in the colour of the text around it."""

from __future__ import annotations

_BLUE, _ORANGE = "#0072b2", "#d55e00"
_FRAME = '<svg viewBox="0 0 160 90" role="img" aria-hidden="true" fill="none" stroke-width="2">{}</svg>'
_AXES = '<path d="M20 8V78H152" stroke="currentColor" opacity="0.5"/>'


def _bars(heights: tuple[int, ...], filled: int) -> str:
    return "".join(
        f'<rect x="{26 + 16 * i}" y="{78 - height}" width="14" height="{height}" fill="{_BLUE}" '
        f'opacity="{0.85 if i < filled else 0.3}"/>'
        for i, height in enumerate(heights)
    )


def _curve(points: str, fill: bool = False) -> str:
    area = f'<path d="{points} L150 78 L20 78Z" fill="{_BLUE}" opacity="0.25"/>' if fill else ""
    return f'{area}<path d="{points}" stroke="{_BLUE}"/>'


_HEIGHTS = (28, 44, 53, 58, 62, 65, 67)
_F = "M20 78 L20 40 L38 40 L38 32 L60 32 L60 20 L84 20 L84 26 L104 26 L104 46 L128 46 L128 66 L150 66"
_HEAT = "".join(
    f'<rect x="{44 + 12 * x}" y="{9 + 12 * y}" width="12" height="12" fill="{_ORANGE}" '
    f'opacity="{max(0.08, 0.95 - 0.22 * ((x - 3.4) ** 2 + (y - 2.2) ** 2) ** 0.5):.2f}"/>'
    for x in range(6)
    for y in range(6)
)

PICTURES = {
    "accuracyk": _AXES + _bars(_HEIGHTS, 3),
    "autkc": _AXES + _bars(_HEIGHTS, 5) + f'<path d="M24 30H104" stroke="{_ORANGE}" stroke-dasharray="6 4"/>',
    "macro_open_f": _AXES + _curve(_F) + f'<circle cx="72" cy="20" r="5" fill="{_ORANGE}"/>',
    "micro_open_f": _AXES + _curve(_F) + f'<path d="M72 14 l6 10 h-12z" fill="{_ORANGE}"/>',
    "openauc": _AXES
    + _curve("M20 78 C24 34 44 24 150 20", fill=True)
    + '<path d="M20 18H150" stroke="currentColor" stroke-dasharray="4 4" opacity="0.6"/>',
    "ood_bench": _AXES
    + f'<path d="M24 78 C50 78 50 18 66 18 S84 78 108 78Z" fill="{_BLUE}" opacity="0.55"/>'
    + f'<path d="M62 78 C92 78 92 28 110 28 S128 78 150 78Z" fill="{_ORANGE}" opacity="0.55"/>'
    + '<path d="M88 10V78" stroke="currentColor" stroke-dasharray="5 4"/>',
    "openset_detection": f'<rect x="14" y="12" width="60" height="56" stroke="{_BLUE}"/>'
    + f'<rect x="92" y="26" width="50" height="52" stroke="{_ORANGE}" stroke-dasharray="6 4"/>'
    + '<text x="18" y="28" fill="currentColor" stroke="none" font-size="12">cat</text>'
    + '<text x="112" y="60" fill="currentColor" stroke="none" font-size="20">?</text>',
    "anomaly_suite": _HEAT + '<path d="M68 21h36v24h-12v12h-24z" stroke="currentColor"/>',
}


def picture(name: str) -> str:
    """The picture of a metric, as SVG."""
    return _FRAME.format(PICTURES[name])
