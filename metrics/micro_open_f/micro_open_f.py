"""Micro open-set F-score: known classes recognised, unknown samples rejected."""

import datasets
import evaluate

from ._kernel import Evaluated, MicroOpenF as Core

_DESCRIPTION = """
The micro open-set F-score is the harmonic mean of the precision and the recall of the counts pooled over the known
classes, when a sample whose open-set score exceeds a threshold is rejected as unknown. It is reported at the best
threshold, found over every distinct score, and at any thresholds you pass.
"""

_CITATION = r"""
@article{mendesjunior2017nearest,
  title={Nearest neighbors distance ratio open-set classifier},
  author={Mendes J{\'u}nior, Pedro R. and de Souza, Roberto M. and Werneck, Rafael de O. and Stein, Bernardo V. and
    Pazinato, Daniel V. and de Almeida, Waldir R. and Penatti, Ot{\'a}vio A. B. and Torres, Ricardo da S. and
    Rocha, Anderson},
  journal={Machine Learning},
  volume={106},
  pages={359--386},
  year={2017}
}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: (N, C) scores of the known classes, higher is more likely, or (N,) predicted class ids.
    references: (N,) class ids; negative for unknown samples.
    open_scores: (N,) open-set scores, higher is more unknown.
    open_labels: optional (N,) 1 for unknown, 0 for known; overrides the sign of the references.
    counts: optional (N,) integers of at least 0: how many times each row occurs, if equal rows are already grouped.
    groups: optional (N,) strings or integers, or lists of them (or names such as a|b), the group or groups of each
        sample, such as a category, a data set or a seed; None, "" or NaN if it belongs to every group. Rates are then
        unweighted means over the groups.
    clusters: optional (N,) strings or integers, what each sample depends on, such as a speaker, a patient or a video.
        Intervals then draw clusters, each with all of its samples.
    t_list: thresholds to use. Defaults to every distinct score. A sample is rejected as unknown when its score is
        greater than the threshold.
    num_classes: number C of known classes, for class ids if some classes never occur. Defaults to the number of
        columns, or to one more than the largest id.
    per_sample: whether to add a table with the outcome of each sample. Set it at load if you add batches. Defaults to
        False.
    confidence_level, n_resamples, random_state: with a level such as 0.95, rates get `<key>_low` and `<key>_high` from
        a percentile bootstrap of known and unknown samples. Default to None, 1000 and 0.
    groups_without: "raise" (default) or "skip", for groups that lack a class that a result needs. Skipped groups get
        None in the table and are counted in `groups_skipped`.
    groups_mean: "arithmetic" (default) or "harmonic", n / sum(1/x), which is 0 where a rate is 0.

Returns:
    micro_open_f: the best F over the thresholds, in [0, 1]; higher is better.
    micro_open_f_threshold: the lowest threshold with that F (with a `t_list`, the first in the list).
    micro_open_f_curve: with `t_list`, F at each of its thresholds.
    per_sample: with `per_sample`, a table: "sample" (its position in the order added, from 0), "score", "reference" and
        "decision" ("known" or "unknown") at the threshold, "outcome" ("known, right class", "known, wrong class",
        "known, called unknown", "unknown, called unknown" or "unknown, called known"), "true_class" (-1 for unknown)
        and "predicted_class".
    groups, if that column is passed: a table, {"group": [sorted names], "<key>": [one value per group], …}. A name with
        a slash, such as near/cifar100, adds a row for the part before it (near), with the mean of its groups.

Raises:
    ValueError: NaN, mismatched lengths or shapes, class ids out of range, an empty `t_list`.
    TypeError: missing columns, unknown arguments, values that are not numbers.

Examples:
    >>> import evaluate
    >>> micro_open_f = evaluate.load("metrics/micro_open_f")
    >>> columns = dict(predictions=[0, 1, 1, 0], references=[0, 1, 0, -1], open_scores=[0.1, 0.4, 0.2, 0.6])
    >>> micro_open_f.compute(**columns)
    {'micro_open_f': 0.6666666666666666, 'micro_open_f_threshold': 0.4}
    >>> micro_open_f.compute(**columns, t_list=[0.1, 0.4])["micro_open_f_curve"]
    [0.5, 0.6666666666666666]
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class MicroOpenF(Evaluated, Core, evaluate.Metric):
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
            reference_urls=["https://doi.org/10.1007/s10994-016-5610-8", "https://arxiv.org/abs/2210.13458"],
        )
