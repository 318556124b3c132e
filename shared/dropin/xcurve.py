"""XCurve's metrics: `from XCurve.Metrics import …` becomes `from openworld_metrics.dropin.xcurve import …`.

Ties, K = C, large scores and TPRs between two samples are exact here; docs/coming-from.md lists the differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.arrays import array_namespace, is_torch_array
from ..arrays.checks import as_bool, as_fraction, as_int_list, as_numbers
from ..classification.ranks import topk_scores_state
from ..classification.topk import accuracy, known_ranks, mean_hits
from ..open_set.open_f_metrics import MacroOpenF, MicroOpenF, OpenF
from ..open_set.openauc import DEFAULT_TPR, OpenAUC as _OpenAUC, accuracy_of_sides, score_at_tpr
from ..ranking.auroc import AUROC as _AUROC
from .labelled_scores import both_sides, labelled_value


def TopkAcc(y_pred: Any, y_true: Any, k_list: Sequence[int] = (1,)) -> list[Any]:
    """Top-k accuracy in percent, for each k of a list.

    Parameters: y_pred (N, C) scores, higher is more likely; y_true (N,) class ids; k_list in [1, C].
    Returns a list of tensors of no dimension if y_pred is a tensor, else of floats.
    Raises ValueError for NaN, class ids and ks out of range, lengths that differ.

    >>> TopkAcc([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], [1, 1], (1, 2))
    [50.0, 100.0]
    """
    return _mean_hits(y_pred, y_true, k_list, from_first=False)


def AUTKC(y_pred: Any, y_true: Any, k_list: Sequence[int] = (1,)) -> list[Any]:
    """Area under the top-k curve in percent, for each K of a list: the mean of the top-1 to top-K accuracies.

    Parameters, returns and raises as of `TopkAcc`.

    >>> AUTKC([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], [1, 1], (1, 2))
    [50.0, 75.0]
    """
    return _mean_hits(y_pred, y_true, k_list, from_first=True)


def _mean_hits(y_pred: Any, y_true: Any, k_list: Any, *, from_first: bool) -> list[Any]:
    state = topk_scores_state(y_pred, y_true, ignore_unknown=False)
    ranks = known_ranks(state)
    ks = as_int_list(k_list, "k_list", 1, int(state["predictions_width"]))
    spans = [range(1 if from_first else k, k + 1) for k in ks]
    values = [mean_hits(ranks.above, ranks.tied, span, ties="strict", one=100, counts=None) for span in spans]
    if not is_torch_array(y_pred):
        return values
    xp = array_namespace(y_pred)
    return [xp.asarray(value, dtype=xp.float64, device=y_pred.device) for value in values]


def MacroF(
    close_pred: Any, close_labels: Any, open_pred: Any, open_labels: Any, t_list: Any, *, as_printed: bool = False
) -> list[float]:
    """Open-set F-score of the precision and recall averaged over the known classes, at each of t_list.

    Parameters: close_pred (N, C) scores of the known classes; close_labels (N,) class ids; open_pred (N,), higher is
    more unknown; open_labels (N,) 1 for unknown; t_list, a sample is accepted as known iff its score ≤ t; as_printed:
    XCurve's code has the formulas of its two F-scores swapped, and True gives its number, that of `MicroF`.
    Returns a list of floats. Raises ValueError and TypeError as `MacroOpenF` does.

    >>> scores, labels = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]], [0, 1, 0]
    >>> MacroF(scores, labels, [0.1, 0.2, 0.9], [0, 0, 1], [0.1, 0.5])
    [0.5, 1.0]
    """
    columns = close_pred, close_labels, open_pred, open_labels, t_list
    return _open_f(MicroOpenF if as_bool(as_printed, "as_printed") else MacroOpenF, *columns)


def MicroF(
    close_pred: Any, close_labels: Any, open_pred: Any, open_labels: Any, t_list: Any, *, as_printed: bool = False
) -> list[float]:
    """Open-set F-score of the counts pooled over the known classes, at each of t_list.

    Parameters, returns and raises as of `MacroF`; as_printed=True gives the number of XCurve's code, that of `MacroF`.

    >>> scores, labels = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]], [0, 1, 0]
    >>> MicroF(scores, labels, [0.1, 0.2, 0.9], [0, 0, 1], [0.2, 1.0])
    [1.0, 0.8]
    """
    columns = close_pred, close_labels, open_pred, open_labels, t_list
    return _open_f(MacroOpenF if as_bool(as_printed, "as_printed") else MicroOpenF, *columns)


def _open_f(kind: type[OpenF], predictions: Any, references: Any, scores: Any, labels: Any, t_list: Any) -> list[float]:
    metric = kind(t_list=t_list)
    curve: list[float] = metric.compute(
        predictions=predictions, references=references, open_scores=scores, open_labels=labels
    )[f"{kind.name}_curve"]
    return curve


def ClosedSetAcc(preds: Any, labels: Any) -> float:
    """Accuracy of the highest score, in [0, 1].

    Parameters: preds (N, C) scores; labels (N,) class ids. Raises ValueError as `TopkAcc` does.

    >>> ClosedSetAcc([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], [1, 1])
    0.5
    """
    return accuracy(known_ranks(topk_scores_state(preds, labels, ignore_unknown=False)).correct)


def Acc_At_TPR(open_set_preds: Any, open_set_labels: Any, r: float = DEFAULT_TPR) -> float:
    """Accuracy of unknown against known at the highest threshold with a TPR of at least r; see `accuracy_at_tpr`.

    Parameters: open_set_preds (N,), higher is more unknown; open_set_labels (N,) 1 for unknown, 0 for known; r in
    (0, 1]. Returns a float in [0, 1]. Raises ValueError for an r out of range, other labels and a missing class.

    >>> Acc_At_TPR([0.9, 0.4, 0.6, 0.1], [1, 1, 0, 0])
    0.75
    """
    unknown, known = both_sides(open_set_preds=open_set_preds, open_set_labels=open_set_labels)
    return accuracy_of_sides(unknown, (known,), score_at_tpr(unknown, as_fraction(r, "r")))


_PAIRS = (("y_pred", "y_true"), ("open_set_preds", "open_set_labels"))


def AUROC(*arrays: Any, **named: Any) -> float:
    """Area under the ROC curve of unknown against known, ties counting half.

    Parameters: scores (N,), higher is more unknown, as y_pred or open_set_preds; labels (N,), 1 for unknown and 0 for
    known, as y_true or open_set_labels. By position in either order, since XCurve's guide has the scores first and its
    code the labels: the labels are the array of only 0 and 1.
    Returns a float in [0, 1]. Raises ValueError for other labels, a missing class, and if both arrays, by position, are
    of only 0 and 1; TypeError for other arguments.

    >>> AUROC(y_true=[0, 1, 1], y_pred=[0.2, 0.1, 0.9]), AUROC([0.2, 0.1, 0.9], [0, 1, 1])
    (0.5, 0.5)
    """
    if len(arrays) == 2 and not named:
        named = dict(zip(_PAIRS[0], _scores_first(*arrays)))
    names = next((names for names in _PAIRS if {*names} == {*named}), None)
    if names is None or len(arrays) == 1:
        got = ", ".join([*(["by position"] * len(arrays)), *named]) or "none"
        raise TypeError(f"AUROC: expected y_true and y_pred, or open_set_preds and open_set_labels; got {got}")
    return float(labelled_value(_AUROC, **{name: named[name] for name in names}))


def _scores_first(first: Any, second: Any) -> tuple[Any, Any]:
    flags = [_are_flags(as_numbers(array, f"argument {place}")) for place, array in enumerate((first, second), start=1)]
    if all(flags):
        raise ValueError("AUROC: expected scores and labels by name, y_pred=…, y_true=…; got two arrays of 0 and 1")
    return (second, first) if flags[0] else (first, second)


def _are_flags(numbers: Any) -> bool:
    return bool(((numbers == 0) | (numbers == 1)).all())


def OpenAUC(
    open_set_pred_known: Any, open_set_pred_unknown: Any, close_set_pred_class: Any, close_set_labels: Any
) -> float:
    """OpenAUC: the probability that a known sample is classified correctly and ranked below an unknown one.

    Parameters: open_set_pred_known (N_k,) and open_set_pred_unknown (N_u,), higher is more unknown;
    close_set_pred_class and close_set_labels (N_k,) class ids. Returns a float in [0, 1]. Raises ValueError as
    the metric does.

    >>> OpenAUC([0.1, 0.4], [0.4, 0.9], [0, 1], [0, 1])
    0.875
    """
    value: float = _OpenAUC().compute(
        open_set_pred_known=open_set_pred_known,
        open_set_pred_unknown=open_set_pred_unknown,
        close_set_pred_class=close_set_pred_class,
        close_set_labels=close_set_labels,
    )["openauc"]
    return value
