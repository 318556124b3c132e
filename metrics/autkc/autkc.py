"""AUTKC: the area under the top-k curve."""

import datasets
import evaluate

from ._kernel import AUTKC as Core, Evaluated

_DESCRIPTION = """
AUTKC@K is the mean of the top-1 to top-K accuracies: the area under the curve of accuracy over k. Unlike accuracy at
one k it rewards a true class that is ranked first over one that is ranked K-th.
"""

_CITATION = """
@article{wang2023autkc,
  title={Optimizing Partial Area Under the Top-k Curve: Theory and Practice},
  author={Wang, Zitai and Xu, Qianqian and Yang, Zhiyong and He, Yuan and Cao, Xiaochun and Huang, Qingming},
  journal={IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year={2023}
}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: (N, C) floating scores, higher is more likely.
    references: (N,) integer class ids.
    counts: optional (N,) integers of at least 0: how many times each row occurs, if equal rows are already grouped.
    groups: optional (N,) strings or integers, or lists of them (or names such as a|b), the group or groups of each
        sample, such as a category, a data set or a seed; None, "" or NaN if it belongs to every group. Rates are then
        unweighted means over the groups.
    clusters: optional (N,) strings or integers, what each sample depends on, such as a speaker, a patient or a video.
        Intervals then draw clusters, each with all of its samples.
    k_list: Ks to report, each at most C; an int is a one-element list. Defaults to (1,).
    ties: "strict" (default: at each k the true class must beat the (k+1)-th score), "optimistic" (it must reach the
        k-th score) or "expected" (the chance of a hit when ties are broken at random).
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
    autkc@K: for each K of `k_list`, 1/(N K) sum over samples and k = 1..K of [s_y > s_(k+1)], where s_(k) is the k-th
        highest score of the sample and s_(C+1) is minus infinity. In [0, 1]; higher is better.
    per_class: with that option, a dict of lists: "class", the ids that occur in the references; "count", the samples
        of each; then each key of the results for the samples of that class.
    groups, if that column is passed: a table, {"group": [sorted names], "<key>": [one value per group], …}. A name with
        a slash, such as near/cifar100, adds a row for the part before it (near), with the mean of its groups.

Raises:
    ValueError: NaN, mismatched lengths or shapes, class ids out of range, a K out of range, swapped columns.
    TypeError: missing columns, unknown arguments, values that are not numbers.

Examples:
    >>> import evaluate
    >>> autkc = evaluate.load("metrics/autkc")
    >>> autkc.compute(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1], k_list=(1, 2))
    {'autkc@1': 0.5, 'autkc@2': 0.75}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class Autkc(Evaluated, Core, evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Value("float64")),
                    "references": datasets.Value("int64"),
                }
            ),
            license="Apache-2.0",
            reference_urls=["https://arxiv.org/abs/2209.01398"],
        )
