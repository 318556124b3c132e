"""evaluate's combine and evaluator, datasets, torchmetrics, Trainer, torchrun."""

from importlib.util import find_spec

HAS_ANOMALIB = all(map(find_spec, ("anomalib", "omegaconf")))  # `make bench` installs it without what it needs
