"""Lists of defects with their saturation, as MVTec LOCO AD has them."""

from __future__ import annotations

import json
from pathlib import Path

from openworld_metrics.reading.maps.masks import Saturation, read_defects_config


def test_a_list_of_defects(tmp_path: Path) -> None:
    keys = ("pixel_value", "saturation_threshold", "relative_saturation")
    entries = [dict(zip(keys, values)) for values in ((1, 20, False), (255, 1, True), (7, 0.5, True), (1, 20, False))]
    (tmp_path / "x.json").write_text(json.dumps([*entries[:2], {"defect_name": "a", **entries[2]}, entries[3]]))
    saturations = read_defects_config(tmp_path / "x.json")
    assert saturations == {1: Saturation(20, False), 255: Saturation(1, True), 7: Saturation(0.5, True)}
    assert [one.area(7) for one in saturations.values()] == [20, 7, 3]
