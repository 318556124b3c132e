"""The page of each metric, as data."""

from __future__ import annotations

from importlib import import_module

from ...loading import metric_class
from ..page import Page


def page_of(metric: str) -> Page:
    """The `Page` of a metric. Raises ValueError for an unknown name."""
    metric_class(metric)
    page: Page = import_module(f".{metric}", __package__).PAGE
    return page
