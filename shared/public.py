"""The public names of the package, which are imported on first use (see `__init__`)."""

from __future__ import annotations

from .anomaly.anomaly_suite import AnomalySuite
from .anomaly.aupro import aupro, pro_curve
from .classification.ranks import true_class_ranks
from .classification.topk import AUTKC, AccuracyK, autkc, topk_accuracy
from .comparison import compare
from .detection.curves import voc_average_precision
from .detection.matching import match_boxes
from .detection.openset_detection import OpenSetDetection
from .detection.overlap import box_iou
from .loading import METRICS, load
from .metric.metric import Metric
from .metric.states import pack, unpack
from .ood.ood_bench import OODBench
from .open_set.open_f import macro_open_f, micro_open_f, open_f_curve
from .open_set.open_f_metrics import MacroOpenF, MicroOpenF
from .open_set.openauc import OpenAUC, accuracy_at_tpr, ccr_at_fpr, openauc, oscr_curve
from .open_set.risk import risk_coverage
from .ranking.auroc import auroc
from .ranking.curves import aupr, average_precision, detection_accuracy, f1_max
from .ranking.delong import delong, delong_test, proportion_interval
from .ranking.guarantees import guaranteed_coverage, threshold_at_fpr
from .ranking.operating_points import operating_point
from .ranking.roc import precision_recall_curve, roc_curve
from .reading.read import read
from .written.hub import to_eval_results

__all__ = [
    "AUTKC",
    "METRICS",
    "AccuracyK",
    "AnomalySuite",
    "MacroOpenF",
    "Metric",
    "MicroOpenF",
    "OODBench",
    "OpenAUC",
    "OpenSetDetection",
    "accuracy_at_tpr",
    "aupr",
    "aupro",
    "auroc",
    "autkc",
    "average_precision",
    "box_iou",
    "ccr_at_fpr",
    "compare",
    "delong",
    "delong_test",
    "detection_accuracy",
    "f1_max",
    "guaranteed_coverage",
    "load",
    "macro_open_f",
    "match_boxes",
    "micro_open_f",
    "open_f_curve",
    "openauc",
    "operating_point",
    "oscr_curve",
    "pack",
    "precision_recall_curve",
    "pro_curve",
    "proportion_interval",
    "read",
    "risk_coverage",
    "roc_curve",
    "threshold_at_fpr",
    "to_eval_results",
    "topk_accuracy",
    "true_class_ranks",
    "unpack",
    "voc_average_precision",
]
