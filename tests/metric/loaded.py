"""Load every metric and compute once, before processes are forked, so that none of them has to."""

from __future__ import annotations

import openworld_metrics
from tests import cases

for _name in openworld_metrics.METRICS:
    _columns, _options = cases.draw(_name, 3)
    openworld_metrics.load(_name).compute(**_columns, **_options)
