"""Present results as tables, figures and pages."""

from .anomaly.report import write_anomaly_report
from .detection.report import write_report
from .forest import draw_differences, draw_intervals
from .plots import draw_oscr
from ..faces.tables import make_table, render
from .samples.report import write_error_report

__all__ = [
    "draw_differences",
    "draw_intervals",
    "draw_oscr",
    "make_table",
    "render",
    "write_anomaly_report",
    "write_error_report",
    "write_report",
]
