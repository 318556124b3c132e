"""Results to look at: tables, pictures and pages."""

from .detection import write_report
from .rendering import render
from .tables import make_table

__all__ = ["make_table", "render", "write_report"]
