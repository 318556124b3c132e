"""What a page has computed, small enough to be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..assembly.gather import Arguments
from ..figures.computed import Computed
from .call import Recipe
from .pairs import Pairs


class Computation(NamedTuple):
    """Results by detector, the arguments and the recipe of their data, and a note on rows that were left out.

    pairs: of every two detectors by their names, the rows of the comparison; none until they are compared
    """

    arguments: Mapping[str, Arguments]
    detectors: Mapping[str, Computed]
    recipe: Recipe
    left_out: str = ""
    pairs: Pairs = {}
