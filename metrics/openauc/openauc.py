"""OpenAUC: closed-set classification and open-set ranking in one number."""

import datasets
import evaluate

from ._kernel import Evaluated, OpenAUC as Core

_DESCRIPTION = """
OpenAUC is the probability that a known sample is both classified correctly and ranked below an unknown one. It is
computed exactly, with half credit for ties, together with closed-set accuracy, the AUROC of unknown against known, and
the accuracy of that decision at a given true-positive rate.
"""

_CITATION = """
@inproceedings{wang2022openauc,
  title={OpenAUC: Towards AUC-Oriented Open-Set Recognition},
  author={Wang, Zitai and Xu, Qianqian and Yang, Zhiyong and He, Yuan and Cao, Xiaochun and Huang, Qingming},
  booktitle={Advances in Neural Information Processing Systems},
  year={2022}
}
@inproceedings{vaze2022openset,
  title={Open-Set Recognition: A Good Closed-Set Classifier is All You Need},
  author={Vaze, Sagar and Han, Kai and Vedaldi, Andrea and Zisserman, Andrew},
  booktitle={International Conference on Learning Representations},
  year={2022}
}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: (N, C) scores of the known classes, higher is more likely, or (N,) predicted class ids.
    references: (N,) class ids; negative for unknown samples.
    open_scores: (N,) open-set scores, higher is more unknown.
    open_labels: optional (N,) 1 for unknown, 0 for known; overrides the sign of the references.
    open_set_pred_known, open_set_pred_unknown, close_set_pred_class, close_set_labels: instead of the columns above,
        XCurve's four arrays: scores of the known and of the unknown samples, and predicted and true classes of the
        known ones.
    counts: optional (N,) integers of at least 0: how many times each row occurs, if equal rows are already grouped.
    groups: optional (N,) strings or integers, or lists of them (or names such as a|b), the group or groups of each
        sample, such as a category, a data set or a seed; None, "" or NaN if it belongs to every group. Rates are then
        unweighted means over the groups.
    clusters: optional (N,) strings or integers, what each sample depends on, such as a speaker, a patient or a video.
        Intervals then draw clusters, each with all of its samples.
    tpr: true-positive rate of the operating point, in (0, 1]. Defaults to 0.95.
    significant_bits: number of bits to keep of each score's significand, 4 to 52. The rest are cut off, so memory is
        bounded, and results that rank scores get an error bound. Set it at load. Defaults to None, which keeps all.
    fpr_list: false-positive rates in [0, 1], such as (0.001, 0.01, 0.1), at which to report the correct-classification
        rate. Defaults to None.
    risk_metrics: one or more results on the risk of accepting the lowest-scoring samples: "aurc", "augrc", "risk@cov80"
        and "coverage@risk5" (with any percentage). Defaults to (): none.
    ood_cost: in these risks, an accepted unknown sample costs ood_cost, in [0, 1], and a known one with a wrong class 1
        - ood_cost. Defaults to None: both cost 1.
    unknown_share: in these risks, unknown samples are weighted as if they were this share of all samples, in (0, 1);
        "aurc" then raises an error. Defaults to None: their share in the data.
    threshold: adds "ccr" and "fpr", the rates of known samples that are accepted and classified correctly, and of
        unknown ones that are accepted: those whose score is at most this. Defaults to None.
    roc_metrics: one or more results on the ROC curve of unknown against known samples: "eer", and partial areas such as
        "pauroc@fpr10", "pauroc@fpr10_mcclish" and "pauroc@tpr80" (with any percentage). Defaults to (): none.
    per_sample: whether to add a table with the outcome of each sample. Set it at load if you add batches. Defaults to
        False.
    confidence_level, n_resamples, random_state: with a level such as 0.95, rates get `<key>_low` and `<key>_high` from
        a percentile bootstrap of known and unknown samples. Default to None, 1000 and 0.
    groups_without: "raise" (default) or "skip", for groups that lack a class that a result needs. Skipped groups get
        None in the table and are counted in `groups_skipped`.
    groups_mean: "arithmetic" (default) or "harmonic", n / sum(1/x), which is 0 where a rate is 0.

Returns:
    openauc: 1/(N_k N_u) sum over known i and unknown j of [class of i is correct] ([r_j > r_i] + [r_j = r_i] / 2). It
        is the area under the OSCR curve.
    closed_set_accuracy: share of the known samples that are classified correctly.
    open_set_auroc: AUROC of the unknown (positive) against all known samples.
    open_set_accuracy@tpr95: accuracy of unknown against known at the highest threshold whose TPR is at least `tpr`.
    ccr@fpr0.1 and so on, for `fpr_list` (in percent): the highest share of known samples that are accepted and
        correctly classified, over the thresholds that accept at most that share of the unknown ones: a point of the
        OSCR curve.
    aurc, augrc, for `risk_metrics`: the area under the risk-coverage curve, and under the generalised one. An accepted
        sample is an error if it is unknown or its class is wrong; tied samples are in random order.
    risk@cov80, coverage@risk5 and so on: the share of errors among the lowest-scoring 80 % of the samples; the highest
        share of samples that a threshold can accept with at most 5 % errors among them.
    ccr, fpr, with a `threshold`: the rates at it.
    eer, pauroc@fpr10 and so on, for `roc_metrics`: the equal error rate, where FPR = FNR on that curve; the area under
        it up to an FPR of 0.1, divided by 0.1, with _mcclish standardised to 1/2 by chance; pauroc@tpr80, above a TPR
        of 0.8.
    openauc_error and so on, with `significant_bits`: the value from the full scores differs by at most this much. The
        closed-set accuracy has none, since it ranks no scores; coverage@risk is left out.
    open_set_accuracy@tpr95_threshold, per_sample, with `per_sample`: the threshold of that accuracy (samples that score
        above it are called unknown), and a table: "sample" (its position in the order added, from 0), "score",
        "reference" and "decision" ("known" or "unknown"), and "outcome": "known, right class", "known, wrong class",
        "known, called unknown", "unknown, called unknown" or "unknown, called known".
    groups, if that column is passed: a table, {"group": [sorted names], "<key>": [one value per group], …}. A name with
        a slash, such as near/cifar100, adds a row for the part before it (near), with the mean of its groups.

Raises:
    ValueError: NaN, mismatched lengths or shapes, class ids out of range, no known or no unknown sample.
    TypeError: missing columns, unknown arguments.

Examples:
    >>> import evaluate
    >>> openauc = evaluate.load("metrics/openauc")
    >>> results = openauc.compute(predictions=[0, 1, 1, 0], references=[0, 1, 0, -1], open_scores=[0.1, 0.4, 0.2, 0.3])
    >>> round(results["openauc"], 4), round(results["open_set_auroc"], 4)
    (0.3333, 0.6667)
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Openauc(Evaluated, Core, evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        columns = {"references": datasets.Value("int64"), "open_scores": datasets.Value("float64")}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[
                datasets.Features({"predictions": datasets.Sequence(datasets.Value("float64")), **columns}),
                datasets.Features({"predictions": datasets.Value("int64"), **columns}),
            ],
            license="Apache-2.0",
            reference_urls=["https://arxiv.org/abs/2210.13458", "https://arxiv.org/abs/2110.06207"],
        )
