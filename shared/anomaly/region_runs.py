"""A compiled split of a map's pixels into normal ones and those of regions, run by run.

A run is a longest sequence of neighbouring pixels of a row inside the mask. Runs of two successive rows that touch, by
an edge or by a corner, belong to one region: they are united in a forest whose roots are the first runs of the regions.
Then whole runs are copied, instead of pixel by pixel. Source: He et al., A run-based two-scan labeling algorithm, 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def split_runs(pixels: Any, inside: Any, columns: int, void: Any, normal: Any, of_regions: Any) -> Any:
    """Copy the pixels of a map to the normal ones and, region by region, to those of its 8-connected regions.

    Parameters: pixels (P,), row by row; inside (A,), the places of those in the mask, ascending; columns, the length of
    a row; void (P,) booleans, pixels to leave out, none of them inside, or (0,) for none; normal and of_regions (A,),
    which are written, in the order of the pixels.
    Returns the regions' sizes, in the order of their first pixels.
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
