"""The pixels of maps: normal ones, and anomalous ones region by region; and the highest of each defect.

Saturated per-region overlap (sPRO): a defect counts fully once enough of its pixels are called anomalous.

With saturation area s, a defect with o pixels above the threshold counts min(o, s)/s. So each of its s highest pixels
adds 1/s, and the others nothing: sPRO is the PRO of regions that hold the s highest pixels of each defect, and only
these are kept. PRO is the case s = area.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ..arrays.arrays import MAX_EXACT, Array, array_namespace, concatenate, device_of, on_device, to_numpy, widen
from ..arrays.checks import integer_column, score_column
from ..arrays.sorting import split
from ..arrays.threads import in_threads, parts_of, threads_for, worth_compiling
from ..extras import extra
from ..ranking.counts import ascending
from .masks import CheckedImages, Defects

if TYPE_CHECKING:
    from typing_extensions import NotRequired


_PIXELS_AT_ONCE = 1 << 27  # of a stack on a device, where the places of most of them take 8 bytes each
DEFECT_ARRAYS = ("defect_pixels", "saturation_areas", "num_defects")
_NO_VOID, _NO_SIZES = np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64)


class RegionPixels(TypedDict):
    """Scores of the pixels of maps.

    num_normal, num_regions: (N,) of each map, how many of the entries of `normal` and `region_sizes` are its own
    """

    normal: Array  # (P,) those of the normal pixels
    anomalous: Array  # (A,) those of the anomalous pixels, region by region
    region_sizes: np.ndarray  # (K,) pixels of each region, Σ = A
    num_normal: np.ndarray
    num_regions: np.ndarray
    normal_counts: NotRequired[Array]  # (P,) the number of normal pixels that each score stands for; absent, one each


class Regions(NamedTuple):
    """Scores of pixels region by region, the regions' sizes, and the number of regions of each map."""

    scores: Array
    sizes: np.ndarray
    numbers: np.ndarray

    @property
    def num_pixels(self) -> np.ndarray:
        """The number of each map's pixels in regions, (N,).

        >>> Regions(np.zeros(9), np.asarray([4, 2, 3]), np.asarray([1, 0, 2])).num_pixels.tolist()
        [4, 0, 5]
        """
        map_of_region = np.repeat(np.arange(len(self.numbers)), self.numbers)
        return np.bincount(map_of_region, self.sizes, len(self.numbers)).astype(np.int64)  # float64 holds them


def pixels_by_region(images: CheckedImages, regions: str) -> RegionPixels:
    """Scores of all maps' pixels: the normal ones, the anomalous ones region by region, and the regions' sizes.

    Parameters: images; regions, "components" for 8-connected regions, which void pixels do not connect, or "labels" for
    the pixels of each number in the masks, which are lists.
    """
    maps, masks, voids = images.maps, images.masks, images.voids
    if not len(maps):
        empty, none = np.zeros(0, dtype=np.float32), _NO_SIZES
        return {"normal": empty, "anomalous": empty, "region_sizes": none, "num_normal": none, "num_regions": none}
    is_stack = not isinstance(maps, list)
    total = math.prod(maps.shape) if is_stack else sum(math.prod(each.shape) for each in maps)
    of_one_type = is_stack or (regions == "components" and len({each.dtype for each in maps}) == 1)
    loop = worth_compiling(split_runs, total, maps[0]) if of_one_type else None
    if is_stack and loop is None:
        return _of_stack(maps, masks, voids)
    xp = array_namespace(maps[0])
    num_others = [int(xp.count_nonzero(mask)) for mask in masks]
    if voids is not None:
        num_others = [number + int(xp.count_nonzero(void)) for number, void in zip(num_others, voids)]
    num_normal = np.asarray([math.prod(mask.shape) - other for other, mask in zip(num_others, masks)], np.int64)
    # filled map by map: joining the parts in the end would hold all pixels twice. No two threads write one place, since
    # each fills the places of maps of its own
    dtype = xp.result_type(*{each.dtype for each in maps})
    normal = xp.empty((int(num_normal.sum()),), dtype=dtype, device=device_of(maps[0]))
    ends, bits = [0, *np.cumsum(num_normal).tolist()], f"uint{8 * normal.itemsize}"  # numba takes no float16

    def fill(part: slice) -> list[tuple[Array, np.ndarray]]:
        splits = []
        for i in range(len(maps))[part]:
            normal_pixels, void = normal[ends[i] : ends[i + 1]], None if voids is None else voids[i]
            if not num_others[i]:
                normal_pixels[...], anomalous, sizes = xp.reshape(maps[i], (-1,)), normal_pixels[:0], _NO_SIZES
            elif loop is not None:
                inside, left_out = np.flatnonzero(masks[i]), _NO_VOID if void is None else void.reshape(-1)
                anomalous, pixels = np.empty(len(inside), dtype), np.ascontiguousarray(maps[i]).reshape(-1)
                parts = (normal_pixels.view(bits), anomalous.view(bits))
                sizes = loop(pixels.view(bits), inside, masks[i].shape[1], left_out, *parts)
            else:
                normal_pixels[...], anomalous, sizes = split_map(maps[i], masks[i], void, regions)
            splits.append((anomalous, sizes))
        return splits

    threads = threads_for(total) if isinstance(normal, np.ndarray) else 1
    parts = parts_of(len(maps), 1 if threads == 1 else 4 * threads)
    anomalous, sizes = zip(*chain(*in_threads([partial(fill, part) for part in parts], threads)))
    return {
        "normal": normal,
        "anomalous": concatenate(anomalous),
        "region_sizes": np.concatenate(sizes).astype(np.int64),
        "num_normal": num_normal,
        "num_regions": np.asarray([len(each) for each in sizes], dtype=np.int64),
    }


def _of_stack(maps: Array, masks: Array, voids: Any) -> RegionPixels:
    """As `pixels_by_region`, of a stack at once."""
    step = max(1, _PIXELS_AT_ONCE // max(1, math.prod(maps.shape[1:])))
    if len(maps) > step:
        cuts = [slice(start, start + step) for start in range(0, len(maps), step)]
        parts: list[Any] = [_of_stack(maps[cut], masks[cut], None if voids is None else voids[cut]) for cut in cuts]
        joined: Any = {name: concatenate([part[name] for part in parts]) for name in parts[0]}
        return joined
    xp = array_namespace(maps)
    normal, num_others = ~masks, np.zeros(len(maps), np.int64)
    if voids is not None:
        normal &= ~voids
        num_others += to_numpy(xp.count_nonzero(voids, axis=(1, 2)))
    pixels, places = xp.reshape(maps, (-1,)), xp.nonzero(xp.reshape(masks, (-1,)))[0]
    order, sizes, map_of_region = by_components(places, tuple(masks.shape[1:]))
    num_others += np.bincount(map_of_region, sizes, len(maps)).astype(np.int64)  # float64 holds them
    return {
        "normal": pixels[xp.reshape(normal, (-1,))],
        "anomalous": pixels[places[order]],
        "region_sizes": sizes,
        "num_normal": math.prod(masks.shape[1:]) - num_others,
        "num_regions": np.bincount(map_of_region, minlength=len(maps)),
    }


def split_map(score_map: Array, mask: Array, void: Array | None, regions: str) -> tuple[Array, Array, np.ndarray]:
    """Split one map's pixels into normal ones, and anomalous ones region by region with the regions' sizes.

    >>> scores, mask = np.asarray([[1, 2, 3], [4, 5, 6]]), np.asarray([[1, 0, 2], [0, 0, 1]])
    >>> [part.tolist() for part in split_map(scores, mask > 0, None, "components")]
    [[2, 4, 5], [1, 3, 6], [1, 2]]
    >>> [part.tolist() for part in split_map(scores, mask, None, "labels")]
    [[2, 4, 5], [1, 6, 3], [2, 1]]
    """
    xp = array_namespace(score_map)
    inside = mask != 0 if void is None else (mask != 0) & ~void
    pixels, flat = xp.reshape(score_map, (-1,)), xp.reshape(inside, (-1,))
    anomalous = to_numpy(xp.nonzero(flat)[0])
    if void is not None:
        counted = ~xp.reshape(void, (-1,))
        pixels, flat = pixels[counted], flat[counted]
    if not len(anomalous):
        return pixels, pixels[:0], _NO_SIZES
    numbers = to_numpy(mask) if regions == "labels" else connected_components(to_numpy(inside))
    region = numbers.ravel()[anomalous]
    if regions == "labels":
        region = np.unique(region, return_inverse=True)[1] + 1
    order = np.argsort(region, kind="stable")
    of_regions, normal = split(pixels, flat)
    return normal, of_regions[on_device(order, of_regions)], np.bincount(region)[1:]


def by_components(places: Array, shape: tuple[int, int]) -> tuple[Array, np.ndarray, np.ndarray]:
    """Sort the pixels inside masks by their 8-connected components, found by their runs (see `split_runs`).

    Of pixels on a device, only where their runs begin comes to the CPU.

    Parameters: places (A,), of pixels of a stack (N, H, W), row by row, ascending; shape (H, W).
    Returns the order of the pixels, (A,), in which components and the pixels of each ascend; the components' sizes,
    (K,); and the map of each, (K,).

    >>> order, sizes, maps = by_components(np.asarray([0, 2, 4, 6]), (2, 3))  # 1 0 1, 0 1 0; then 1 0 0, 0 0 0
    >>> order.tolist(), sizes.tolist(), maps.tolist()
    ([0, 1, 2, 3], [3, 1], [0, 1])
    """
    with extra():
        from scipy.sparse import coo_array, csgraph

    (height, width), total, xp = shape, places.shape[0], array_namespace(places)
    if not total:
        return places, _NO_SIZES, _NO_SIZES
    begins = xp.ones_like(places, dtype=xp.bool)
    begins[1:] = (places[1:] != places[:-1] + 1) | (places[1:] % width == 0)
    first = xp.nonzero(begins)[0]
    first, starts = to_numpy(first), to_numpy(places[first])
    rows = starts // width
    maps = rows // height
    # an empty column beside each map and an empty row below it: runs end there, and none touches one beyond them
    below = width + 1
    starts = starts + rows + maps * below
    lengths = np.diff(first, append=total)
    stops = starts + lengths
    # the runs above that end before one begins, and those that begin before it ends, a pixel farther on either side
    left, right = np.searchsorted(stops + below, starts), np.searchsorted(starts + below, stops, side="right")
    touching, runs = right - left, np.arange(len(first))
    above = np.arange(touching.sum()) + np.repeat(left - np.cumsum(touching) + touching, touching)
    graph = coo_array((np.ones(len(above), np.int8), (np.repeat(runs, touching), above)), (len(runs), len(runs)))
    numbers = csgraph.connected_components(graph, directed=False)[1]
    roots = np.unique(numbers, return_index=True)[1][numbers]  # the first run of each run's component
    order = np.argsort(roots, kind="stable")
    new = np.flatnonzero(np.diff(roots[order], prepend=-1))
    lengths = lengths[order]
    shifts = first[order] - np.cumsum(lengths) + lengths
    pixels = xp.arange(total, device=device_of(places)) + xp.repeat(*(on_device(x, places) for x in (shifts, lengths)))
    return pixels, np.add.reduceat(lengths, new), maps[order[new]]


def connected_components(mask: np.ndarray) -> np.ndarray:
    """The number of each pixel's 8-connected component, from 1, (H, W) int32; 0 outside the mask."""
    with extra():
        from scipy import ndimage  # its import takes longer than most metrics

    numbers = np.zeros(mask.shape, dtype=np.int32)
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    if len(rows):
        part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))  # regions are small in most masks
        ndimage.label(mask[part], structure=np.ones((3, 3), dtype=bool), output=numbers[part])
    return numbers


def split_runs(pixels: Any, inside: Any, columns: int, void: Any, normal: Any, of_regions: Any) -> Any:
    """Copy the normal pixels of a map, and the pixels of its 8-connected regions, region by region.

    A run is a longest sequence of neighbouring pixels of a row inside the mask. Runs of two successive rows that touch,
    by an edge or by a corner, belong to one region: they are united in a forest whose roots are the first runs of the
    regions. Then whole runs are copied, instead of pixel by pixel.

    Parameters: pixels (P,), row by row; inside (A,), the places of those in the mask, ascending; columns, the length of
    a row; void (P,) booleans, pixels to leave out, none of them inside, or (0,) for none; normal and of_regions (A,),
    which are written, in the order of the pixels.
    Returns the regions' sizes, in the order of their first pixels.
    Source: He et al., A run-based two-scan labeling algorithm, 2008.
    """
    number = end_of_row = 0
    for i in range(inside.size):
        if i == 0 or inside[i] > inside[i - 1] + 1 or inside[i] == end_of_row:
            number += 1
            end_of_row = (inside[i] // columns + 1) * columns
    rows, starts, stops, parents = np.empty((4, number), np.int64)
    run = -1
    for i in range(inside.size):
        if i == 0 or inside[i] > inside[i - 1] + 1 or inside[i] == end_of_row:
            run += 1
            rows[run], starts[run], parents[run] = inside[i] // columns, inside[i], run
            end_of_row = (rows[run] + 1) * columns
        stops[run] = inside[i] + 1

    above = 0
    for run in range(number):
        while rows[above] < rows[run] - 1 or (
            rows[above] == rows[run] - 1 and stops[above] + columns < starts[run]
        ):  # the run itself is never skipped
            above += 1
        other = above
        while rows[other] == rows[run] - 1 and starts[other] + columns <= stops[run]:
            first, second = other, run
            while parents[first] != first:
                parents[first] = parents[parents[first]]
                first = parents[first]
            while parents[second] != second:
                parents[second] = parents[parents[second]]
                second = parents[second]
            parents[max(first, second)] = min(first, second)
            other += 1

    regions = 0
    for run in range(number):  # a run has a parent before it, which has the number of its region already
        if parents[run] == run:
            parents[run] = regions
            regions += 1
        else:
            parents[run] = parents[parents[run]]
    sizes, places, place = np.zeros(regions, np.int64), np.empty(regions, np.int64), 0
    for run in range(number):
        sizes[parents[run]] += stops[run] - starts[run]
    for region in range(regions):
        places[region] = place
        place += sizes[region]

    place = begin = 0
    for run in range(number + 1):
        start = starts[run] if run < number else pixels.size
        if void.size:
            for i in range(begin, start):
                if not void[i]:
                    normal[place] = pixels[i]
                    place += 1
        else:
            normal[place : place + start - begin] = pixels[begin:start]
            place += start - begin
        if run < number:
            begin, region = stops[run], parents[run]
            of_regions[places[region] : places[region] + begin - start] = pixels[start:begin]
            places[region] += begin - start
    return sizes


class DefectPixels(TypedDict):
    """Scores of the pixels that decide whether defects are found; absent if references were plain masks.

    defect_pixels: (B,) the highest of each defect, as many as its saturation area, defect by defect
    """

    defect_pixels: NotRequired[Array]
    saturation_areas: NotRequired[np.ndarray]  # (D,) their numbers, Σ = B
    num_defects: NotRequired[np.ndarray]  # (N,) the number of each map's entries in `saturation_areas`


def saturated_pixels(maps: Iterable[Array], defects: Iterable[Defects]) -> DefectPixels:
    """The highest pixels of each defect, up to its saturation area; defects without pixels are dropped.

    >>> scores, masks = np.asarray([[0.9, 0.3, 0.5]]), np.asarray([[[1, 1, 1]], [[0, 1, 0]], [[0, 0, 0]]]) == 1
    >>> columns = saturated_pixels([scores], [Defects(masks, np.asarray([2, 7, 1]))])
    >>> {name: column.tolist() for name, column in columns.items()}
    {'defect_pixels': [0.5, 0.9, 0.3], 'saturation_areas': [2, 1], 'num_defects': [2]}
    """
    parts, sizes, numbers = [], [], []
    for score_map, defects_of_map in zip(maps, defects):
        highest = [
            ascending(score_map[on_device(mask, score_map)])[-area:]
            for mask, area in zip(defects_of_map.masks, defects_of_map.areas.tolist())
        ]
        counts = [len(pixels) for pixels in highest if len(pixels)]
        sizes += counts
        numbers.append(len(counts))
        parts.append(concatenate([widen(score_map[:0, 0]), *highest]))
    return {
        "defect_pixels": concatenate(parts or [np.zeros(0, np.float32)]),
        "saturation_areas": np.asarray(sizes, np.int64),
        "num_defects": np.asarray(numbers, np.int64),
    }


def regions_of(state: Mapping[str, Any]) -> Regions:
    """The regions of the masks of a state."""
    return Regions(state["anomalous"], state["region_sizes"], state["num_regions"])


def defects_of(state: Mapping[str, Any]) -> Regions | None:
    """The pixels that decide whether defects are found, as regions; None if references are plain masks."""
    if "defect_pixels" not in state:
        return None
    return Regions(state["defect_pixels"], state["saturation_areas"], state["num_defects"])


def overlaps_of(state: Mapping[str, Any]) -> dict[str, Regions]:
    """The regions of masks and of defects, by the name of the area under their mean overlap."""
    regions, defects = regions_of(state), defects_of(state)
    return {"aupro": regions} if defects is None else {"aupro": regions, "auspro": defects}


def checked_defects(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The columns of `DefectPixels` of a state from elsewhere, if it has them, each by itself."""
    if "defect_pixels" not in state:
        return {}
    return {
        "defect_pixels": score_column(state, "defect_pixels"),
        "saturation_areas": integer_column(state, "saturation_areas", 1, MAX_EXACT),
        "num_defects": integer_column(state, "num_defects", 0, MAX_EXACT),
    }


def check_defects(state: Mapping[str, Any]) -> None:
    """Raise ValueError unless these columns fit together, and to the regions of the same pixels."""
    if "defect_pixels" not in state:
        return
    check_sum(state["saturation_areas"], "saturation_areas", len(state["defect_pixels"]), "pixels of defects")
    check_sum(state["num_defects"], "num_defects", len(state["saturation_areas"]), "defects")
    differing = (state["num_defects"] > 0) != (state["num_regions"] > 0)
    if differing.any():
        i = int(differing.argmax())
        regions, defects = int(state["num_regions"][i]), int(state["num_defects"][i])
        raise ValueError(f"state: expected defects where there are regions, got {defects} and {regions} of image {i}")


def check_sum(sizes: np.ndarray, name: str, total: int, what: str) -> None:
    """Raise ValueError unless the sizes of a state add up to a total; `name` and `what` are for the message."""
    if sum(sizes.tolist()) != total:
        raise ValueError(f"state: expected {name} of {total} {what} together, got {sum(sizes.tolist())}")
