"""Anomaly maps: anomalib of several versions, and adeval."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from tests.docs.migration.rows import row

MASKS = np.zeros((2, 8, 8), dtype=int)
MASKS[0, 2:5, 2:5] = 1


@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_a_perfect_binary_map(shift: float) -> None:
    """Up to 2.2, anomalib gave 0.5 for it, and NaN for one that is shifted by 30."""
    assert om.AnomalySuite().compute(predictions=MASKS + shift, references=MASKS)["aupro@0.3"] == 1.0


def installed() -> tuple[int, ...]:
    """The version of anomalib, as (2, 7)."""
    return tuple(map(int, version("anomalib").split(".")[:2]))


def theirs(module: str, name: str, maps: Any, masks: Any, **options: float) -> float:
    """What a metric of anomalib says of maps and masks."""
    torch = pytest.importorskip("torch")
    metric = getattr(pytest.importorskip(f"anomalib.metrics.{module}"), name)(**options)
    metric.update(torch.as_tensor(maps, dtype=torch.float32), torch.as_tensor(masks))
    return float(metric.compute())


@row("anomalib ≤ 2.2 `AUPRO", "anomalib ≥ 2.3 `AUPRO")
@pytest.mark.filterwarnings("ignore")
def test_aupro_of_anomalib() -> None:
    maps = np.random.default_rng(0).random((2, 8, 8), dtype=np.float32)
    exact = om.AnomalySuite().compute(predictions=maps, references=MASKS)["aupro@0.3"]
    binary, shifted = (theirs("aupro", "_AUPRO", MASKS + shift, MASKS, fpr_limit=0.3) for shift in (0, 30))
    if installed() <= (2, 2):
        assert binary == 0.5
        assert np.isnan(shifted)
    else:
        assert (binary, shifted) == (1.0, 1.0)
        assert theirs("aupro", "_AUPRO", maps, MASKS, fpr_limit=0.3) == pytest.approx(exact, abs=1e-5)


@row("anomalib 2.7 `AUPR`", "anomalib ≤ 2.6 `AUPR`")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("levels", [5, 1000])
def test_aupr_of_anomalib(levels: int) -> None:
    rng = np.random.default_rng(0)
    maps = np.round(rng.random((3, 8, 8)) * levels) / levels
    masks = (rng.random((3, 8, 8)) < 0.2).astype(int)
    area = theirs("aupr", "_AUPR", maps, masks)
    results = om.AnomalySuite(levels="pixel").compute(predictions=maps, references=masks)
    if installed() >= (2, 7):
        assert area == pytest.approx(results["pixel_ap"], abs=1e-6)
    elif levels == 5:
        assert area == pytest.approx(results["pixel_aupr"], abs=1e-6)
    else:
        assert 0.01 < area - results["pixel_aupr"] < 0.02


@row("anomalib `PGn`")
@pytest.mark.filterwarnings("ignore")
def test_pg_and_pb_of_anomalib() -> None:
    scores, labels = np.asarray([0.2, 0.4, 0.6, 0.8, 0.1, 0.3, 0.5, 0.25]), np.repeat([1, 0], 4)
    suite = om.AnomalySuite(levels="image", points=["tnr80tpr", "tpr20fpr"])
    results = suite.compute(predictions=scores[:, None, None], references=labels[:, None, None])
    assert (results["image_tnr80tpr"], results["image_tpr20fpr"]) == (0.25, 0.5)
    assert theirs("pg_pb", "_PGn", scores, labels, fnr=0.2) == 0.75
    assert theirs("pg_pb", "_PBn", scores, labels, fpr=0.2) == 0.75


@row("adeval `auroc_aupr_aupro")
def test_adeval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "trapz", np.trapezoid, raising=False)  # the name that it uses, which NumPy 2.4 took away
    adeval = pytest.importorskip("adeval", exc_type=ImportError)
    masks = np.zeros((3, 16, 16), np.uint8)
    masks[0, 2:6, 2:6] = masks[1, 8:10, 3:9] = 1
    maps = np.random.default_rng(0).random((3, 16, 16)) + 0.5 * masks

    def both(maps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        results = om.AnomalySuite().compute(predictions=maps, references=masks)
        keys = ("pixel_auroc", "pixel_aupr", "aupro@0.3")
        theirs = adeval.auroc_aupr_aupro([*maps], [*masks])
        return np.asarray([results[key] for key in keys]), np.asarray(theirs, dtype=float)

    exact, theirs = both(maps)
    assert np.abs(exact - theirs).max() < 0.05
    maps[2, 15, 15] = 1000  # one bright pixel of a normal image
    brighter, moved = both(maps)
    assert abs(brighter[0] - exact[0]) < 0.001
    assert abs(moved[0] - theirs[0]) > 0.1
