"""The state of a batch of anomaly maps and masks: scores of images and of pixels, region by region.

Images show samples; equal images, or samples, are rows that resamples are drawn from; and there is a table of images.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays.arrays import (
    MAX_EXACT,
    Array,
    State,
    array_namespace,
    device_of,
    exceeds,
    to_numpy,
)
from ..arrays.checks import (
    check_arrays,
    check_lengths,
    check_rows,
    count_column,
    flag_column,
    integer_column,
    integer_scalar,
    score_column,
)
from ..metric.clusters import CLUSTER_NAMES, CLUSTERS
from ..metric.groups import ALL, column_items, group_name
from ..metric.prepared import as_content
from ..ranking.quantities import checked_bits
from .components import COMPONENT_ARRAYS, COMPONENT_TABLES, ComponentColumns, checked_components
from .regions import (
    DEFECT_ARRAYS,
    DefectPixels,
    RegionPixels,
    check_defects,
    check_sum,
    checked_defects,
    overlaps_of,
    regions_of,
)

if TYPE_CHECKING:
    from typing_extensions import NotRequired

    from .anomaly_suite import AnomalySuite


SCORES_OF_PIXELS = ("normal", "anomalous", "defect_pixels")  # in a state
_ARRAYS = (
    "image_scores",
    "image_labels",
    "normal",
    "anomalous",
    "region_sizes",
    "num_normal",
    "num_regions",
    "image_reduction",
)
_OPTIONAL = ("normal_counts", "significant_bits", "ignore_value", "regions", "samples")
_OF_IMAGES = ("image_scores", "image_labels", "num_normal", "num_regions", "num_defects", "samples", *COMPONENT_TABLES)
_NUMBERS = ("image_labels", "num_normal", "num_regions", "num_defects", *COMPONENT_TABLES)
LEVELS = ("image", "pixel")
KINDS_OF_IMAGES = ("normal images", "anomalous pixels", "normal pixels", "anomalous images")  # from the lowest bit on
LOWEST_VOID, HIGHEST_VOID = -(2**31), 2**31 - 1


class AnomalyState(RegionPixels, DefectPixels, ComponentColumns):
    """Scores of images, and of their pixels.

    ignore_value: the value of void pixels in masks, which were not counted; absent if there is none
    regions: "labels" if masks held the numbers of regions; absent if regions are connected components
    """

    image_scores: Array  # (N,) higher is more anomalous
    image_labels: Array  # (N,) whether the image is anomalous
    image_reduction: np.ndarray  # how image scores were computed from maps, as a text
    significant_bits: NotRequired[np.ndarray]  # the number of bits kept of a pixel's score; absent if all were kept
    ignore_value: NotRequired[np.ndarray]
    regions: NotRequired[np.ndarray]
    samples: NotRequired[np.ndarray]  # (N,) the id of the sample that each image shows; absent if there are none


def checked_state(state: Mapping[str, Any], options: AnomalySuite) -> AnomalyState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `AnomalySuite` cannot have reduced."""
    rule = options.component_rule
    names = [*_ARRAYS, *(DEFECT_ARRAYS if state.keys() & DEFECT_ARRAYS else ()), *(COMPONENT_ARRAYS if rule else ())]
    check_arrays(state, [*names, *_OPTIONAL], _OPTIONAL)
    checked: Any = {
        "image_scores": score_column(state, "image_scores"),
        "image_labels": flag_column(state, "image_labels"),
        "normal": score_column(state, "normal"),
        "anomalous": score_column(state, "anomalous"),
        "region_sizes": integer_column(state, "region_sizes", 1, MAX_EXACT),
        "num_normal": integer_column(state, "num_normal", 0, MAX_EXACT),
        "num_regions": integer_column(state, "num_regions", 0, MAX_EXACT),
        **_checked_options(state, options),
        **checked_defects(state),
        **checked_components(state, rule),
        **checked_ids(state),
    }
    if "normal_counts" in state:
        checked["normal_counts"] = count_column(state, "normal_counts")
    for table in (_OF_IMAGES, ("normal", "normal_counts")):
        check_rows({name: column for name, column in checked.items() if name in table})
    check_sum(checked["region_sizes"], "region_sizes", len(checked["anomalous"]), "anomalous pixels")
    check_sum(checked["num_regions"], "num_regions", len(checked["region_sizes"]), "regions")
    if "normal_counts" not in checked:  # counted pixels may belong to several images
        check_sum(checked["num_normal"], "num_normal", len(checked["normal"]), "normal pixels")
    check_defects(checked)
    return checked


def _checked_options(state: Mapping[str, Any], options: AnomalySuite) -> dict[str, np.ndarray]:
    """The options that a state was reduced with, as its entries. Raises ValueError unless they are the same here."""
    reduction, value = state["image_reduction"], None
    if np.ndim(reduction) or str(reduction) != str(options.image_reduction):
        raise ValueError(
            f"state: expected image_reduction={options.image_reduction}, as here, got {str(reduction)[:80]}"
        )
    checked = {"image_reduction": np.asarray(str(reduction)), **checked_bits(state, options.significant_bits)}
    if "ignore_value" in state:
        value = int(integer_scalar(state, "ignore_value", LOWEST_VOID, HIGHEST_VOID))
        checked["ignore_value"] = np.asarray(value)
    if value != options.ignore_value:
        raise ValueError(f"state: expected ignore_value={options.ignore_value}, as here, got {value}")
    regions = str(state.get("regions", "components"))
    if regions != options.regions:
        raise ValueError(f"state: expected regions={options.regions!r}, as here, got {regions[:80]!r}")
    return {**checked, "regions": np.asarray(regions)} if "regions" in state else checked


def as_sample_ids(samples: Any, maps: Any) -> np.ndarray:
    """Check a column of ids, strings or integers, and return them as strings, (N,).

    Raises ValueError for another length and for a missing id (None, "" or NaN), TypeError for other types.
    """
    items = column_items(samples, "samples")
    check_lengths(predictions=maps, samples=items)
    ids = []
    for i, item in enumerate(items):
        try:
            ids.append(group_name(item))
        except TypeError:
            raise TypeError(f"samples[{i}]: expected a string or an integer, got {item!r:.100}") from None
        if ids[-1] == ALL:
            raise ValueError(f"samples[{i}]: expected the id of a sample, got {item!r}")
    return np.asarray(ids, dtype=str)


def checked_ids(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The sample ids of a state from elsewhere, if it has any."""
    if "samples" not in state:
        return {}
    ids = np.asarray(state["samples"])
    if ids.ndim != 1 or (len(ids) and (ids.dtype.kind != "U" or not (ids != "").all())):
        raise ValueError("state: expected samples to be a column of ids, strings that are not empty")
    return {"samples": ids.astype(str)}


def check_samples_together(states: Mapping[str, Sequence[State]]) -> None:
    """Raise ValueError for a sample with images in two groups, or in two clusters."""
    groups: dict[str, str] = {}
    clusters: dict[str, str] = {}
    for group, part in ((group, part) for group, parts in states.items() for part in parts if "samples" in part):
        _check_one("group", zip(sorted({*part["samples"].tolist()}), repeat(group)), groups)
        if CLUSTERS in part:
            cluster_of = part[CLUSTER_NAMES][to_numpy(part[CLUSTERS])]
            _check_one("cluster", sorted({*zip(part["samples"].tolist(), cluster_of.tolist())}), clusters)


def _check_one(kind: str, pairs: Iterable[tuple[str, str]], known: dict[str, str]) -> None:
    for sample, name in pairs:
        other = known.setdefault(sample, name)
        if other != name:
            names = " and in ".join(f"{kind} {one!r}" if one != ALL else f"no {kind}" for one in (other, name))
            raise ValueError(
                f"samples: expected all images of a sample in one {kind}, got those of {sample!r} in {names}"
            )


class ImageRows(NamedTuple):
    """Rows of equal images, or of equal samples of several images."""

    strata: np.ndarray  # (R,) ascending, the kind of each row; a resample has as many of each kind
    counts: np.ndarray  # (R,) how many images, or samples, each row stands for
    of_images: np.ndarray  # (N,) the row of each image
    first: np.ndarray  # (N,) booleans, whether an image is the first of its sample
    standing: np.ndarray  # (N,) booleans, whether an image is of the sample that stands for its row in a resample


def image_rows(state: Mapping[str, Any]) -> ImageRows:
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
    for each, image in zip(sample.tolist(), image_contents(state)):
        images[each].append(image)
    keys = [(kind, tuple(sorted(each, reverse=True))) for kind, each in zip(kinds.tolist(), images)]
    place = {key: row for row, key in enumerate(sorted(set(keys)))}
    rows = np.asarray([place[key] for key in keys], dtype=np.int64)
    _, standing, counts = np.unique(rows, return_index=True, return_counts=True)
    is_first = np.isin(np.arange(len(labels)), first)
    return ImageRows(kinds[standing], counts, rows[sample], is_first, np.isin(sample, standing))


def image_contents(state: Mapping[str, Any]) -> Iterator[tuple[float, bytes]]:
    """All that tells each image apart: its score, and a digest of its pixels, whatever type they came in, and regions.

    The digest is followed by its label, its numbers of pixels, regions and defects, and its objects and predicted
    components.
    """
    normal = np.split(to_numpy(state["normal"]), np.cumsum(state["num_normal"]))
    overlaps = []
    for each in overlaps_of(state).values():
        overlaps.append(np.split(each.sizes, np.cumsum(each.numbers)))
        overlaps.append(np.split(to_numpy(each.scores), np.cumsum(each.num_pixels)))
    numbers = [to_numpy(state[name]) for name in _NUMBERS if name in state]
    tables = [
        np.split(state[name], np.cumsum(state[number]))
        for number, names in COMPONENT_TABLES.items()
        for name in names
        if name in state
    ]
    for i, score in enumerate(to_numpy(state["image_scores"]).tolist()):
        digest = hashlib.blake2b(digest_size=16)
        for part in (normal[i], *(column[i] for column in overlaps)):
            digest.update(as_content(part))
        others = np.concatenate([[column[i] for column in numbers], *(table[i] for table in tables)])
        yield score, digest.digest() + others.astype(np.float64).tobytes()


def per_image_table(
    state: Mapping[str, Any],
    *,
    image_threshold: float | None,
    pixel_threshold: float | None,
    pimo: list[float | None] | None,
) -> dict[str, list[Any]]:
    """A table of the images in their order, with scores, labels, and decisions at thresholds.

    IoU = |A ∩ P| / |A ∪ P| of the anomalous pixels A and the pixels P with a score above the threshold; if both are
    empty, as in a normal image without such pixels, it is None.

    Parameters: state of `AnomalySuite`, with pixels image by image; the thresholds of decisions score > threshold, or
    None to leave their columns out; pimo, the AUPIMO of each image, None for an image without one.
    Returns {"image": [0, 1, …], "score": […], "label": [0 or 1, …], "decision": […], "iou": […], "aupimo": […]}.
    Raises ValueError if pixels of several images have been counted together.
    """
    scores, labels = to_numpy(state["image_scores"]), to_numpy(state["image_labels"])
    table: dict[str, list[Any]] = {
        "image": [*range(len(scores))],
        "score": (scores + 0.0).tolist(),  # 0.0 for −0.0
        "label": labels.astype(int).tolist(),
    }
    if image_threshold is not None:
        table["decision"] = exceeds(scores, image_threshold).astype(int).tolist()
    if pixel_threshold is not None:
        table["iou"] = _ious(state, pixel_threshold)
    if pimo is not None:
        table["aupimo"] = pimo
    return table


def _ious(state: Mapping[str, Any], threshold: float) -> list[float | None]:
    check_single(state, "per_image")
    num_pixels = regions_of(state).num_pixels
    tp = exceeding(state["anomalous"], num_pixels, threshold)
    fp = exceeding(state["normal"], state["num_normal"], threshold)
    pairs = zip(tp.tolist(), (num_pixels + fp).tolist())
    return [common / either if either else None for common, either in pairs]


def check_single(state: Mapping[str, Any], option: str) -> None:
    """Raise ValueError if pixels of several images are rows with a count."""
    if "normal_counts" in state:
        raise ValueError(
            f"{option}: pixels of several images have been counted together; give it at load, not at compute"
        )


def exceeding(scores: Array, numbers: np.ndarray, threshold: float) -> np.ndarray:
    """The number of each image's scores that exceed the threshold, (N,); `numbers` holds how many scores each image
    has.

    >>> exceeding(np.asarray([0.1, 0.9, 0.5, 0.7]), np.asarray([2, 0, 2]), 0.5).tolist()
    [1, 0, 1]
    """
    xp = array_namespace(scores)
    # as an array, float32 scores are compared in float64
    at = xp.asarray([threshold], dtype=xp.float64, device=device_of(scores))
    places = to_numpy(xp.nonzero(scores > at)[0])
    return np.bincount(np.searchsorted(np.cumsum(numbers), places, side="right"), minlength=len(numbers))
