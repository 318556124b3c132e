"""Results that a page has computed, small enough to be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..data import Arguments
from ..figures.computed import Computed
from .call import Recipe
from .pairs import Pairs


class Computation(NamedTuple):
    """The results by detector, with their arguments, the recipe of the data, and a note on rows that were left out.

    pairs: the comparison of every two detectors, by their names; empty until they are compared
    """

    arguments: Mapping[str, Arguments]
    detectors: Mapping[str, Computed]
    recipe: Recipe
    left_out: str = ""
    pairs: Pairs = {}
