"""The colours of boxes by what became of them, in pictures and on pages."""

from __future__ import annotations

from ..detection.words import (
    CALLED_UNKNOWN,
    CALLED_UNKNOWN_RIGHTLY,
    IGNORED,
    LEFT_OUT,
    MISSED,
    NO_OBJECT,
    RIGHT,
    TAKEN_FOR_KNOWN,
    WRONG_CLASS,
)

# told apart by people who do not see red and green, too: Okabe and Ito's colours
OUTCOME_COLORS = {
    RIGHT: "#009e73",
    CALLED_UNKNOWN_RIGHTLY: "#0072b2",
    WRONG_CLASS: "#e69f00",
    CALLED_UNKNOWN: "#f0e442",
    TAKEN_FOR_KNOWN: "#cc79a7",
    MISSED: "#d55e00",
    NO_OBJECT: "#999999",
    IGNORED: "#666666",
    LEFT_OUT: "#56b4e9",
}
