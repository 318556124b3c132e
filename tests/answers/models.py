"""Computations of several models, of which the first is shown beside the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from openworld_metrics.answers.subject import Computed
from openworld_metrics.metric.metric import Metric
from openworld_metrics.reading.reading import Reading


def first_of(metric: type[Metric], reading: Reading, options: Mapping[str, Any], photographs: Any = ()) -> Computed:
    """The computation of the first model of a reading beside those of the others."""
    options, models = {**metric.options, **options}, []
    for place, (name, columns) in enumerate(reading.models.items()):
        one = metric(**options)
        one.add_batch(**columns)
        state = one.state()  # which is cleared by the results
        own = {"place": place, "photographs": photographs}
        models.append(Computed(name, columns, state, options, one.summary(), reading, **own))
    return replace(models[0], rivals={one.model: one for one in models[1:]})
