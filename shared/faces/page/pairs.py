"""Two metrics that share a page, with a switch between them."""

from __future__ import annotations

from collections.abc import Mapping

from ...answers.subject import subject_of
from ...loading import METRICS


def siblings(metric: str) -> Mapping[str, str]:
    """The metrics of a page, and the words of each; one without words where the page has no switch.

    >>> [*siblings("autkc")], siblings("openauc")
    (['accuracyk', 'autkc'], {'openauc': ''})
    """
    switch, _ = subject_of(metric).form.switch
    if not switch:
        return {metric: ""}
    forms = {name: subject_of(name).form for name in METRICS}
    return {name: form.switch[1] for name, form in forms.items() if form.switch[0] == switch}
