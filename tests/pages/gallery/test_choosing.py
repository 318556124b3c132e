"""Three questions lead to a metric."""

from __future__ import annotations

from openworld_metrics import METRICS
from openworld_metrics.pages.gallery import choosing


def test_three_questions_lead_to_every_metric() -> None:
    """And to nothing else."""
    reached = {choosing.suggestion(says, None, None) for says in (choosing.SCORE, choosing.BOXES, choosing.MAPS)}
    for unknown in (choosing.YES, choosing.NO):
        second, sums = choosing.questions(choosing.CLASSES, unknown)
        assert second
        reached |= {choosing.suggestion(choosing.CLASSES, unknown, answer) for answer in sums}
    assert reached == set(METRICS)
