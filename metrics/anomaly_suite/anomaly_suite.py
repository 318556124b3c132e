"""Anomaly suite: image-level and pixel-level metrics of industrial anomaly detection."""

import datasets
import evaluate

from ._kernel import AnomalySuite as Core, Evaluated

_DESCRIPTION = """
Metrics of industrial anomaly detection from anomaly maps and masks: AUROC, average precision, area under the
precision-recall curve and best F1 of images and of pixels, and the area under the per-region overlap curve (AUPRO) up
to several limits of the false-positive rate. All are exact: every distinct score is a threshold, and one sort serves
all pixel metrics.
"""

_CITATION = """
@article{bergmann2021mvtec,
  title={The {MVTec} Anomaly Detection Dataset: A Comprehensive Real-World Dataset for Unsupervised Anomaly Detection},
  author={Bergmann, Paul and Batzner, Kilian and Fauser, Michael and Sattlegger, David and Steger, Carsten},
  journal={International Journal of Computer Vision},
  volume={129},
  pages={1038--1059},
  year={2021}
}
@article{bergmann2022beyond,
  title={Beyond Dents and Scratches: Logical Constraints in Unsupervised Anomaly Detection and Localization},
  author={Bergmann, Paul and Batzner, Kilian and Fauser, Michael and Sattlegger, David and Steger, Carsten},
  journal={International Journal of Computer Vision},
  volume={130},
  pages={947--969},
  year={2022}
}
@inproceedings{zou2022spot,
  title={Spot-the-difference self-supervised pre-training for anomaly detection and segmentation},
  author={Zou, Yang and Jeong, Jongheon and Pemula, Latha and Zhang, Dongqing and Dabeer, Onkar},
  booktitle={European Conference on Computer Vision},
  pages={392--408},
  year={2022}
}
@article{bertoldo2024aupimo,
  title={{AUPIMO}: Redefining Visual Anomaly Detection Benchmarks with High Speed and Low Tolerance},
  author={Bertoldo, Joao P. C. and Ameln, Dick and Vaidya, Ashwin and Akcay, Samet},
  journal={arXiv preprint arXiv:2401.01984},
  year={2024}
}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: (N, H, W) anomaly maps, higher is more anomalous, or a list of maps of different shapes (H, W).
    references: masks of the same shapes; 0 or False is normal, 1 or True anomalous. Or a dict for each image, {"masks":
        (D, H, W), "saturation_areas": (D,)}: a mask of each defect, and how many of its pixels are enough; D may be
        0. Then sPRO is reported, and everything else uses the union of the masks.
    image_scores: optional (N,) scores of the images. Default to the maxima of the maps, see `image_reduction`.
    image_labels: optional (N,) 1 for anomalous, 0 for normal. Default to whether the mask has an anomalous pixel.
    samples: optional (N,) strings or integers, the id of the sample that each image shows, such as a product seen from
        several sides. It is anomalous if any of its images is, and its score is the highest score of its images.
    groups: optional (N,) strings or integers, or lists of them (or names such as a|b), the group or groups of each
        image, such as a category, a data set or a seed; None, "" or NaN if it belongs to every group. Rates are then
        unweighted means over the groups.
    clusters: optional (N,) strings or integers, what each image depends on, such as a scene, an object or a camera.
        Intervals then draw clusters, each with all of its images.
    integration_limits: limits of the false-positive rate for AUPRO, in (0, 1]. Default to (0.3, 0.1, 0.05, 0.01).
    num_thresholds: to take AUPRO from this many sampled thresholds, as PyADMetric does (it uses 99). An approximation
        that is wrong where scores tie; by default every distinct score counts.
    image_reduction: "max" (default), "mean", or an int k for the mean of the k highest scores of a map.
    levels: which of "image" and "pixel" to report. Defaults to both. AUPRO belongs to "pixel".
    points: operating points to add for each level, such as "fpr95tpr", the lowest FPR at a TPR of at least 95 %: any of
        fpr, tpr, fnr and tnr on both sides of a number in (0, 100]. Defaults to ().
    thresholds: add the thresholds of the points. Defaults to False.
    significant_bits: number of bits to keep of each pixel's significand, 4 to 52. The rest are cut off, so memory for
        normal pixels is bounded, and pixel results get an error bound. Set it at load. Defaults to None: all.
    ignore_value: the value of void pixels in masks, such as 255: they are neither normal nor anomalous, they split
        regions, and they do not count towards image scores and labels. Set it at load. Defaults to None: no pixel is
        void.
    regions: "components" (default), the 8-connected ones of binary masks, or "labels": masks hold the number of each
        pixel's region, from 1, and 0 for normal pixels, as point clouds of shape (1, points) need. Set it at load.
    image_threshold, pixel_threshold: thresholds chosen in advance, at which to add F1, precision and recall; scores
        above the threshold are anomalous. Default to None.
    components: evaluate components of the pixels above the pixel_threshold, which is then required at load: adds siou,
        ppv and segment_f1. Set it at load. Defaults to False.
    min_predicted, min_object: minimum number of pixels: smaller predicted components are erased, and smaller objects of
        a mask are void. Set them at load. Default to 0 and 0.
    pimo_bounds: two false-positive rates such as (1e-5, 1e-4), the lower one first, to add AUPIMO between them; not
        with `significant_bits`. Set it at load if you add batches. Defaults to None: no AUPIMO.
    per_image: add "per_image", a table of the images. Set it at load if you add batches. Defaults to False.
    confidence_level, n_resamples, random_state: with a level such as 0.95, rates get `<key>_low` and `<key>_high` from
        a percentile bootstrap of normal and anomalous images. Default to None, 1000 and 0.
    groups_without: "raise" (default) or "skip", for groups that lack a class that a result needs. Skipped groups get
        None in the table and are counted in `groups_skipped`.
    groups_mean: "arithmetic" (default) or "harmonic", n / sum(1/x), which is 0 where a rate is 0.

Returns:
    image_auroc, pixel_auroc: area under the ROC curve, ties counting half.
    image_ap, pixel_ap: average precision, the step sum under the precision-recall curve.
    image_aupr, pixel_aupr: area under the same curve by trapezoids.
    image_f1_max, pixel_f1_max: the best F1, and image_f1_max_threshold, pixel_f1_max_threshold: a threshold that gives
        it; scores above it are anomalous, and all are if it is -inf.
    pixel_iou_max: the best intersection over union of the anomalous pixels and those above a threshold, TP/(TP+FP+FN).
    image_fpr95tpr, pixel_fpr95tpr and so on, with `points`, and with `thresholds` image_fpr95tpr_threshold and so on.
    sample_auroc, sample_ap, sample_f1_max: the same for samples, if that column is passed.
    siou, ppv, segment_f1, with `components`: the mean overlap of objects with the components that touch them (sIoU),
        the mean share of predicted components inside objects (PPV), and F1 of both, averaged over thresholds of the
        overlap from 1/4 to 3/4. None if there is nothing to average.
    image_f1, image_precision, image_recall, pixel_f1, pixel_precision, pixel_recall: with a threshold of that level,
        the rates there; 0/0 is 0.
    aupro@0.3 and so on: 1/L times the area under the mean overlap of the regions (8-connected per image) over the
        false-positive rate of the normal pixels, up to L.
    auspro@0.3 and so on, if references list each defect: the same with each defect as a region, which counts as wholly
        found once its saturation area is found.
    aupimo, with `pimo_bounds`: the mean, over the anomalous images, of the recall of the image's anomalous pixels,
        averaged over the logarithm of the false-positive rate of the pixels of normal images, between the bounds.
    per_image, with `per_image`: a table {"image": [0, …], "score": […], "label": […], "decision": […], "iou": […],
        "aupimo": […]}. The decision and the IoU are those at the thresholds of image_f1_max and pixel_f1_max. IoU is
        None if no pixel is anomalous or called anomalous, AUPIMO for normal images. Columns of a level that was not
        requested are left out, as are the IoU with `significant_bits` and AUPIMO without `pimo_bounds`.
    pixel_auroc_error, aupro@0.3_error and so on, with `significant_bits`: the value from the full scores differs by at
        most this much. Results without a bound (pixel_f1_max_threshold, AUPRO with `num_thresholds`) are left out.
    groups, if that column is passed: a table, {"group": [sorted names], "<key>": [one value per group], …}. A name with
        a slash, such as near/cifar100, adds a row for the part before it (near), with the mean of its groups.

Raises:
    ValueError: NaN, maps and masks of different shapes, masks that are not binary, masks of one row without
        `regions="labels"`, a level with only one class, a saturation area below 1, a limit out of range, a lower bound
        of AUPIMO below 1 over the number of normal pixels.
    TypeError: missing columns, unknown arguments, values that are not numbers.

Examples:
    >>> import evaluate
    >>> anomaly_suite = evaluate.load("metrics/anomaly_suite", integration_limits=[0.5])
    >>> maps = [[[0.1, 0.2], [0.3, 0.9]], [[0.1, 0.4], [0.0, 0.2]]]
    >>> masks = [[[0, 0], [1, 1]], [[0, 0], [0, 0]]]
    >>> results = anomaly_suite.compute(predictions=maps, references=masks)
    >>> {name: round(results[name], 4) for name in ("image_auroc", "pixel_auroc", "pixel_f1_max", "aupro@0.5")}
    {'image_auroc': 1.0, 'pixel_auroc': 0.9167, 'pixel_f1_max': 0.8, 'aupro@0.5': 0.8333}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class AnomalySuite(Evaluated, Core, evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Sequence(datasets.Value("float32"))),
                    "references": datasets.Sequence(datasets.Sequence(datasets.Value("uint8"))),
                }
            ),
            license="Apache-2.0",
            reference_urls=[
                "https://doi.org/10.1007/s11263-020-01400-4",
                "https://arxiv.org/abs/2207.14315",
                "https://doi.org/10.1007/s11263-022-01578-9",
            ],
        )
