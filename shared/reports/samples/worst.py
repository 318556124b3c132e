"""The samples of a side that look most like the other side, with images, if any, which need Pillow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...ranking.roc import SAMPLE_OUTCOMES, SIDES
from ..frame import Section, Tile, data_table, picture_html, tiles_html
from ..thumbnails import photograph
from .decisions import Table

_SIDE = 256  # pixels of a picture


def worst_section(table: Table, side: str, images: Sequence[str | Path] | None, count: int) -> Section:
    """The section of known samples with the highest scores, or unknown ones with the lowest."""
    scores = np.asarray(table["score"], np.float64)
    step = _step(scores)
    own = np.flatnonzero(np.asarray(table["reference"]) == side)
    order = own[np.argsort(-scores[own] if side == SIDES[0] else scores[own], kind="stable")].tolist()
    wrong = sum(table["decision"][i] != side for i in order)
    other, end = (SIDES[1], "highest") if side == SIDES[0] else (SIDES[0], "lowest")
    chosen = order[:count]
    these = f"the {len(chosen)} with the {end} scores" if len(chosen) > 1 else f"the one with the {end} score"
    lead = f"{wrong:,} of {len(own):,} are called {other}. Here {'are' if len(chosen) > 1 else 'is'} {these}."
    name, title = f"{side.capitalize()} samples", f"{side.capitalize()} samples that look most {other}"
    if images is not None:
        return Section(name, title, tiles_html([_tile(table, i, images, step) for i in chosen], _FILTERS), lead)
    shown = {"sample": [table["sample"][i] for i in chosen]}
    shown["score"] = [score_text(table["score"][i], step) for i in chosen]
    others = [key for key in table if key not in ("sample", "score", "reference", "decision")]
    rows = {**shown, **{key: [table[key][i] for i in chosen] for key in others}}
    return Section(name, title, data_table(rows, title), lead)


def _tile(table: Table, row: int, images: Sequence[str | Path], step: float) -> Tile:
    """A tile of a sample with its image."""
    sample, outcome = table["sample"][row], table["outcome"][row]
    path = Path(images[sample])
    lines = [outcome, f"score {score_text(table['score'][row], step)}, sample {sample}"]
    if "true_class" in table:
        true, predicted = table["true_class"][row], table["predicted_class"][row]
        lines.append(f"predicted class {predicted}" if true < 0 else f"class {true}, predicted {predicted}")
    source, size = photograph(path, _SIDE)
    return Tile(path.name, lines, picture_html(source, path.name, size), [_kind(outcome)])


def score_text(score: float, step: float) -> str:
    """A score in six digits, or in as many more as come within a step of it.

    >>> score_text(0.123456789, 1e-4), score_text(1000001.1234, 1e-3)
    ('0.123457', '1000001.123')
    """
    texts = (f"{score:.{digits}g}" for digits in range(6, 18))
    return next((text for text in texts if not math.isfinite(score) or abs(float(text) - score) <= step), repr(score))


def _step(scores: np.ndarray) -> float:
    """A hundredth of a percent of the range of the finite scores, below which two may look alike."""
    finite = scores[np.isfinite(scores)]
    return float(finite.max() / 2 - finite.min() / 2) / 5000 if len(finite) else 0.0


def _kind(outcome: str) -> str:
    """An outcome as the key of a filter."""
    return outcome.replace(",", "").replace(" ", "-")


_FILTERS = {_kind(outcome): outcome.capitalize() for outcome in SAMPLE_OUTCOMES}
