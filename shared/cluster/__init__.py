"""Compute metrics in data engines or on many machines."""

from ..metric.states import pack, unpack
from .aggregates import beam_combine, ray_aggregate
from .batches import reduce_batches
from .parquet import compute_parquet

__all__ = ["beam_combine", "compute_parquet", "pack", "ray_aggregate", "reduce_batches", "unpack"]
