"""A column of counts on the pages: the numbers, pictures and curves are those of the rows repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import METRICS
from openworld_metrics.loading import metric_class
from openworld_metrics.pages.serving import costs
from openworld_metrics.reading.limits import RefusedError
from openworld_metrics.reading.rows.metrics import LAYOUTS
from openworld_metrics.reading.rows.recognised import wrong_way
from tests.pages.data.test_several import Load, called, runner_of, show
from tests.pages.steps import numbers

COUNTED = [name for name in METRICS if "counts" in metric_class(name).columns]


def table(name: str) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    classes = rng.integers(0, 3, 40)
    columns: dict[str, Any] = {f"class {i}": rng.normal(i == classes, size=40).round(2) for i in range(3)}
    if name == "ood_bench":
        columns = {"scores": rng.normal(classes == 2, size=40).round(1), "labels": (classes == 2).astype(int)}
    elif name in ("accuracyk", "autkc"):
        columns["references"] = classes
    else:
        columns |= {
            "references": np.where(classes == 2, -1, classes),
            "open_scores": rng.normal(classes == 2, size=40).round(1),
        }
    return pd.DataFrame({**columns, "count": rng.integers(0, 4, 40)})


@pytest.mark.parametrize("name", COUNTED)
def test_a_file_with_counts(name: str, load: Load, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = table(name)
    rows.to_csv("counted.csv", index=False)
    rows.loc[np.repeat(rows.index, rows["count"])].drop(columns="count").to_csv("repeated.csv", index=False)
    found, expected = (show(runner_of(name, root), [[f"{kind}.csv"]]) for kind in ("counted", "repeated"))
    assert numbers(found.json) == numbers(expected.json) == called(found.call, root)
    assert '"counts": ["count"]' in found.call
    assert [figure.to_json() for figure in found.figures] == [figure.to_json() for figure in expected.figures]


def test_a_column_is_not_taken_for_counts_unless_it_says_so(root: Path, tmp_path: Path) -> None:
    rows = table("ood_bench").rename(columns={"count": "discounts"})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    found = runner_of("ood_bench", root)
    assert "counts" not in show(found, [[str(tmp_path / "rows.csv")]]).call


def test_the_sign_of_scores_is_judged_with_counts() -> None:
    layout, columns = LAYOUTS["ood_bench"], {"predictions": [0.9, 0.1, 0.5], "references": [0, 0, 1]}
    assert wrong_way(layout, {**columns, "counts": [30, 10, 10]}) == 0.25
    assert wrong_way(layout, {**columns, "counts": [3, 1, 1]}) is None, "by chance too"
    assert wrong_way(layout, {**columns, "counts": [0, 10, 10]}) is None


def test_too_many_samples_by_their_counts(root: Path) -> None:
    columns = {"predictions": [0.1, 0.9], "references": [0, 1], "counts": [1, costs.MAX_COUNTED]}
    with pytest.raises(RefusedError, match="pages take at most 20,000,000 samples by their counts, not 20,000,001"):
        runner_of("ood_bench", root).results(columns, {})
