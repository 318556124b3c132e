"""Components: how well the objects of a thresholded map match the objects of its mask (SegmentMeIfYouCan).

Objects and predicted components are compared by counts of pixels. So an image is reduced to four columns of integers,
however large its map is, and all decisions are comparisons of integers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ..arrays.arrays import MAX_EXACT, exceeds, to_numpy
from ..arrays.checks import integer_column
from ..arrays.exact import RATIO_UNIT, sum_of_ratios
from .masks import CheckedImages
from .regions import check_sum, connected_components

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class ComponentRule(NamedTuple):
    """The rule for components: pixels with score > threshold, and the sizes below which they do not count."""

    component_threshold: float
    min_predicted: int
    min_object: int


_TWENTIETHS = range(5, 16)  # τ: 1/4, 3/10 … 3/4
COMPONENT_TABLES = {  # a part and the whole of each entry, by the column that holds how many entries an image has
    "num_objects": ("object_found", "object_expected"),
    "num_components": ("component_inside", "component_sizes"),
}
OF_COMPONENTS = [name for columns in COMPONENT_TABLES.values() for name in columns]  # in the order of `Components`
COMPONENT_ARRAYS = (*COMPONENT_TABLES, *OF_COMPONENTS, *ComponentRule._fields)


class Components(NamedTuple):
    """Objects and predicted components, of one image or of several.

    matched, expected: (K,) of each object, the pixels of the numerator and of the denominator of its sIoU
    """

    matched: np.ndarray
    expected: np.ndarray
    inside: np.ndarray  # with sizes: (M,) of each predicted component, its pixels inside objects, and all its pixels
    sizes: np.ndarray


def components_of(
    predicted: np.ndarray,
    objects: np.ndarray,
    void: np.ndarray | None = None,
    *,
    min_predicted: int,
    min_object: int,
) -> Components:
    """Match the predicted components of an image with its objects.

    sIoU(K) = |K ∩ P| / |(K ∪ P) ∖ A|,  PPV(C) = |C ∩ objects| / |C|

    P holds the pixels of all predicted components C that touch the object K, and A those of P inside other objects.

    Parameters: predicted (H, W), booleans, with 8-connected components; objects (H, W), 0 outside and k > 0 in object
    k; void (H, W), booleans, pixels that belong to nothing; min_predicted, the number of pixels below which a predicted
    component is erased; min_object, the number below which an object becomes void; a component that it cuts stays one
    component.
    Returns `Components`, objects and components in ascending order of their numbers.
    Source: Chan et al., SegmentMeIfYouCan, NeurIPS Datasets and Benchmarks 2021.

    >>> predicted = np.asarray([[0, 1, 1, 1, 1, 0, 0, 0], [0] * 8, [0, 0, 0, 0, 0, 0, 1, 1]]) == 1
    >>> objects = np.asarray([[1, 1, 1, 1, 0, 0, 0, 0], [0] * 8, [0] * 8])
    >>> [column.tolist() for column in components_of(predicted, objects, min_predicted=0, min_object=0)]
    [[3], [5], [3, 0], [4, 2]]
    """
    if void is not None:
        predicted, objects = predicted & ~void, np.where(void, 0, objects)
    component, object_ = (x.ravel() for x in (connected_components(predicted), objects))
    at = np.flatnonzero(component | object_)
    component, object_ = component[at], np.unique(np.append(object_[at], 0), return_inverse=True)[1][:-1]  # 0 … K
    component[_smaller(component, min_predicted)] = 0
    is_large = ~_smaller(object_, min_object)
    component, object_ = component[is_large], object_[is_large]

    inside, sizes = _pixels_of(component, object_ > 0)
    matched, areas = _pixels_of(object_, component > 0)
    both = (component > 0) & (object_ > 0)
    touching, touched = np.divmod(np.unique(component[both].astype(np.int64) * len(areas) + object_[both]), len(areas))
    # |(K ∪ P) ∖ A| = |K| + Σ |C| − |C ∩ objects| over the components C that touch K; float64 holds it
    around = np.bincount(touched, (sizes - inside)[touching], len(areas)).astype(np.int64)
    is_object, counted = areas > 0, sizes > 0
    return Components(matched[is_object], (areas + around)[is_object], inside[counted], sizes[counted])


def _smaller(number: np.ndarray, least: int) -> np.ndarray:
    """Which pixels belong to a component, 1 or more, of fewer than `least` pixels."""
    small = np.bincount(number, minlength=1) < least
    small[0] = False
    return small[number]


def _pixels_of(number: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of chosen pixels, and of all pixels, of each component; pixels outside (0) are not counted."""
    pixels = np.bincount(number, minlength=1)
    counts = np.bincount(number[chosen], minlength=len(pixels))
    pixels[0] = counts[0] = 0
    return counts, pixels


class ComponentMeans(NamedTuple):
    """Means over components."""

    siou: float | None  # with ppv: the means over all objects and over all predicted components; None without any
    ppv: float | None
    segment_f1: float  # the mean F1 over τ = 1/4, 3/10 … 3/4


def component_rates(
    components: Components, object_counts: np.ndarray | None = None, predicted_counts: np.ndarray | None = None
) -> ComponentMeans:
    """Mean sIoU, mean PPV and mean F1 of components.

    F1(τ) = 2·TP / (2·TP + FN + FP), 0/0 is 0; TP and FN are objects of sIoU ≥ τ and < τ, FP are components of PPV < τ

    Parameters: components, of all images; object_counts (K,) and predicted_counts (M,), how often each of them occurs,
    by default once. Returns floats in [0, 1], higher is better. Source: as of `components_of`.

    >>> component_rates(Components(*map(np.asarray, ([3], [5], [3, 0], [4, 2]))))
    ComponentMeans(siou=0.6, ppv=0.375, segment_f1=0.48484848484848486)
    """
    matched, expected, inside, sizes = components
    of_objects = np.ones(len(matched), np.int64) if object_counts is None else object_counts
    of_predicted = np.ones(len(sizes), np.int64) if predicted_counts is None else predicted_counts
    total = int(of_objects.sum())
    f1 = Fraction()
    for twentieths in _TWENTIETHS:
        tp = int(of_objects[20 * matched >= twentieths * expected].sum())
        fp = int(of_predicted[20 * inside < twentieths * sizes].sum())
        f1 += Fraction(2 * tp, max(1, tp + total + fp))
    return ComponentMeans(
        _mean(matched, expected, of_objects), _mean(inside, sizes, of_predicted), float(f1 / len(_TWENTIETHS))
    )


def _mean(numerators: np.ndarray, denominators: np.ndarray, counts: np.ndarray) -> float | None:
    """The mean of ratios, each rounded once; None of nothing."""
    total = int(counts.sum())
    return sum_of_ratios(counts, numerators, denominators, total) / (total << RATIO_UNIT) if total else None


class ComponentColumns(TypedDict):
    """Objects and predicted components of maps, see `Components`; absent without the option `components`.

    num_objects, num_components: (N,) the numbers of objects and components of each image
    component_threshold, min_predicted, min_object: the rule that they were found by
    """

    object_found: NotRequired[np.ndarray]  # with object_expected: (K,) image by image
    object_expected: NotRequired[np.ndarray]
    num_objects: NotRequired[np.ndarray]
    component_inside: NotRequired[np.ndarray]  # with component_sizes: (M,) image by image
    component_sizes: NotRequired[np.ndarray]
    num_components: NotRequired[np.ndarray]
    component_threshold: NotRequired[np.ndarray]
    min_predicted: NotRequired[np.ndarray]
    min_object: NotRequired[np.ndarray]


def component_columns(images: CheckedImages, rule: ComponentRule) -> ComponentColumns:
    """The components of maps; objects are the numbered regions of masks, or their connected ones.

    Raises ValueError for a map of one row, which has no neighbours to grow from.
    """
    by_map: list[Components] = []
    for i, (score_map, mask) in enumerate(zip(images.maps, images.masks)):
        scores, objects = to_numpy(score_map), to_numpy(mask)
        if min(scores.shape) == 1 < math.prod(scores.shape):
            raise ValueError(
                f"predictions[{i}]: expected a map with rows and columns, since components are grown from neighbouring "
                f"pixels, got shape {scores.shape}; leave components out to go without"
            )
        numbers = connected_components(objects) if objects.dtype == bool else objects
        void = None if images.voids is None else to_numpy(images.voids[i])
        predicted = exceeds(scores, rule.component_threshold)
        least = {"min_predicted": rule.min_predicted, "min_object": rule.min_object}
        by_map.append(components_of(predicted, numbers, void, **least))
    columns: Any = {}
    for place, name in enumerate(OF_COMPONENTS):
        columns[name] = np.concatenate([np.zeros(0, np.int64), *(each[place] for each in by_map)])
    for number, (part, _) in COMPONENT_TABLES.items():
        columns[number] = np.asarray([len(each[OF_COMPONENTS.index(part)]) for each in by_map], np.int64)
    return columns | {name: np.asarray(value) for name, value in rule._asdict().items()}


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
    for name, value in rule._asdict().items():
        stored = np.asarray(state[name])
        if stored.ndim or stored.dtype.kind not in "iuf" or float(stored) != value:
            raise ValueError(f"state: expected {name}={value}, as here, got {str(state[name])[:80]}")
        columns[name] = np.asarray(value)
    return columns
