"""The public names of the package, which are imported on first use (see `__init__`)."""

from __future__ import annotations

from .anomaly.anomaly_suite import AnomalySuite, anomaly_metrics, level_counts, reduce_maps
from .anomaly.aupro import aupro, pro_curve, sampled_aupro
from .anomaly.regions import split_regions
from .classification.ranks import listed_ranks, true_class_ranks
from .classification.topk import (
    AUTKC,
    AccuracyK,
    accuracy,
    autkc,
    known_ranks,
    reduce_topk,
    reduce_topk_scores,
    topk_accuracy,
)
from .comparison import compare
from .detection.curves import voc_average_precision
from .detection.matching import match_boxes
from .detection.openset_detection import OpenSetDetection
from .detection.overlap import box_iou
from .formats.written.hub import to_eval_results, to_model_index
from .loading import METRICS, load, metric_class
from .metric.metric import Metric
from .ood.bench import bench_metrics
from .ood.ood_bench import OODBench, reduce_ood, split_ood
from .open_set.open_f import macro_open_f, micro_open_f, open_f_curve
from .open_set.open_f_metrics import MacroOpenF, MicroOpenF, reduce_open_set
from .open_set.openauc import (
    OpenAUC,
    accuracy_at_tpr,
    ccr_at_fpr,
    openauc,
    openauc_metrics,
    oscr_curve,
    reduce_openauc,
    split_open_set,
)
from .open_set.risk import risk_coverage
from .open_set.samples import count_classes, reduce_known_unknown
from .ranking.counts import Counts, exceedance_counts
from .ranking.curves import aupr, auroc, average_precision, detection_accuracy, f1_max
from .ranking.delong import AUROCInterval, PairedTest, ProportionInterval, delong, delong_test, proportion_interval
from .ranking.guarantees import GuaranteedCoverage, guaranteed_coverage, threshold_at_fpr
from .ranking.operating_points import OperatingPoint, operating_point
from .ranking.roc import precision_recall_curve, roc_curve

__all__ = [
    "AUTKC",
    "METRICS",
    "AUROCInterval",
    "AccuracyK",
    "AnomalySuite",
    "Counts",
    "GuaranteedCoverage",
    "MacroOpenF",
    "Metric",
    "MicroOpenF",
    "OODBench",
    "OpenAUC",
    "OpenSetDetection",
    "OperatingPoint",
    "PairedTest",
    "ProportionInterval",
    "accuracy",
    "accuracy_at_tpr",
    "anomaly_metrics",
    "aupr",
    "aupro",
    "auroc",
    "autkc",
    "average_precision",
    "bench_metrics",
    "box_iou",
    "ccr_at_fpr",
    "compare",
    "count_classes",
    "delong",
    "delong_test",
    "detection_accuracy",
    "exceedance_counts",
    "f1_max",
    "guaranteed_coverage",
    "known_ranks",
    "level_counts",
    "listed_ranks",
    "load",
    "macro_open_f",
    "match_boxes",
    "metric_class",
    "micro_open_f",
    "open_f_curve",
    "openauc",
    "openauc_metrics",
    "operating_point",
    "oscr_curve",
    "precision_recall_curve",
    "pro_curve",
    "proportion_interval",
    "reduce_known_unknown",
    "reduce_maps",
    "reduce_ood",
    "reduce_open_set",
    "reduce_openauc",
    "reduce_topk",
    "reduce_topk_scores",
    "risk_coverage",
    "roc_curve",
    "sampled_aupro",
    "split_ood",
    "split_open_set",
    "split_regions",
    "threshold_at_fpr",
    "to_eval_results",
    "to_model_index",
    "topk_accuracy",
    "true_class_ranks",
    "voc_average_precision",
]
