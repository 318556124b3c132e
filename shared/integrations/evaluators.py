"""Evaluators of Hugging Face evaluate that pass metrics full rows of scores, not only the best label.

`evaluate.evaluator` gives a metric one label for each sample, which top-k and open-set metrics cannot use. The
evaluators here ask the pipeline for every score and build the columns of this collection's metrics. They take a model
object or a pipeline (with transformers 5, evaluate 0.4.6 itself does not), and bootstrap whole rows.

    from openworld_metrics.integrations.evaluators import evaluator
    evaluator("image-classification").compute(model, data, metric=openauc, feature_extractor=processor)

Needs transformers and torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..extras import extra
from ..scores import score_function

with extra("evaluate"):
    from evaluate.evaluator import Evaluator, ImageClassificationEvaluator, TextClassificationEvaluator
with extra("transformers"):
    import transformers


class _ScoreRows(Evaluator):
    """Mixin for evaluators that pass full rows of scores; it must be the first base."""

    score: Callable[[np.ndarray], Any] = staticmethod(lambda rows: 1 - rows.max(axis=1))
    processor = "feature_extractor"  # the argument of transformers.pipeline
    _classes: Mapping[str, int] | None = None
    _metric: Any = None

    def prepare_pipeline(
        self, model_or_pipeline: Any, tokenizer: Any = None, feature_extractor: Any = None, device: int | None = None
    ) -> Any:
        """Build a pipeline from a model object or name; a pipeline is returned unchanged."""
        pipe = model_or_pipeline
        if pipe is None or isinstance(pipe, (str, transformers.PreTrainedModel)):
            parts = {"tokenizer": tokenizer, self.processor: feature_extractor}
            device = self._infer_device() if device is None else device
            supplied = {name: part for name, part in parts.items() if part is not None}
            pipe = transformers.pipeline(self.task, model=pipe, device=device, **supplied)
        if pipe.task != self.task:
            raise ValueError(f"model_or_pipeline: expected a pipeline for {self.task}, got one for {pipe.task}")
        self._classes = pipe.model.config.label2id
        return pipe

    def prepare_metric(self, metric: Any) -> Any:
        """Load the metric, whose aliases say whether its predictions are scores."""
        self._metric = super().prepare_metric(metric)
        return self._metric

    def predictions_processor(self, predictions: Any, label_mapping: Mapping[str, int] | None) -> dict[str, Any]:
        """Columns from the pipeline's output; for ood_bench, which takes no other predictions, the open-set scores."""
        rows = _rows(predictions, self._classes if label_mapping is None else label_mapping)
        if getattr(self._metric, "aliases", {}).get("scores") == "predictions":
            return {"predictions": self.score(rows)}
        return {"predictions": rows, "open_scores": self.score(rows)}

    @staticmethod
    def _compute_confidence_interval(
        metric: Any,
        metric_inputs: Mapping[str, Any],
        metric_keys: Any,
        confidence_level: float = 0.95,
        n_resamples: int = 9999,
        random_state: int | None = None,
    ) -> dict[str, Any]:
        """As in evaluate, but with resampled indices of samples, since SciPy would transpose the rows of scores.

        Results that are lists, such as a curve, get no interval.
        """
        from scipy.stats import bootstrap

        inputs = {name: np.asarray(column) for name, column in metric_inputs.items()}
        samples = np.arange(len(inputs["references"]))
        intervals: dict[str, Any] = {key: {} for key in metric_keys}
        for key in (key for key, value in metric.compute(**inputs).items() if not isinstance(value, list)):
            interval = bootstrap(
                (samples,),
                lambda chosen, key=key: metric.compute(**{name: x[chosen] for name, x in inputs.items()})[key],
                vectorized=False,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                random_state=random_state,
            )
            low, high = interval.confidence_interval
            intervals[key] = {
                "confidence_interval": (float(low), float(high)),
                "standard_error": float(interval.standard_error),
            }
        return intervals


class ImageScores(_ScoreRows, ImageClassificationEvaluator):
    """`evaluate.evaluator("image-classification")` with full rows of scores."""

    PIPELINE_KWARGS = {"top_k": None}
    processor = "image_processor"


class TextScores(_ScoreRows, TextClassificationEvaluator):
    """`evaluate.evaluator("text-classification")` with full rows of scores."""

    PIPELINE_KWARGS = {"top_k": None, "truncation": True}


_EVALUATORS: dict[str, type[_ScoreRows]] = {"image-classification": ImageScores, "text-classification": TextScores}


def evaluator(task: str, *, scores: str | None = None) -> Any:
    """Return an evaluator that passes its metric full rows of scores, and open-set scores.

    Parameters: task, "image-classification" or "text-classification"; scores, the name of one of
    `openworld_metrics.scores`, such as "energy", that computes the open-set scores from logits, which the pipeline then
    returns without softmax, as `predictions`. By default predictions are class probabilities, and open-set scores
    1 − the highest of each (Hendrycks and Gimpel, ICLR 2017, reversed so that higher is more unknown). Metrics without
    open-set scores ignore them; ood_bench, which takes scores alone, gets them as its predictions.
    Returns an `evaluate.Evaluator`. Raises ValueError for another task or score.
    """
    if task not in _EVALUATORS:
        raise ValueError(f"task: expected one of {', '.join(_EVALUATORS)}, got {task!r}")
    chosen = _EVALUATORS[task](task)
    if scores is not None:
        chosen.score = score_function(scores)
        chosen.PIPELINE_KWARGS = {**chosen.PIPELINE_KWARGS, "function_to_apply": "none"}
    return chosen


def _rows(predictions: Any, classes: Mapping[str, int] | None) -> np.ndarray:
    """(N, C) scores in the order of the classes, from lists of labels and scores in any order."""
    if classes is None or sorted(classes.values()) != list(range(len(classes))):
        raise ValueError(f"label_mapping: expected labels for the class ids 0 to C − 1, got {classes}")
    rows = np.full((len(predictions), len(classes)), np.nan)
    for row, scores in zip(rows, predictions):
        for item in scores:
            row[classes[item["label"]]] = item["score"]
    return rows
