"""Images as the rows that resamples are drawn from, in an order that does not depend on how they came."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays.arrays import to_numpy
from .maps import AnomalyState
from .spro import overlaps_of


class ImageRows(NamedTuple):
    """Rows of images.

    strata: (R,) ascending, the kind of each row, of whose number a resample has as many
    of_images: (N,) the row of each image
    """

    strata: np.ndarray
    of_images: np.ndarray


def image_rows(state: AnomalyState) -> ImageRows:
    """A row for each image: by its kind, then its score, then its content.

    Kinds are told apart by the label and by whether there are normal and anomalous pixels, so that no resample lacks
    any of these.
    """
    columns = (state["image_labels"], state["num_normal"], state["num_regions"])
    anomalous, normal, regions = (to_numpy(column).astype(np.int64) > 0 for column in columns)
    kinds = 4 * anomalous + 2 * normal + regions
    scores, contents = to_numpy(state["image_scores"]), [*_contents(state)]
    order = sorted(range(len(scores)), key=lambda i: (kinds[i], scores[i], contents[i]))
    of_images = np.empty(len(scores), np.int64)
    of_images[order] = np.arange(len(scores))
    return ImageRows(kinds[order], of_images)


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
