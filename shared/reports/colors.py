"""The light colours of pages, for figures on white paper: each stands for a class of samples or a detector."""

from __future__ import annotations

INK, QUIET, LINE, EDGE = "#18181b", "#52525b", "#e4e4e7", "#85858f"  # text, text beside it, grids, axes
KNOWN, UNKNOWN = "#0072b2", "#d55e00"
DETECTORS = ("#7a3e9d", "#00866b", "#a87400", INK, EDGE)  # in the order of the file
DETECTOR = DETECTORS[0]
