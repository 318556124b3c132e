"""Other libraries of evaluation and training: Trainer, torchmetrics, and evaluate's combined metrics and evaluators."""

from __future__ import annotations

from .training import compute_metrics

__all__ = ["compute_metrics"]
