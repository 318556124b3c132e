"""Images as the rows that resamples are drawn from, in an order independent of the order in which they were added."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import to_numpy
from .component_state import COMPONENT_TABLES
from .maps import AnomalyState
from .spro import overlaps_of


class ImageRows(NamedTuple):
    """Rows of equal images, or of equal samples of several images.

    strata: (R,) ascending, the kind of each row; a resample has as many of each kind
    counts: (R,) how many images, or samples, each row stands for
    of_images: (N,) the row of each image
    first: (N,) booleans, whether an image is the first of its sample
    standing: (N,) booleans, whether an image is of the sample that stands for its row in a resample
    """

    strata: np.ndarray
    counts: np.ndarray
    of_images: np.ndarray
    first: np.ndarray
    standing: np.ndarray


def image_rows(state: AnomalyState) -> ImageRows:
    """A row for each image, or for each sample, ordered by kind, then by the highest score, then by content.

    Kinds are told apart by whether a row has anomalous images, normal and anomalous pixels, and normal images, so that
    no resample lacks any of these. Equal ones are one row, since their order would be the caller's.
    """
    labels = to_numpy(state["image_labels"])
    names = np.arange(len(labels)) if "samples" not in state else state["samples"]
    _, first, sample = np.unique(names, return_index=True, return_inverse=True)
    kinds = np.zeros(len(first), np.int64)
    for flags in (labels, state["num_normal"], state["num_regions"], ~labels):
        kinds = 2 * kinds + (np.bincount(sample, to_numpy(flags) > 0, len(first)) > 0)
    images: list[list[tuple[float, bytes]]] = [[] for _ in first]
    for each, score, content in zip(sample.tolist(), to_numpy(state["image_scores"]).tolist(), _contents(state)):
        images[each].append((score, content))
    keys = [(kind, tuple(sorted(each, reverse=True))) for kind, each in zip(kinds.tolist(), images)]
    place = {key: row for row, key in enumerate(sorted(set(keys)))}
    rows = np.asarray([place[key] for key in keys], dtype=np.int64)
    _, standing, counts = np.unique(rows, return_index=True, return_counts=True)
    return ImageRows(
        kinds[standing],
        counts,
        rows[sample],
        np.isin(np.arange(len(labels)), first),
        np.isin(sample, standing),
    )


_NUMBERS = ("image_labels", "num_normal", "num_regions", "num_defects", *COMPONENT_TABLES)


def _contents(state: AnomalyState) -> Iterator[bytes]:
    """All that tells each image apart, but its score: a digest of its pixels, whatever type they came in, and regions.

    Then its label, its numbers of pixels, regions and defects, and its objects and predicted components.
    """
    normal = np.split(to_numpy(state["normal"]), np.cumsum(to_numpy(state["num_normal"])))
    overlaps = [
        (
            np.split(each.sizes, np.cumsum(each.numbers)),
            np.split(to_numpy(each.scores), np.cumsum(each.num_pixels)),
        )
        for each in overlaps_of(state).values()
    ]
    columns: Mapping[str, Any] = state
    numbers = [to_numpy(columns[name]) for name in _NUMBERS if name in columns]
    tables = [
        np.split(columns[name], np.cumsum(columns[number]))
        for number, names in COMPONENT_TABLES.items()
        for name in names
        if name in columns
    ]
    for i in range(len(normal) - 1):
        digest = hashlib.blake2b(digest_size=16)
        for part in (normal[i], *(column[i] for pair in overlaps for column in pair)):
            digest.update((part.astype(np.float64) + 0.0).tobytes())  # 0.0 for −0.0
        others = np.concatenate([[column[i] for column in numbers], *(table[i] for table in tables)])
        yield digest.digest() + others.astype(np.float64).tobytes()
