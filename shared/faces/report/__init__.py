"""Reports: one HTML file each, of an answer, of detections, of anomaly maps, and of single samples."""

from .anomaly import write_anomaly_report
from .answer import report_html
from .detection import write_report
from .samples import write_error_report

__all__ = ["report_html", "write_anomaly_report", "write_error_report", "write_report"]
