"""NumPy is its own namespace; array-api-compat is asked about other arrays only, and what is missing is named."""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from openworld_metrics.arrays import arrays
from tests.package.rooms import KERNEL, MODULES, dotted, room

FILES = [file for file in MODULES.values() if room(dotted(file)) in KERNEL] + [MODULES["scores"]]


_VERSION = tuple(map(int, np.__version__.split(".")[:2]))


def without(library: str) -> str:
    """Code after which a library cannot be imported."""
    return f"import sys; sys.modules[{library!r}] = None\n"


def run(code: str, root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)


def test_numpy_is_its_own_namespace() -> None:
    assert arrays.array_namespace(np.zeros(1), np.float32(1)) is arrays.NUMPY
    assert (arrays.NUMPY is np) == (_VERSION >= (2, 1))


@pytest.mark.skipif(_VERSION < (2, 1), reason="array-api-compat adds what this NumPy lacks")
def test_no_numpy_caller_needs_array_api_compat(root: Path) -> None:
    code = without("array_api_compat") + (
        "from tests import cases\n"
        "from openworld_metrics.loading import METRICS, metric_class\n"
        "for name in METRICS:\n"
        "    for seed in range(4):\n"
        "        columns, options = cases.draw(name, seed)\n"
        "        for form in (columns, {key: cases.as_lists(column) for key, column in columns.items()}):\n"
        "            metric = metric_class(name)(**options)\n"
        "            metric.add_batch(**form)\n"
        "            metric.compute(confidence_level=0.9, n_resamples=3)\n"
    )
    done = run(code, root)
    assert done.returncode == 0, done.stderr


def test_what_is_missing_is_named(root: Path) -> None:
    code = without("scipy") + (
        "import numpy as np, openworld_metrics\n"
        "maps = np.arange(8.0).reshape(2, 2, 2)\n"
        "openworld_metrics.AnomalySuite().compute(predictions=maps, references=maps > 5)\n"
    )
    done = run(code, root)
    assert done.stderr.splitlines()[-1] == "ImportError: expected scipy to be installed, got none: pip install scipy"


def test_other_arrays_need_array_api_compat(root: Path) -> None:
    pytest.importorskip("torch")
    code = without("array_api_compat") + (
        "import torch, openworld_metrics\n"
        "scores = torch.tensor([[0.1, 0.9]]).bfloat16()\n"
        "openworld_metrics.AccuracyK().compute(predictions=scores, references=torch.tensor([1]))\n"
    )
    expected = "ImportError: expected array-api-compat to be installed, got none: pip install array-api-compat"
    assert run(code, root).stderr.splitlines()[-1] == expected


def test_numpy_below_the_floor(root: Path) -> None:
    """Of the metrics as a package and as a folder of evaluate; the floor is that of setup.cfg."""
    expected = "ImportError: expected NumPy 1.26 or newer, got 1.25.2: pip install -U numpy"
    for code in ("from openworld_metrics import OpenAUC", "sys.path.append('metrics/openauc'); import _kernel"):
        done = run(f"import sys; import numpy; numpy.__version__ = '1.25.2'\n{code}", root)
        assert done.stderr.splitlines()[-1] == expected
    config = configparser.ConfigParser()
    config.read(root / "setup.cfg", encoding="utf-8")
    assert "numpy>=1.26" in config["options"]["install_requires"].split()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_numpy_has_of_its_own_is_not_used(file: Path) -> None:
    """Where NumPy and the standard differ, a namespace is told what is meant: this keeps the two alike."""
    text = file.read_text(encoding="utf-8")
    unsaid = [call for call in re.findall(r"(?:xp|\))\.argsort\(.*", text) if "stable=" not in call]
    unsaid += re.findall(r"xp\.unique\w*|xp\..*descending=.*", text)
    assert unsaid == []
    for call in re.findall(r"\bxp\.(\w+)", text):
        assert hasattr(arrays.NUMPY, call), call


def test_distinct_values_ascend() -> None:
    values = np.random.default_rng(0).integers(-(2**40), 2**40, 5000)
    assert arrays.distinct_values(np.tile(values, 2)).tolist() == sorted(set(values.tolist()))
