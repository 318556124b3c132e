"""Reports: one HTML file each, of an answer, of detections, and of anomaly maps."""

from .anomaly import write_anomaly_report
from .answer import report_html
from .detection import write_report

__all__ = ["report_html", "write_anomaly_report", "write_report"]
