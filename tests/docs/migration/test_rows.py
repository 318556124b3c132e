"""Each row of docs/coming-from.md has its cells, and is run by a test or said not to be, and why."""

from __future__ import annotations

import pytest

from tests.docs.blocks import ROOT
from tests.docs.migration import test_anomaly, test_detection, test_ood, test_open_set
from tests.docs.migration.rows import ROWS, RUN

MODULES = (test_anomaly, test_detection, test_ood, test_open_set)
# rows whose numbers are checked elsewhere, by the library where it is installed, or by numbers that it printed
ELSEWHERE = {
    "oodeel `ftpn`": "tests/dropin/test_oodeel.py",
    "accuracyk `compute": "tests/metric/test_golden.py",
    "OW-DLN `OpenSetDetectionMetrics": "tests/metric/test_golden.py",
    "OW-DLN `evaluate_openset.py`": "tests/dropin/test_ow_dln.py",
    "OW-DLN `mark_low_confidence": "tests/dropin/test_ow_dln.py",
    "OWOD's `pascal_voc_evaluation.py`": "tests/detection/test_protocols.py",
    "The evaluators of OW-DETR, PROB and CAT": "tests/detection/test_average_precision.py",
    "tidecv `TIDE()": "tests/detection/test_errors.py",
    "OLN's recall": "tests/detection/test_budgets.py",
    "PyADMetric's PRO": "tests/metric/test_literals.py",
    "PyADMetric's AUROC": "tests/ranking/test_oracles.py",
    "anomalib `Evaluator": "tests/integrations/test_anomalib.py",
    "SegmentMeIfYouCan: mean sIoU": "tests/anomaly/test_components.py",
    "Real-IAD": "tests/reading/maps/test_real_iad.py",
}
# code of a paper's repository: no package that can be installed, or no licence to run it under
ONLY_READ = ("OpenDet", "UnSniffer", "VOS's", "OpenMIBOOD", "fd-shifts", "ADer", "SegmentMeIfYouCan: AP", "Fishyscapes")


@pytest.mark.parametrize("name", ROWS)
def test_a_row(name: str) -> None:
    call, why = ROWS[name]
    assert call.strip()
    assert why.strip()
    places = [RUN.get(name), *(path for start, path in ELSEWHERE.items() if name.startswith(start))]
    places += [start for start in ONLY_READ if name.startswith(start)]
    assert len([place for place in places if place]) == 1


def test_every_place_is_there() -> None:
    assert {test.rpartition(".")[0] for test in RUN.values()} == {module.__name__ for module in MODULES}
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())
    for start in (*ELSEWHERE, *ONLY_READ):
        assert len([name for name in ROWS if name.startswith(start)]) == 1, start
