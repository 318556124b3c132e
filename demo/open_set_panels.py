"""Draw the panels of the digits: top-k accuracy, open-set F, scores, ROC, OpenAUC."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from demo.compute import KS, Results, load
from demo.curves import correct_classification, open_set_counts, roc
from demo.digits import NUM_KNOWN
from openworld_metrics.faces.palette import light
from openworld_metrics.ranking.counts import Counts

FIRST, SECOND, EDGE, INK, KNOWN, UNKNOWN = map(light, ("d1", "d2", "edge", "ink", "known", "unknown"))
_SCORE = "open-set score: −(largest logit)"
_TPR = 0.95


def top_k(ax: Axes, results: Results) -> None:
    """Draw accuracy@k and AUTKC@k over all k; AUTKC@k is the mean of the accuracies up to k."""
    ks = np.arange(1, NUM_KNOWN + 1)
    columns = {"predictions": results.digits.logits, "references": results.digits.references}
    options = {"k_list": ks.tolist(), "ignore_unknown": True}
    accuracy, autkc = (list(load(name, **options).compute(**columns).values()) for name in ("accuracyk", "autkc"))
    ax.plot(ks, accuracy, "o-", color=FIRST, label="accuracy@k")
    ax.plot(ks, autkc, "s--", color=SECOND, label="AUTKC@k: mean of accuracy@1 … @k")
    value = results.metrics["autkc"][f"autkc@{KS[-1]}"]
    ax.plot(KS[-1], value, "o", mfc="none", mec="black", ms=14, label=f"AUTKC@{KS[-1]} = {value:.4f}")
    ax.set(xlabel="k (number of guesses)", ylabel="share of the known digits", ylim=(min(accuracy) - 0.005, 1.002))
    top_1 = results.metrics["accuracyk"]["accuracy@1"]
    ax.set_title(f"Top-k: accuracy@1 = {top_1:.4f}, AUTKC@{KS[-1]} = {value:.4f}")
    ax.legend(loc="lower right")


def open_f(ax: Axes, results: Results) -> None:
    """Draw macro and micro open-set F over every distinct threshold."""
    digits = results.digits
    columns = {"predictions": digits.logits, "references": digits.references, "open_scores": digits.open_scores}
    thresholds = np.unique(digits.open_scores)
    for name, style, marker, size, colour in (("macro", "-", "o", 14, FIRST), ("micro", "--", "s", 6, SECOND)):
        key = f"{name}_open_f"
        curve = load(key).compute(**columns, t_list=thresholds)[f"{key}_curve"]
        best, at = results.metrics[key][key], results.metrics[key][f"{key}_threshold"]
        ax.plot(thresholds, curve, style, color=colour, label=f"{name}: best {best:.4f} at {at:.4f}")
        ax.plot(at, best, marker, color=colour, mfc="none", mew=2, ms=size)
    ax.set(xlabel=f"threshold on the {_SCORE}", ylabel="open-set F", ylim=(0, 1.02))
    ax.set_title("Open-set F: known if score ≤ threshold")
    ax.legend(loc="lower right")


def histograms(ax: Axes, results: Results) -> None:
    """Draw the scores of known and unknown digits, and the threshold with 95 % of the unknown at or above it."""
    digits, unknown = results.digits, results.digits.is_unknown == 1
    bins = np.linspace(digits.open_scores.min(), digits.open_scores.max(), 41).tolist()
    for side, colour, hatch, label in ((~unknown, KNOWN, "", "known, 0–5"), (unknown, UNKNOWN, "///", "unknown, 6–9")):
        scores = digits.open_scores[side]
        ax.hist(scores, bins, color=colour, alpha=0.55, hatch=hatch, ec="white", label=f"{label} ({len(scores)})")
    threshold = _at_tpr(open_set_counts(digits))[2]
    ax.axvline(threshold, color="black", ls="--", label=f"95 % TPR threshold: {threshold:.4f}")
    fpr, accuracy = results.metrics["ood_bench"]["fpr95tpr"], results.metrics["openauc"]["open_set_accuracy@tpr95"]
    ax.set(xlabel=_SCORE, ylabel="digits per bin")
    ax.set_title(f"At 95 % TPR: FPR = {fpr:.4f}, accuracy = {accuracy:.4f}")
    ax.margins(y=0.3)  # room for the legend
    ax.legend(loc="upper left")


def roc_curve(ax: Axes, results: Results) -> None:
    """Draw the ROC of unknown against known digits, and the point at 95 % TPR."""
    counts, bench = open_set_counts(results.digits), results.metrics["ood_bench"]
    ax.plot(*roc(counts), color=FIRST, label=f"AUROC = {bench['auroc']:.4f}")
    ax.plot([0, 1], [0, 1], ":", color=EDGE, label="chance")
    ax.axhline(_TPR, color="black", lw=0.8, ls="--")
    fpr, tpr, _ = _at_tpr(counts)
    ax.plot(fpr, tpr, "o", color=INK, ms=7, label=f"TPR ≥ 0.95 at FPR = {fpr:.4f}")
    _unit_square(ax)
    ax.set(xlabel="FPR: known digits called unknown", ylabel="TPR: unknown digits called unknown")
    ax.set_title(f"ROC: AUROC = {bench['auroc']:.4f}, AUPR-out = {bench['aupr_out']:.4f}")
    ax.legend(loc="lower right")


def openauc_curve(ax: Axes, results: Results) -> None:
    """Draw the correct-classification rate over the rate of accepted unknown digits; the shaded area is OpenAUC."""
    values = results.metrics["openauc"]
    counts = open_set_counts(results.digits)
    fpr, tpr = roc(counts)
    x, y = correct_classification(results.digits)
    ax.plot(1 - tpr, 1 - fpr, ":", color="black", label=f"accepted (AUROC = {values['open_set_auroc']:.4f})")
    ax.plot(x, y, color=FIRST, label="accepted and classified correctly")
    ax.fill_between(x, y, color=FIRST, alpha=0.2, lw=0, label=f"OpenAUC = {values['openauc']:.4f}")
    accuracy = values["closed_set_accuracy"]
    ax.axhline(accuracy, color=SECOND, lw=1.2, ls="--", label=f"closed-set accuracy = {accuracy:.4f}")
    _unit_square(ax)
    ax.set(xlabel="share of the unknown digits that are accepted", ylabel="share of the known digits")
    ax.set_title(f"OpenAUC = {values['openauc']:.4f}, closed-set accuracy = {accuracy:.4f}")
    ax.legend(loc="lower right")


def _at_tpr(counts: Counts) -> tuple[float, float, float]:
    """The FPR, the TPR and the value of the highest threshold with TPR ≥ 0.95."""
    at = int(np.argmax(counts.tp / counts.num_positives >= _TPR))
    rates = counts.fp[at] / counts.num_negatives, counts.tp[at] / counts.num_positives
    return float(rates[0]), float(rates[1]), float(counts.thresholds[at])


def _unit_square(ax: Axes) -> None:
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02))
