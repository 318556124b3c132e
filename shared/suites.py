"""Evaluate files: detectors, anomaly maps of a data set, and OOD sets.

    detections = read_detections("runs/detect/predict/labels", "data.yaml", unknown_class_id=999)  # of reading
    results = evaluate_detections(detections, known_classes=[0, 1, 2], unknown_class_id=999)

    results = evaluate_anomaly_folder("maps", "mvtec_ad", integration_limits=[0.3, 0.05])

Boxes of YOLO need the extra `detection` (Pillow, PyYAML), anomaly maps the extra `anomaly` (Pillow, tifffile).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .answers.folders import (
    CHOICES,
    compute_detections,
    compute_maps,
    compute_sets,
    detection_results,
    needs_masks,
    standard_metrics,
    with_accuracy,
)
from .metric.results import Results
from .ood.ood_bench import OODBench
from .reading.boxes.classes import class_options
from .reading.boxes.dataset import Detections
from .reading.boxes.reading import reading_of as reading_of_boxes
from .reading.maps.pairing import MAPS
from .reading.maps.reading import reading_of as reading_of_maps
from .reading.maps.sources import list_models
from .reading.reading import Place
from .reading.sets import sets_of

__all__ = [
    "compare_detections",
    "evaluate_anomaly_folder",
    "evaluate_detections",
    "evaluate_ood",
    "standard_metrics",
]

SUITE_METRICS = ("auroc", "fpr95tpr", "aupr_in", "aupr_out")
_CLUSTERS = ("clusters", "clusters_from_name")


def evaluate_anomaly_folder(
    maps: Place | Sequence[Place],
    data: Place | Sequence[Place] | None = None,
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    leave_out: bool = False,
    progress: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Compute the metric anomaly_suite from files, category by category; the mean of the categories stands first.

    Parameters: maps, a folder or an archive (.zip) of a model's anomaly maps; data, of a data set, or of masks alone,
    or None where maps is a list of images with both; layout, one of NAMES of `reading.maps.layouts`, by default
    detected; categories, by default all; columns, those of a list, as of `read_maps`; resize, "nearest"
    or "bilinear", for maps that differ in size from their masks, otherwise an error; sample_pattern, a regular
    expression with the id of a sample, such as a product, as its first group in the names of images, by default the
    layout's own, which Real-IAD has; void_where_invalid, whether pixels without a point in the clouds of MVTec 3D-AD
    are void; mask_threshold, the number above which values of masks are anomalous; leave_out, whether files without a
    partner, or with other problems of names, are left out; clusters and clusters_from_name, what images depend on, as
    of `read_maps`, each within a category; progress, whether to show a bar on a
    terminal; options of the metric, such as integration_limits or image_reduction, each a value, or a dict of values by
    category, such as the thresholds that `openworld-metrics threshold` fits.

    An image is anomalous if its folder says so, even if its mask is empty; in a plain folder, if its mask has an
    anomalous pixel. A mask holds 0 and one other value, which is anomalous, unless a `mask_threshold` cuts it, or
    regions="labels" makes values numbers of regions; pixels of the `ignore_value` are void. If a layout separates kinds
    of defects (MVTec LOCO), each kind is a group with the normal images of its category; if it has saturation areas (in
    its defects_config.json), results include the areas of sPRO.

    Returns each rate's unweighted mean over the groups; "groups", a table of them; "evaluation", a record of folders,
    layout, options, numbers of files and versions; with per_image=True, "per_image", the table of all images. Raises
    ValueError with the name of the file for the first error, TypeError for unknown options.
    """
    which: dict[str, Any] = {"layout": layout, "categories": categories, "columns": columns, "leave_out": leave_out}
    models = list_models({MAPS: maps}, data, needs_masks=needs_masks(options), **which)
    model, *others = models
    if others:
        raise ValueError(f"{maps}: expected the maps of one model, got {', '.join(models)}; columns chooses one")
    choices = {name: options.pop(name) for name in (*CHOICES, *_CLUSTERS) if name in options}
    choices |= {name: options[name] for name in ("ignore_value", "regions") if name in options}
    folders = compute_maps(reading_of_maps(models, groups=True, **choices), options, progress=progress)
    results = folders.results(model, folders.done.models[model].summary)
    return {**results, "per_image": folders.table(model)} if folders.tables else results


def evaluate_detections(
    detections: Detections,
    known_classes: Sequence[int],
    *,
    standard: bool = True,
    max_detections: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Results:
    """Compute the open-set metrics of detections, and the standard metrics.

    Parameters: detections, as a reader gives them; known_classes, ids, all others are unknown; standard, whether to
    compute the standard metrics, and max_detections, their limit; progress, whether to show a bar on a terminal;
    options of the metric openset_detection, such as iou_threshold, conf_threshold or protocol, and unknown_class_id, by
    default that of a class whose name means it.

    Returns "openset_metrics", the results of openset_detection, without those that need a prediction called unknown if
    none can be (see `closed_set_summary`), "standard_metrics", the results of `standard_metrics`, and "kinds", the kind
    of each key (see `Summary.kinds`). Raises TypeError and ValueError as the metric does.
    """
    options = class_options({**options, "known_classes": list(known_classes)}, detections)
    done = compute_detections(reading_of_boxes({"": detections}), options, intervals=False, progress=progress)
    (summary,) = done.values()
    state = done.states[""]
    return detection_results(summary, detections, state, options, standard=standard, max_detections=max_detections)


def compare_detections(
    first: Detections,
    second: Detections,
    known_classes: Sequence[int],
    *,
    confidence_level: float | None = None,
    **options: Any,
) -> dict[str, list[Any]]:
    """Compare two detectors on the same images: see `openworld_metrics.compare`, which returns a table of this form.

    Parameters: first and second, detections on one data set; known_classes, ids; confidence_level, by default that of
    `compare`; options of openset_detection, with n_resamples and random_state. Raises ValueError for other images or
    objects.
    """
    options = class_options({**options, "known_classes": list(known_classes)}, first, second)
    options |= {} if confidence_level is None else {"confidence_level": confidence_level}
    return compute_detections(reading_of_boxes({"first": first, "second": second}), options, intervals=True).compared()


def evaluate_ood(
    known: Any,
    unknown: Mapping[str, Any],
    *,
    full_spectrum: Sequence[Any] = (),
    metrics: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] = SUITE_METRICS,
    threshold: float | None = None,
    **intervals: Any,
) -> dict[str, Any]:
    """Metrics of an OOD detector on several OOD sets, each compared with the known samples.

    mean(near) = 1/n Σ metric(known, set) over the sets near/…, not the metric of the pooled sets; likewise over all.

    Parameters: known, scores (N,), higher is more unknown, or `Scores` with classes and clusters; unknown, scores of
    each OOD set by name, where a slash groups: near/cifar100; full_spectrum, scores of sets of known classes under
    covariate shift, which are added to the known samples; metrics and threshold as of `OODBench`; intervals,
    confidence_level, n_resamples and random_state as of every metric: each resample draws the known samples once for
    all sets.

    Returns {metric: mean over the sets, "closed_set_accuracy": of the known samples if all of them have classes,
    "groups": {"group": [names and groups, sorted], metric: [each]}}, with `<metric>_low` and `<metric>_high`.
    Raises ValueError for NaN, sets without samples, a set with the scores of the known samples row by row, and a name
    that is empty or both a set and a group; and as `OODBench` does. Source of the protocol: Zhang et al., OpenOOD v1.5,
    2023. Its areas under precision and recall are aupr_in_trapezoid and aupr_out_trapezoid; its FPR may be higher if
    scores tie, since it drops points of the ROC curve beforehand.

    >>> results = evaluate_ood([0.1, 0.2, 0.6], {"near/a": [0.4, 0.9], "near/b": [0.7], "far": [0.8]}, metrics="auroc")
    >>> results["groups"]["group"], results["groups"]["auroc"]
    (['far', 'near', 'near/a', 'near/b'], [1.0, 0.9166666666666667, 0.8333333333333334, 1.0])
    """
    metric = OODBench(metrics=metrics, threshold=threshold, **intervals)
    reading = sets_of(known, unknown, full_spectrum)
    return with_accuracy(compute_sets(reading, metric.loaded_options, intervals=False), reading).as_dict()
