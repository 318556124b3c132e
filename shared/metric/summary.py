"""Results of states, and what is resampled of them: of all samples, or of each group and their means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..arrays.arrays import State, to_numpy
from .group_results import Results, grouped_results
from .group_units import units_of_groups
from .groups import ALL, check_names
from .joining import joined, num_samples
from .units import Units


def summary(
    states: Mapping[str, Sequence[State]], summarise: Callable[[State], Results], units: Callable[[State], Units] | None
) -> tuple[Results, Units | None]:
    """The results of states by group, and their units where a function of a state gives them.

    The samples of no group have a part in each. Raises what the functions raise, with the name of the group.
    """
    by_group = {group: own for group, own in sorted(states.items()) if group != ALL}
    check_names(by_group)  # each batch's are, but not those of one with those of another
    shared = states.get(ALL, [])
    if not by_group:
        return _summary(joined(shared), summarise, units)
    found = {}
    for group, own in by_group.items():
        try:
            found[group] = _summary(joined([*own, *shared]), summarise, units)
        except ValueError as error:
            raise ValueError(f"group {group!r}: {error}") from error
    results = grouped_results({group: results for group, (results, _) in found.items()})
    every = {group: units for group, (_, units) in found.items() if units is not None}
    if not every:
        return results, None
    counts = {group: _counts(joined(own)) for group, own in by_group.items()}
    return results, units_of_groups(every, counts, _counts(joined(shared)))


def _summary(
    state: State, summarise: Callable[[State], Results], units: Callable[[State], Units] | None
) -> tuple[Results, Units | None]:
    found = None if units is None else units(state)  # first: resampling may be refused
    return summarise(state), found


def _counts(state: State) -> np.ndarray:
    """How many samples each entry of a state stands for."""
    if "counts" in state:
        return to_numpy(state["counts"])
    return np.ones(num_samples(state), np.int64)
