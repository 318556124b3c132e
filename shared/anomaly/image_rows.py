"""Images as the rows that resamples are drawn from, in an order independent of the order in which they were added."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays.arrays import to_numpy
from .maps import AnomalyState
from .spro import overlaps_of


class ImageRows(NamedTuple):
    """Rows of images, or of samples of several images.

    strata: (R,) ascending, the kind of each row; a resample has as many of each kind
    of_images: (N,) the row of each image
    first: (N,) booleans, whether an image is the first of its row
    """

    strata: np.ndarray
    of_images: np.ndarray
    first: np.ndarray


def image_rows(state: AnomalyState) -> ImageRows:
    """A row for each image, or for each sample, ordered by kind, then by the highest score, then by content.

    Kinds are told apart by whether a row has anomalous images, normal and anomalous pixels, and normal images, so that
    no resample lacks any of these.
    """
    labels = to_numpy(state["image_labels"])
    names = np.arange(len(labels)) if "samples" not in state else state["samples"]
    _, first, row = np.unique(names, return_index=True, return_inverse=True)
    kinds = np.zeros(len(first), np.int64)
    for flags in (labels, state["num_normal"], state["num_regions"], ~labels):
        kinds = 2 * kinds + (np.bincount(row, to_numpy(flags) > 0, len(first)) > 0)
    images: list[list[tuple[float, bytes]]] = [[] for _ in first]
    for each, score, content in zip(row.tolist(), to_numpy(state["image_scores"]).tolist(), _contents(state)):
        images[each].append((score, content))
    descending = [sorted(each, reverse=True) for each in images]
    order = sorted(range(len(first)), key=lambda i: (kinds[i], descending[i]))
    places = np.empty(len(first), np.int64)
    places[order] = np.arange(len(first))
    return ImageRows(kinds[order], places[row], np.isin(np.arange(len(labels)), first))


def _contents(state: AnomalyState) -> Iterator[bytes]:
    """A digest of each image's pixels, whatever type they came in, and of its regions."""
    normal = np.split(to_numpy(state["normal"]), np.cumsum(to_numpy(state["num_normal"])))
    overlaps = [
        (
            np.split(each.sizes, np.cumsum(each.numbers)),
            np.split(to_numpy(each.scores), np.cumsum(each.num_pixels)),
        )
        for each in overlaps_of(state).values()
    ]
    for i in range(len(normal) - 1):
        digest = hashlib.blake2b(digest_size=16)
        for part in (normal[i], *(column[i] for pair in overlaps for column in pair)):
            digest.update((part.astype(np.float64) + 0.0).tobytes())  # 0.0 for −0.0
        yield digest.digest()
