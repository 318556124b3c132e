"""Results to look at: pictures and pages."""

from .anomaly import write_anomaly_report
from .detection import write_report

__all__ = ["write_anomaly_report", "write_report"]
