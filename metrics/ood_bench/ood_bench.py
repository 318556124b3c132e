"""OOD bench: every metric of an out-of-distribution detector, by name, from one sort of its scores."""

import datasets
import evaluate

from ._kernel import Evaluated, OODBench as Core

_DESCRIPTION = """
Metrics of an out-of-distribution (OOD) detector from its scores: AUROC, both areas under the precision-recall curve,
detection accuracy, any operating point such as FPR at 95 % TPR (rates fpr, tpr, fnr, tnr), and scikit-learn's binary
metrics by name. Every distinct score is a threshold and ties get half credit.
"""

_CITATION = """
@inproceedings{hendrycks2017baseline,
  title={A Baseline for Detecting Misclassified and Out-of-Distribution Examples in Neural Networks},
  author={Hendrycks, Dan and Gimpel, Kevin},
  booktitle={International Conference on Learning Representations},
  year={2017}
}
@inproceedings{liang2018odin,
  title={Enhancing The Reliability of Out-of-distribution Image Detection in Neural Networks},
  author={Liang, Shiyu and Li, Yixuan and Srikant, R.},
  booktitle={International Conference on Learning Representations},
  year={2018}
}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: (N,) scores, higher is more OOD; or a tuple (in-distribution scores, OOD scores), without references.
    references: (N,) labels, `in_value` or `out_value`.
    qualities: (N,) numbers in [0, 1] in place of references, the quality of each answer, for aurc, auarc, e_aurc and
        prr alone: the loss of an answer is 1 - quality, that of tied ones the mean.
    counts: optional (N,) integers of at least 0: how many times each row occurs, if equal rows are already grouped.
    groups: optional (N,) strings or integers, or lists of them (or names such as a|b), the group or groups of each
        sample, such as a category, a data set or a seed; None, "" or NaN if it belongs to every group. Rates are then
        unweighted means over the groups.
    clusters: optional (N,) strings or integers, what each sample depends on, such as a speaker, a patient or a video.
        Intervals then draw clusters, each with all of its samples.
    metrics: names, or functions of sklearn.metrics. Defaults to ("auroc", "fpr95tpr"). Names are "auroc", "aupr_out",
        "aupr_in", "aupr_out_trapezoid", "aupr_in_trapezoid", "detect_acc", "<rate><XX><rate>" with rates fpr, tpr, fnr,
        tnr and XX a number in (0, 100] such as 95 or 99.5, a rate by itself, at the `threshold`, "eer",
        "pauroc@fpr<XX>", "pauroc@fpr<XX>_mcclish" and "pauroc@tpr<XX>", "aurc", "e_aurc", "auarc", "augrc" and "prr",
        "eer_hull", "mindcf@p<XX>", "dcf@p<XX>", "detection_error", "best_balanced_accuracy", "aupr_out@share<XX>",
        "precision@n", "precision@top<XX>", "recall@top<XX>", "risk@cov<XX>", "coverage@risk<XX>", "reliability@c<C>",
        "answered", "accuracy_given_answered", "f_answered", and the names of scalar binary metrics of sklearn.metrics.
    positive: "out" (default) or "in": which samples are the positives of rates, operating points, partial areas and
        costs.
    in_value, out_value: labels of in-distribution and of OOD samples. Default to 0 and 1. One of them may be "rest":
        every label except the other.
    ignore_value: label of samples to leave out. Defaults to None.
    threshold: for fpr, tpr, fnr, tnr, dcf, answers and the metrics of scikit-learn that judge decisions: a sample is
        OOD when its score is greater.
    cost_miss, cost_false_alarm: for mindcf and dcf, the costs of a positive that is not detected, and of a negative
        that is. Default to 1.0.
    thresholds: whether to add `<name>_threshold` for detect_acc, operating points, eer, least costs and reliability.
        Defaults to False.
    step: compute auroc, detect_acc and the operating points from every `step`-th score, as oodeel does (it uses 4). An
        approximation, of operating points with bounds below 100; by default every distinct score counts.
    per_sample: whether to add a table with the outcome of each sample. Set it at load if you add batches. Defaults to
        False.
    significant_bits: number of bits to keep of each score's significand, 4 to 52. The rest are cut off, so memory is
        bounded, and each result gets an error bound. Set it at load. Defaults to None, which keeps all.
    confidence_level, n_resamples, random_state: with a level such as 0.95, rates get `<key>_low` and `<key>_high` from
        a percentile bootstrap of in-distribution and OOD samples. Default to None, 1000 and 0.
    groups_without: "raise" (default) or "skip", for groups that lack a class that a result needs. Skipped groups get
        None in the table and are counted in `groups_skipped`.
    groups_mean: "arithmetic" (default) or "harmonic", n / sum(1/x), which is 0 where a rate is 0.

Returns:
    auroc: the probability that an OOD sample scores above an in-distribution one, ties counting half.
    aupr_out, aupr_in: average precision with OOD, or in-distribution, as the positive class.
    aupr_out_trapezoid, aupr_in_trapezoid: area under the same curves by trapezoids, as OpenOOD takes it.
    detect_acc: the highest accuracy over all thresholds.
    fpr95tpr: the lowest FPR with TPR >= 0.95. Likewise the best value of any rate where another meets its bound, e.g.
        tpr5fpr, the highest TPR with FPR <= 0.05.
    eer: the equal error rate, where FPR = FNR on the ROC curve.
    pauroc@fpr10, pauroc@tpr80: the area under the ROC curve up to FPR 0.1, or above TPR 0.8, divided by the width.
    pauroc@fpr10_mcclish: the same area standardised by McClish, 1/2 by chance.
    eer_hull: the same on the convex hull of the ROC curve.
    mindcf@p1, dcf@p1: the least cost c_miss*p*FNR + c_fa*(1 - p)*FPR for a prior p of 1 % of the positives, and that at
        the threshold, divided by the lesser of c_miss*p and c_fa*(1 - p).
    detection_error, best_balanced_accuracy: the least mean of FNR and FPR over all thresholds, and 1 minus it.
    aupr_out@share50: average precision as if half of the samples were OOD.
    precision@n: the share of OOD samples among the n that score highest, where n are OOD, ties in random order.
    precision@top5, recall@top5: the same of 5 % of all samples; the share of the OOD samples that is there.
    risk@cov80, coverage@risk5: with wrong answers as OOD samples, the risk of the 80 % that score lowest, and the
        largest coverage of a threshold with a risk of at most 5 %.
    reliability@c1: (right accepted - c * wrong accepted) / N of the best threshold, or at the threshold.
    answered, accuracy_given_answered, f_answered: the share of answers that score at most the threshold, the share of
        these that is right, and 2 * right / (N + answered).
    aurc, augrc: with wrong answers as OOD samples, the areas under risk, and generalised risk, over coverage.
    auarc: 1 - aurc, the area under accuracy over rejections.
    e_aurc: how much aurc exceeds that of the perfect order.
    prr: the prediction rejection ratio, 1 for the perfect order, 0 by chance.
    fpr95tpr_threshold and so on, with `thresholds`: the t for which score > t gives that value.
    per_sample, with `per_sample`: a table of decisions at `threshold` if it is set, otherwise at the threshold of the
        first operating point or detect_acc in `metrics`, otherwise at that of fpr95tpr; the last two are added as
        `<name>_threshold`. It has "sample" (its position in the order added, from 0), "score", "reference" and
        "decision" ("known" or "unknown", which is OOD), and "outcome": "known, called known", "known, called unknown",
        "unknown, called unknown" or "unknown, called known".
    auroc_error and so on, with `significant_bits`: the value from the full scores differs by at most this much. Results
        without a bound (thresholds, rates at a threshold, sampled curves, scikit-learn's) are left out.
    Further keys: one float for each rate at the threshold and for each metric of scikit-learn, under its name.
    groups, if that column is passed: a table, {"group": [sorted names], "<key>": [one value per group], …}. A name with
        a slash, such as near/cifar100, adds a row for the part before it (near), with the mean of its groups.

Raises:
    ValueError: NaN, mismatched lengths or shapes, other labels, one class only, an unknown metric, a missing threshold.
    TypeError: missing columns, unknown arguments, values that are not numbers.

Examples:
    >>> import evaluate
    >>> ood_bench = evaluate.load("metrics/ood_bench")
    >>> ood_bench.compute(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
    {'auroc': 0.75, 'fpr95tpr': 0.5}
    >>> ood_bench.compute(predictions=([0.1, 0.6], [0.4, 0.9]), metrics=["tpr5fpr", "f1_score"], threshold=0.5)
    {'tpr5fpr': 0.5, 'f1_score': 0.5}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class OodBench(Evaluated, Core, evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {"predictions": datasets.Value("float64"), "references": datasets.Value("int64")}
            ),
            license="Apache-2.0",
            reference_urls=["https://arxiv.org/abs/1610.02136", "https://arxiv.org/abs/1706.02690"],
        )
