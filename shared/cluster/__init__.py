"""A metric over a data set that many machines read."""

from .parquet import compute_parquet

__all__ = ["compute_parquet"]
