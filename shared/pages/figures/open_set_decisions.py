"""Decisions of open-set recognition at thresholds: a sample is rejected as unknown iff its score > threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...ranking.counts import Side
from .decisions import Cuts, above, is_single, promises_of
from .threshold import Sweep

KINDS = ("unknown", "known, right class", "known, wrong class")
TABLE = {kind: {end: f"{kind}, {end}" for end in ("accepted", "rejected")} for kind in KINDS}
_KNOWN = [name for kind in KINDS[1:] for name in TABLE[kind].values()]
_UNKNOWN = [*TABLE["unknown"].values()]
_RIGHT = ["unknown, rejected", "known, right class, accepted"]
RATES: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "unknown rejected": (["unknown, rejected"], _UNKNOWN),
    "unknown accepted": (["unknown, accepted"], _UNKNOWN),
    "known accepted": ([name for name in _KNOWN if name.endswith("accepted")], _KNOWN),
    "right class": (["known, right class, accepted"], _KNOWN),
    "accuracy, K + 1 classes": (_RIGHT, [*_UNKNOWN, *_KNOWN]),
}


def open_set_sweep(sides: Sequence[Side], chosen: Cuts, values: Mapping[str, np.ndarray]) -> Sweep:
    """Count accepted and rejected samples at descending thresholds: unknown, correctly and wrongly classified ones."""
    counts: dict[str, np.ndarray] = {}
    for kind, side in zip(KINDS, sides):
        rejected = above(side, chosen.thresholds)
        counts |= {f"{kind}, accepted": side.total - rejected, f"{kind}, rejected": rejected}
    presets: dict[str, int] = {}
    total = sum(side.total for side in sides[1:])
    accepted = sum(counts[name] for name in RATES["known accepted"][0])
    enough = np.flatnonzero(20 * accepted >= 19 * total)  # descending
    if len(enough):
        presets["95 % of known accepted"] = int(enough[-1])
    promised, promises = promises_of(chosen, "unknown", "known", total)
    return Sweep(
        chosen.thresholds,
        chosen.above,
        counts,
        RATES,
        values,
        TABLE,
        presets | promised,
        "rejected as unknown",
        promises,
        is_single(sides),
        "rejected",
        whole=chosen.whole,
    )
