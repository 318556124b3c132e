"""Components of the maps of a state, found at a threshold while maps are reduced, so that a state only holds counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ..arrays.arrays import MAX_EXACT, Array, to_numpy
from ..arrays.options import as_bool, as_int
from ..arrays.states import integer_column
from ..metric.results import Rate, Results
from .components import Components, component_rates, components_of
from .decisions import as_threshold
from .judging import Judge
from .regions import check_sum, connected_components

if TYPE_CHECKING:
    from typing_extensions import NotRequired

_FOUND_BY = ("component_threshold", "min_predicted", "min_object")
COMPONENT_TABLES = {  # a part and the whole of each entry, by the column that holds how many entries an image has
    "num_objects": ("object_found", "object_expected"),
    "num_components": ("component_inside", "component_sizes"),
}
_OF_COMPONENTS = [name for columns in COMPONENT_TABLES.values() for name in columns]  # in the order of `Components`
COMPONENT_ARRAYS = (*COMPONENT_TABLES, *_OF_COMPONENTS, *_FOUND_BY)


class ComponentColumns(TypedDict):
    """Objects and predicted components of maps, see `Components`; absent without the option `components`.

    object_found, object_expected: (K,) image by image
    component_inside, component_sizes: (M,) image by image
    num_objects, num_components: (N,) the numbers of objects and components of each image
    component_threshold, min_predicted, min_object: the rule that they were found by
    """

    object_found: NotRequired[np.ndarray]
    object_expected: NotRequired[np.ndarray]
    num_objects: NotRequired[np.ndarray]
    component_inside: NotRequired[np.ndarray]
    component_sizes: NotRequired[np.ndarray]
    num_components: NotRequired[np.ndarray]
    component_threshold: NotRequired[np.ndarray]
    min_predicted: NotRequired[np.ndarray]
    min_object: NotRequired[np.ndarray]


class ComponentRule(NamedTuple):
    """The rule for components: pixels with score > threshold, and the sizes below which they do not count."""

    threshold: float
    min_predicted: int
    min_object: int


def check_rule(components: Any, pixel_threshold: Any, min_predicted: Any, min_object: Any) -> ComponentRule | None:
    """Check the options of components; None without components."""
    sizes = as_int(min_predicted, "min_predicted", 0), as_int(min_object, "min_object", 0)
    if not as_bool(components, "components"):
        return None
    if pixel_threshold is None:
        raise ValueError(
            "pixel_threshold: expected a number with components=True, since components are found as maps come; fit it "
            "on validation data (pixel_f1_max_threshold of the same data is optimistic)"
        )
    return ComponentRule(as_threshold(pixel_threshold, "pixel_threshold"), *sizes)


def component_columns(
    maps: Iterable[Array], masks: Iterable[Array], voids: Sequence[Array] | None, rule: ComponentRule
) -> ComponentColumns:
    """The components of maps.

    Parameters: maps; masks, of region numbers, or of booleans with connected regions as objects; voids, where pixels
    are void, None for nowhere; rule. Raises ValueError for a map of one row, which has no neighbours to grow from.
    """
    by_map: list[Components] = []
    for i, (score_map, mask) in enumerate(zip(maps, masks)):
        scores, objects = to_numpy(score_map), to_numpy(mask)
        if min(scores.shape) == 1 < math.prod(scores.shape):
            raise ValueError(
                f"predictions[{i}]: expected a map with rows and columns, since components are grown from neighbouring "
                f"pixels, got shape {scores.shape}; leave components out to go without"
            )
        numbers = connected_components(objects) if objects.dtype == bool else objects
        void = None if voids is None else to_numpy(voids[i])
        # as an array of float64, the threshold is not rounded to the scores' type
        predicted = scores > np.float64(rule.threshold)
        by_map.append(components_of(predicted, numbers, void, **dict(zip(_FOUND_BY[1:], rule[1:]))))
    columns: Any = {}
    for place, name in enumerate(_OF_COMPONENTS):
        columns[name] = np.concatenate([np.zeros(0, np.int64), *(each[place] for each in by_map)])
    for number, (part, _) in COMPONENT_TABLES.items():
        columns[number] = np.asarray([len(each[_OF_COMPONENTS.index(part)]) for each in by_map], np.int64)
    return columns | {name: np.asarray(value) for name, value in zip(_FOUND_BY, rule)}


def checked_components(state: Mapping[str, Any], rule: ComponentRule | None) -> dict[str, np.ndarray]:
    """The columns of a state from elsewhere. Raises ValueError unless they fit together and to the rule."""
    if rule is None:
        return {}
    columns = {}
    for number, (part, whole) in COMPONENT_TABLES.items():
        for name, low in ((number, 0), (part, 0), (whole, 1)):
            columns[name] = integer_column(state, name, low, MAX_EXACT)
        check_sum(columns[number], number, len(columns[whole]), whole)
        if len(columns[part]) != len(columns[whole]) or (columns[part] > columns[whole]).any():
            raise ValueError(f"state: expected {part} of at most {whole} each")
    for name, value in zip(_FOUND_BY, rule):
        stored = np.asarray(state[name])
        if stored.ndim or stored.dtype.kind not in "iuf" or float(stored) != value:
            raise ValueError(f"state: expected {name}={value}, as here, got {str(state[name])[:80]}")
        columns[name] = np.asarray(value)
    return columns


class ComponentJudge(Judge):
    """Mean sIoU, PPV and F1 of the components of a state; None if there is nothing to average."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.components = Components(*(to_numpy(state[name]) for name in _OF_COMPONENTS))
        self.numbers = [to_numpy(state[name]) for name in COMPONENT_TABLES]

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times; NaN instead of None."""
        counts = [None if images is None else np.repeat(images, numbers) for numbers in self.numbers]
        rates = component_rates(self.components, *counts)._asdict()
        none = None if images is None else Rate(math.nan, higher=True)
        return {name: none if value is None else Rate(value, higher=True) for name, value in rates.items()}
