"""The one palette of pages, reports and plots: each colour has one meaning, and data alone have colours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Color(NamedTuple):
    """A colour on light and on dark ground."""

    light: str
    dark: str


TOKENS: Mapping[str, Color] = {
    "ink": Color("#18181b", "#f4f4f5"),
    "ink2": Color("#52525b", "#b0b0ba"),
    "ground": Color("#ffffff", "#111113"),
    "surface": Color("#ffffff", "#18181b"),
    "soft": Color("#f6f6f7", "#222226"),
    "line": Color("#e4e4e7", "#303036"),
    "edge": Color("#85858f", "#85858f"),
    "known": Color("#0072b2", "#56b4e9"),  # in-distribution, known, normal; right decisions
    "unknown": Color("#d55e00", "#f0883e"),  # OOD, unknown, anomalous; objects called known
    "misplaced": Color("#b98300", "#f5c542"),  # badly placed boxes
    "d1": Color("#7a3e9d", "#b794f4"),  # models, in the order of the file
    "d2": Color("#00866b", "#2dd4a7"),
    "d3": Color("#a87400", "#f5c542"),
    "on-known": Color("#ffffff", "#18181b"),  # text on a fill of `known`, and on one of any other data
    "on-unknown": Color("#131316", "#131316"),
    "mark": Color("#e9e9ec", "#34343b"),  # the ground of the best numbers
    "bad": Color("#b91c1c", "#fca5a5"),
    "link": Color("#1d4ed8", "#93c5fd"),
    "focus": Color("#2563eb", "#60a5fa"),
}
DASHES: Mapping[str, str] = {"d1": "solid", "d2": "dash", "d3": "dot"}
# a role of an answer → its token; a fourth model is ink, all further ones are the edge's grey
ROLES: Mapping[str, str] = {
    "right": "known",
    "missed": "edge",
    "wrong": "ink",  # known objects called another known class, and called unknown
    "rejected": "ink2",
    "nothing": "ink2",
    "duplicate": "ink2",
    "unboxed": "edge",
    "ignored": "edge",
    "both": "misplaced",  # badly placed and misnamed
    "d4": "ink",
}
HATCHED = frozenset({"both"})  # roles that share a colour, in bars


def token(role: str) -> str:
    """The token of a role.

    >>> token("right"), token("d4"), token("d9"), token("unknown")
    ('known', 'ink', 'edge', 'unknown')
    """
    name = ROLES.get(role, role)
    return name if name in TOKENS else "edge"


def light(role: str) -> str:
    """The colour of a role on light ground.

    >>> light("right"), light("d1")
    ('#0072b2', '#7a3e9d')
    """
    return TOKENS[token(role)].light


def on(role: str) -> str:
    """The token of text on a fill of a role's colour.

    >>> on("right"), on("unknown")
    ('on-known', 'on-unknown')
    """
    return "on-known" if token(role) in ("known", "ink", "ink2") else "on-unknown"


def css(*, system: bool = True) -> str:
    """The tokens as CSS variables: light, and dark in `.dark` or, with `system`, where the system is dark."""
    light, dark = (";".join(f"--{name}:{color[i]}" for name, color in TOKENS.items()) for i in (0, 1))
    chosen = f":root{{{light}}}\n.dark{{{dark}}}\n"
    of_system = f"@media screen and (prefers-color-scheme:dark){{:root:not(.light){{{dark}}}}}\n"
    return chosen + of_system if system else chosen
