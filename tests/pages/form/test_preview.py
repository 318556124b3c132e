"""The preview of data: the role of each column, said once for neighbours of one role."""

from __future__ import annotations

import importlib
import re

import numpy as np

from openworld_metrics.pages.form import preview
from openworld_metrics.reading.tables.files import Table


def test_neighbours_of_one_role_have_one_chip() -> None:
    page = importlib.import_module("openworld_metrics.pages.metrics.ood_bench").PAGE
    names = ("msp", "energy", "label", "a", "b")
    roles = {"msp": ["score"], "energy": ["score"], "label": ["references: 1 of 2 are 1"]}
    shown = preview._source_html(page, 0, Table({name: np.zeros(2) for name in names}), roles, rows=True)
    chips = re.findall(r'<th colspan="(\d)"><span class="[^"]+">([^<]*)<', shown)
    assert chips == [("2", "score"), ("1", "references: 1 of 2 are 1"), ("2", "not used")]
    assert re.findall(r'<th scope="col">([^<]+)', shown) == [*names]
