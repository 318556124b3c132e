"""Two metrics that share a page, with a switch between them."""

from __future__ import annotations

from collections.abc import Mapping

PAIRS: Mapping[str, Mapping[str, str]] = {  # the words of each, below those of the switch
    "Each class counts the same, or each sample": {"macro_open_f": "each class", "micro_open_f": "each sample"},
    "Among the k best, or how high": {"accuracyk": "among the k best", "autkc": "how high among them"},
}


def siblings(metric: str) -> Mapping[str, str]:
    """The metrics of a page, and the words of each; one without words where the page has no switch.

    >>> [*siblings("autkc")], siblings("openauc")
    (['accuracyk', 'autkc'], {'openauc': ''})
    """
    return next((names for names in PAIRS.values() if metric in names), {metric: ""})
