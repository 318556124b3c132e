"""Fit thresholds to scores of validation samples, with their guarantees."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ..arrays.checks import as_open_share, as_scores
from ..ood.ood_bench import OODBench
from ..ranking.guarantees import threshold_at_fpr
from ..ranking.quantities import percent
from ..written.thresholds import FittedThreshold

SAMPLES = "samples"


def fit_fpr_threshold(
    known: Any, fpr: float, confidence_level: float | None, files: Mapping[str, str]
) -> FittedThreshold:
    """The lowest threshold that at most a share `fpr` of known samples exceeds: of these, or of new ones.

    Parameters: known (N,), higher is more unknown; fpr in (0, 1); confidence_level in (0, 1) for new samples, or None;
    files, the sources of the scores. Raises the errors of `threshold_at_fpr`.
    """
    fpr = as_open_share(fpr, "fpr")
    threshold = threshold_at_fpr(known, fpr, confidence_level)
    new, certain = "these", ""
    if confidence_level is not None:
        new, certain = "new", f", with {percent(confidence_level)} % confidence"
    return FittedThreshold(
        of=(SAMPLES,),
        rule=f"fpr:{fpr!r}" + ("" if confidence_level is None else f"@{confidence_level!r}"),
        promise=f"At most {percent(fpr)} % of {new} known samples exceed the threshold{certain}.",
        threshold=threshold,
        fitted_on={**files, "known_samples": len(known)},
    )


def fit_tpr_threshold(known: Any, unknown: Any, tpr: float, files: Mapping[str, str]) -> FittedThreshold:
    """The threshold of the lowest FPR at which at least a share `tpr` of these unknown samples exceeds it.

    Parameters: known (N,) and unknown (M,), higher is more unknown; tpr in (0, 1); files, the sources of the scores.
    """
    tpr = as_open_share(tpr, "tpr")
    name = f"fpr{Decimal(repr(tpr)) * 100:f}tpr"
    known, unknown = as_scores(known, "known"), as_scores(unknown, "unknown")
    fitted = OODBench(metrics=name, thresholds=True).compute(predictions=(known, unknown))
    return FittedThreshold(
        of=(SAMPLES,),
        rule=f"tpr:{tpr!r}",
        promise=f"At least {percent(tpr)} % of these unknown samples exceed the threshold.",
        threshold=fitted[f"{name}_threshold"],
        fitted_on={**files, "known_samples": len(known), "unknown_samples": len(unknown)},
    )
