"""From a folder of anomaly maps and a data set on disk to numbers, category by category."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ..anomaly.anomaly_suite import AnomalySuite
from ..anomaly.image_scores import check_reduction, reduced_maps
from ..anomaly.levels import check_levels
from ..core.group_results import Results, grouped_results
from ..core.options import as_fractions, plain_value
from ..formats.anomaly_folders import AnomalyImage
from ..formats.anomaly_maps import AnomalyMaps, list_anomaly_maps
from ..formats.reasons import named
from .anomaly_curves import Curves, curves_of
from .anomaly_run import AnomalyRun, ScoredImage, belongs_to
from .map_reading import MapAndMask, check_names, map_reader, read_ahead

_BATCH = 64  # images
_BATCH_PIXELS = 1 << 22
_VERSIONS = ("openworld-metrics", "numpy", "scipy")
_Pair = tuple[AnomalyImage, Path]


def evaluate_anomaly_folder(
    maps: str | Path,
    data: str | Path,
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
    resize: str | None = None,
    progress: bool = False,
    **options: Any,
) -> Results:
    """Compute the metric anomaly_suite from files, category by category; the mean of the categories stands first.

    Parameters: maps, a folder of a model's anomaly maps; data, the folder of a data set, or of masks alone; layout,
    one of NAMES of `formats.anomaly_layouts`, recognised unless given; categories, by default all; resize, "nearest"
    or "bilinear" for maps of another size than their masks, which are refused otherwise; progress, whether to show a
    bar on a terminal; options of the metric, such as integration_limits or image_reduction.

    An image is anomalous if its folder says so, even if its mask is empty; in a plain folder, if its mask has a pixel
    that is. Where a layout has kinds of defects that are judged apart (MVTec LOCO), each is a group with the normal
    images of its category.

    Returns each rate's unweighted mean over the groups; "groups", a table of them; "evaluation", what was evaluated:
    folders, layout, options, how many files, versions. Raises ValueError with the name of the file for the first thing
    that is wrong, TypeError for unknown options.
    """
    listed = list_anomaly_maps(maps, data, layout=layout, categories=categories)
    return evaluate_maps(listed, resize=resize, progress=progress, **options).results


def evaluate_maps(
    listed: AnomalyMaps, *, resize: str | None = None, progress: bool = False, curves: bool = False, **options: Any
) -> AnomalyRun:
    """Compute the metric anomaly_suite from files that were found; see `evaluate_anomaly_folder`.

    Parameters: listed, as `list_anomaly_maps` gives it; curves, whether to keep the curves of each group.
    """
    from tqdm import tqdm

    check_names(listed)
    read = map_reader(listed, resize)
    settings = AnomalySuite(**options).loaded_options
    check_reduction(settings["image_reduction"])  # before the files are read
    check_levels(settings["levels"])
    as_fractions(settings["integration_limits"], "integration_limits")
    if settings["ignore_value"] is not None:  # it would be taken for anomalous
        raise ValueError(
            f"ignore_value: expected None, since a mask of a folder is anomalous wherever it is above 0; got "
            f"{settings['ignore_value']!r}"
        )
    by_group: dict[str, Results] = {}
    images: list[ScoredImage] = []
    drawn: dict[str, Curves] = {}
    # disable=None: no bar where standard error is not a terminal
    with tqdm(total=len(listed.pairs), unit=" images", disable=None if progress else True) as bar:
        for category, pairs in groupby(listed.pairs, key=lambda pair: pair[0].category):
            own = list(pairs)
            metrics = {name: AnomalySuite(**options) for name in _groups(listed, own)}
            for batch, contents in _batches(own, read_ahead(read, own)):
                scored = _scored(batch, contents, settings["image_reduction"])
                for name, metric in metrics.items():
                    _add(metric, contents, scored, name)
                images += scored
                bar.update(len(batch))
            for name in list(metrics):
                metric = metrics.pop(name)  # one category at a time: its pixels go when its numbers are there
                scored = [image for image in images if image.image.category == category and belongs_to(image, name)]
                with _in_group(name):
                    if curves:
                        drawn[name] = curves_of(metric.state(), settings["levels"])
                    by_group[name] = {**_counts(scored), **metric.compute()}
    record = _record(listed, resize, settings, sum(image.lacks_pixels for image in images))
    return AnomalyRun(listed, {**grouped_results(by_group), "evaluation": record}, images, drawn)


@contextmanager
def _in_group(name: str) -> Iterator[None]:
    """What is wrong with the images of a group is said with its name."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _groups(listed: AnomalyMaps, pairs: Sequence[_Pair]) -> list[str]:
    """The names of a category's groups: its own, or one for each defect."""
    category, layout = pairs[0][0].category, listed.data.layout
    if layout is None or not layout.by_defect:
        return [category]
    defects = sorted({image.defect for image, _ in pairs} - {*layout.normal})
    return [f"{category}/{defect}" for defect in defects] or [category]


def _batches(
    pairs: Sequence[_Pair], contents: Iterator[MapAndMask]
) -> Iterator[tuple[Sequence[_Pair], list[MapAndMask]]]:
    """Images and what was read of them, a few at a time."""
    start, held, pixels = 0, [], 0
    for end, content in enumerate(contents, 1):
        held.append(content)
        pixels += content.mask.size
        if len(held) == _BATCH or pixels >= _BATCH_PIXELS or end == len(pairs):
            yield pairs[start:end], held
            start, held, pixels = end, [], 0


def _scored(batch: Sequence[_Pair], contents: Sequence[MapAndMask], image_reduction: str | int) -> list[ScoredImage]:
    found = []
    for (image, path), (score_map, mask) in zip(batch, contents):
        with named(path):
            score = float(reduced_maps([score_map], image_reduction)[0])
        marked = bool(mask.any())
        anomalous = marked if image.anomalous is None else image.anomalous
        found.append(ScoredImage(image, path, anomalous, score, marked))
    return found


def _add(metric: AnomalySuite, contents: Sequence[MapAndMask], scored: Sequence[ScoredImage], group: str) -> None:
    """Add to a group's metric the images of a batch that belong to it."""
    chosen = [i for i, image in enumerate(scored) if belongs_to(image, group)]
    metric.add_batch(
        predictions=[contents[i].score_map for i in chosen],
        references=[contents[i].mask for i in chosen],
        image_scores=np.asarray([scored[i].score for i in chosen], dtype=np.float64),
        image_labels=np.asarray([scored[i].anomalous for i in chosen], dtype=bool),
    )


def _counts(scored: Sequence[ScoredImage]) -> dict[str, int]:
    return {"images": len(scored), "anomalous_images": sum(image.anomalous for image in scored)}


def _record(listed: AnomalyMaps, resize: str | None, settings: dict[str, Any], empty: int) -> Results:
    """What was evaluated, as JSON can hold it."""
    files = {
        "images": sum(image.image is not None for image, _ in listed.pairs),
        "maps": len(listed.pairs),
        "masks": sum(len(image.masks) for image, _ in listed.pairs),
        "empty_masks_of_anomalous_images": empty,
    }
    options = {name: plain_value(value) for name, value in settings.items()}
    return {
        "maps": str(listed.folder),
        "data": str(listed.data.folder),
        "layout": listed.data.layout_name,
        "categories": sorted({image.category for image, _ in listed.pairs}),
        "resize": resize,
        "options": {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()},
        "files": files,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _VERSIONS}},
    }
