"""evaluate's combine and evaluator, datasets, torchmetrics, Trainer, torchrun."""
