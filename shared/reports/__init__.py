"""Results to look at: pictures and pages."""

from .detection import write_report

__all__ = ["write_report"]
