"""Adapters for Trainer, torchmetrics, anomalib, and evaluate's combined metrics and evaluators."""

from __future__ import annotations

from .training import compute_metrics

__all__ = ["compute_metrics"]
