"""Results to look at: tables, pictures and pages."""

from .anomaly import write_anomaly_report
from .detection import write_report
from .errors import write_error_report
from .rendering import render
from .tables import make_table

__all__ = ["make_table", "render", "write_anomaly_report", "write_error_report", "write_report"]
