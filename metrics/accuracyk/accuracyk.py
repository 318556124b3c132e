"""Accuracy at k: how often the true class is among the k best guesses."""

import datasets
import evaluate

from ._kernel import AccuracyK as Core, Evaluated

_DESCRIPTION = """
Accuracy at k is the share of samples whose true class is among the k best guesses. It takes rows of guessed class ids
(k is the length of the row, or any smaller k when the rows are ranked) or rows of class scores (any number of ks from
one pass, without sorting), and says how ties count.
"""

_CITATION = """
@inproceedings{lapin2015topk,
  title={Top-k Multiclass {SVM}},
  author={Lapin, Maksim and Hein, Matthias and Schiele, Bernt},
  booktitle={Advances in Neural Information Processing Systems},
  year={2015}
}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: (N, K) integer class ids, ranked best first if `k_list` is given, or (N, C) floating scores, higher
        is more likely.
    references: (N,) integer class ids.
    counts: optional (N,) integers of at least 0: how many times each row occurs, if equal rows are already grouped.
    groups: optional (N,) strings or integers, or lists of them (or names such as a|b), the group or groups of each
        sample, such as a category, a data set or a seed; None, "" or NaN if it belongs to every group. Rates are then
        unweighted means over the groups.
    clusters: optional (N,) strings or integers, what each sample depends on, such as a speaker, a patient or a video.
        Intervals then draw clusters, each with all of its samples.
    k_list: ks to report, each at most K or C; an int is a one-element list. Without it there is one accuracy: for ids
        a hit anywhere in the row, for scores the plain (closed-set) accuracy of the first highest score.
    ties: for scores with `k_list`, "strict" (default: the true class must beat the (k+1)-th score), "optimistic"
        (it must reach the k-th score) or "expected" (the chance of a hit when ties are broken at random).
    average: "micro" (over all samples) or "macro" (the unweighted mean over the classes that occur in the references).
        Defaults to "micro".
    per_class: whether to add the table "per_class". Defaults to False.
    percent: whether to report on the scale of 0 to 100. Defaults to False.
    ignore_unknown: whether to leave out samples whose reference is negative. Defaults to False, an error.
    confidence_level, n_resamples, random_state: with a level such as 0.95, rates get `<key>_low` and `<key>_high` from
        a percentile bootstrap of the known samples; the table gets none. Default to None, 1000 and 0.
    groups_without: "raise" (default) or "skip", for groups that lack a class that a result needs. Skipped groups get
        None in the table and are counted in `groups_skipped`.
    groups_mean: "arithmetic" (default) or "harmonic", n / sum(1/x), which is 0 where a rate is 0.

Returns:
    accuracy: without `k_list`, in [0, 1]; higher is better.
    accuracy@k: for each k of `k_list`.
    per_class: with that option, a dict of lists: "class", the ids that occur in the references; "count", the samples
        of each; then each key of the results for the samples of that class.
    groups, if that column is passed: a table, {"group": [sorted names], "<key>": [one value per group], …}. A name with
        a slash, such as near/cifar100, adds a row for the part before it (near), with the mean of its groups.

Raises:
    ValueError: NaN, mismatched lengths or shapes, class ids out of range, a k out of range, swapped columns.
    TypeError: missing columns, unknown arguments, values that are not numbers.

Examples:
    >>> import evaluate
    >>> accuracyk = evaluate.load("metrics/accuracyk")
    >>> accuracyk.compute(predictions=[[0, 7, 1], [0, 2, 9], [8, 4, 0]], references=[7, 5, 0])
    {'accuracy': 0.6666666666666666}
    >>> accuracyk.compute(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1], k_list=(1, 2))
    {'accuracy@1': 0.5, 'accuracy@2': 1.0}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Accuracyk(Evaluated, Core, evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        references = {"references": datasets.Value("int64")}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[
                datasets.Features({"predictions": datasets.Sequence(datasets.Value("float64")), **references}),
                datasets.Features({"predictions": datasets.Sequence(datasets.Value("int64")), **references}),
            ],
            license="Apache-2.0",
            reference_urls=["https://papers.nips.cc/paper/2015/hash/0336dcbab05b9d5ad24f4333c7658a0e-Abstract.html"],
        )
