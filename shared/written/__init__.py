"""Writers of results to files, completely or not at all."""

from .hub import to_eval_results, to_model_index
from .results import flat, read_results

__all__ = [
    "flat",
    "read_results",
    "to_eval_results",
    "to_model_index",
]
