"""Results of anomaly_suite as metrics for anomalib's Evaluator, exact, with pixels stored once for all.

    from anomalib.metrics import Evaluator
    from openworld_metrics.integrations.anomalib import anomaly_metrics
    metrics = anomaly_metrics("image_auroc", "pixel_fpr95tpr", "aupro@0.3", points="fpr95tpr")
    Patchcore(evaluator=Evaluator(test_metrics=metrics))

Needs anomalib ≥ 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..anomaly.anomaly_suite import AnomalySuite
from ..extras import extra
from .torchmetrics import TorchMetric, as_torchmetrics

with extra("torchmetrics"):
    import torchmetrics
with extra():
    from anomalib.metrics import AnomalibMetric

FIELDS = (
    "anomaly_map",
    "gt_mask",
    "pred_score",
    "gt_label",
)  # fields of a batch, in the order of anomaly_suite's columns


class AnomalyResult(AnomalibMetric, torchmetrics.Metric):
    """One result of anomaly_suite as a metric for anomalib's Evaluator: see `anomaly_metrics`.

    It is logged under the prefix and the key of the result.
    """

    default_fields: Sequence[str] = FIELDS
    full_state_update = False

    def __init__(
        self,
        result: str,
        store: TorchMetric | None = None,
        *,
        fields: Sequence[str] | None = None,
        prefix: str = "",
        strict: bool = True,
        **options: Any,
    ) -> None:
        """Create the metric of one result, with options, or with the store that another metric fills.

        Parameters: result, a key such as "aupro@0.3"; store, of another metric; fields, names in a batch in the order
        of the metric's columns; prefix of the name; strict, whether a batch without a field is an error or is left out;
        options of `AnomalySuite`.
        """
        super().__init__(fields=fields, prefix=prefix, strict=strict)
        self.name = prefix + result
        self.result = result
        self.fills = store is None
        self.store = as_torchmetrics(AnomalySuite(**options)) if store is None else store

    def update(self, batch: Any) -> None:
        """Add a batch of anomalib, unless another metric fills the store. Raises ValueError for a missing field."""
        missing = [name for name in self.fields if getattr(batch, name, None) is None]
        if missing and self.strict:
            raise ValueError(f"{missing[0]}: expected a batch with {', '.join(self.fields)}, got no such field")
        if self.fills and not missing:
            values = [_without_channel(getattr(batch, name)) for name in self.fields]
            self.store.update(*(value.cpu() for value in values) if self.compute_on_cpu else values)

    def compute(self) -> Any:
        """The result over all batches, a float64 tensor, or None if nothing was added and strict is False.

        Raises the metric's errors, and KeyError for an unknown result.
        """
        if not self.strict and not len(self.store.metric):
            return None
        results = self.store.compute()
        if self.result not in results:
            raise KeyError(f"result: expected one of {', '.join(results)}, got {self.result!r}")
        return results[self.result]

    def reset(self) -> None:
        """Drop the batches added so far."""
        super().reset()
        if self.fills:
            self.store.reset()


def _without_channel(value: Any) -> Any:
    """Drop the channel that some models add: (N, 1, H, W) becomes (N, H, W), and (N, 1) becomes (N,)."""
    return value.squeeze(1) if value.ndim in (2, 4) and value.shape[1] == 1 else value


def anomaly_metrics(
    *results: str, prefix: str = "", fields: Sequence[str] | None = None, strict: bool = True, **options: Any
) -> list[AnomalyResult]:
    """A metric for each result of anomaly_suite; they share their pixels, so pass all of them to one Evaluator.

    Parameters: results, keys such as "image_auroc" and "aupro@0.3"; prefix of the logged names; fields of a batch
    (predictions, references, image_scores, image_labels), by default anomaly_map, gt_mask, pred_score, gt_label;
    strict, whether a batch without a field is an error; options of `AnomalySuite`, such as points="fpr95tpr".
    Returns a list of `AnomalyResult`. Raises ValueError for no results.

    Anomalib's post-processor rescales scores and clips them to [0, 1], which creates ties: give the model
    PostProcessor(enable_normalization=False) to evaluate the original scores.
    """
    if not results:
        raise ValueError("results: expected the keys of results, such as 'image_auroc', got none")
    settings: dict[str, Any] = {"prefix": prefix, "fields": fields, "strict": strict}
    first = AnomalyResult(results[0], **settings, **options)
    return [first, *(AnomalyResult(result, first.store, **settings) for result in results[1:])]
