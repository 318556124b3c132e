"""A ninth metric, by the steps of CONTRIBUTING in a copy of the checkout: it computes, is read, and has all faces."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.package.places import PLACES, missing_places

ROOT = Path(__file__).parents[2]
NAME, CLASS, TASK = "wrong_share", "WrongShare", "classification"
FILE = '''"""The share of wrong classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..metric.results import Rate, Results
from .ranks import TopkState, topk_scores_state
from .topk import TopK


@dataclass(kw_only=True, eq=False, repr=False)
class WrongShare(TopK):
    """The share of samples whose class is not the best guess."""

    name = "wrong_share"

    def reduce(self, predictions: Any, references: Any) -> TopkState:
        """Reduce a batch of (N, C) scores."""
        return topk_scores_state(predictions, references, ignore_unknown=self.ignore_unknown)

    def spans(self) -> Mapping[str, range | None]:
        """Plain accuracy."""
        return {"wrong_share": None}

    def rates(self, state: TopkState) -> Results:
        """One minus the accuracy."""
        (rate,) = super().rates(state).values()
        return {"wrong_share": Rate((100 if self.percent else 1) - rate.value, False, share=not self.percent)}
'''
SUBJECT = """
_ALL = (
    *_ALL,
    Subject(
        metric=WrongShare,
        question="How many guesses are wrong?",
        leading=("wrong_share",),
        example=Example("Ten handwritten digits, logits", ("digits.npz",), TENTH_OF_DIGITS),
        form=Form("class scores and labels", ("average", "percent")),
        data=_data,
        figures=_figures,
        words=lambda key, options: ("Wrong", "of the samples have another best guess than their class"),
    ),
)
"""
SCRIPT = '''"""The share of wrong classes."""

import datasets
import evaluate

from ._kernel import Evaluated, WrongShare as Core

_DESCRIPTION = """
The share of samples whose class is not the best guess.
"""

_CITATION = """
@misc{wrong-share, title = {The share of wrong classes}}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: (N, C) scores.
    references: (N,) class ids.

Returns:
    wrong_share: in [0, 1]; lower is better.
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class WrongShare(Evaluated, Core, evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        columns = {"predictions": datasets.Sequence(datasets.Value("float64")), "references": datasets.Value("int64")}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features(columns),
        )
'''
CARD = """---
title: wrong_share
description: The share of wrong classes.
---

# Metric Card for wrong_share

```python
>>> import evaluate
>>> wrong_share = evaluate.load("metrics/wrong_share")
>>> wrong_share.compute(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
{'wrong_share': 0.5}
```
"""
# what a user does with it, in the copy
USE = """
from pathlib import Path
from openworld_metrics import read
from openworld_metrics.answers.saved import save_examples
from openworld_metrics.command import cli
from openworld_metrics.faces.page.home import build_home
from openworld_metrics.faces.page.worker import Request, compute, look
import sys

save_examples(["wrong_share"])
Path("scores.csv").write_text("cat,dog,label\\n" + "0.9,0.1,cat\\n0.2,0.8,cat\\n0.3,0.7,dog\\n" * 10)
print(read("wrong_share", "scores.csv").guesses)
page = Request("wrong_share", [{"scores": ["scores.csv"]}])
assert not look(page).error, look(page).error
(answer,) = compute(page).values()
print(answer.numbers[answer.model][0].value)
build_home()  # with the page of each metric
for arguments in (
    ["list"],
    ["describe", "wrong_share"],
    ["compute", "wrong_share", "scores.csv", "--report", "report", "--plot", "plot.png"],
    ["compute", "wrong_share", "--predictions", "scores.csv:cat,dog", "--references", "labels.npy"],
    ["compute", "wrong_share"],
):
    sys.argv = ["openworld-metrics", *arguments]
    try:
        cli.main()
    except SystemExit as error:
        print(arguments, error.code)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with a metric that the steps of CONTRIBUTING add."""
    root = tmp_path_factory.mktemp("checkout")
    for name in ("shared", "metrics", "spaces", "tests", "demo", "docs/metrics", "docs/building"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "README.md", "mkdocs.yml", "constraints.txt"):
        shutil.copy(ROOT / name, root / name)
    (root / "openworld_metrics").symlink_to(root / "shared", target_is_directory=True)
    add(root)
    return root


def add(root: Path) -> None:
    """Take the steps."""
    texts = {
        "shared/classification/wrong_share.py": FILE,
        "metrics/wrong_share/wrong_share.py": SCRIPT,
        "metrics/wrong_share/README.md": CARD,
    }
    for place, text in texts.items():
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).write_text(text, "utf-8")
    imported = "from {}classification.wrong_share import WrongShare\n"
    edit(root / "shared/loading.py", "(AccuracyK, AUTKC,", "(AccuracyK, AUTKC, WrongShare,", imported.format("."))
    edit(root / "shared/public.py", '    "AUTKC",\n', '    "AUTKC",\n    "WrongShare",\n', imported.format("."))
    subjects = "SUBJECTS = {"
    edit(root / "shared/answers/classification.py", subjects, f"{SUBJECT}{subjects}", imported.format(".."))
    row = '    "autkc": Metric(topk_scores, ("predictions",)),\n'
    edit(root / "tests/cases.py", row, f"{row}{row.replace('autkc', NAME)}")
    shutil.copytree(root / "metrics/autkc/examples", root / "metrics/wrong_share/examples")
    shutil.copy(root / "metrics/autkc/thumbnail.jpg", root / "metrics/wrong_share")
    for place in ("setup.cfg", "README.md", "mkdocs.yml", "docs/metrics/index.md", "docs/building/figures.py"):
        another_row(root / place)
    for place in ("demo/compute.py", "demo/table.py", "demo/page_examples.py", "tests/metric/test_literals.py"):
        another_row(root / place)
    run(root, "spaces/sync.py")


def edit(path: Path, old: str, new: str, imported: str = "") -> None:
    """Replace a text that is there once, and import the class."""
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    text = text.replace(old, new)
    if imported:
        text = re.sub(r"^(?=from \.)", lambda _: imported, text, count=1, flags=re.MULTILINE)
    path.write_text(text, "utf-8")


def another_row(path: Path) -> None:
    """The row of autkc, as a comment in Python, whose tables are not run here, once more for the other metric."""
    lines = path.read_text("utf-8").splitlines()
    at, row = next((i, line) for i, line in enumerate(lines) if "autkc" in line)
    lines.insert(at, ("# " if path.suffix == ".py" else "") + row.replace("autkc", NAME))
    path.write_text("\n".join(lines), "utf-8")


def run(root: Path, *arguments: str) -> str:
    """The output of Python in the copy."""
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_it_computes_and_has_a_reader_a_report_and_a_page(checkout: Path) -> None:
    (checkout / "use.py").write_text(USE, "utf-8")
    said = run(checkout, "use.py")
    assert "['predictions is cat and dog', 'references is label'" in said
    assert "0.333333" in said
    assert "wrong_share" in said
    assert "Wrong" in (checkout / "report" / "index.html").read_text("utf-8")
    assert (checkout / "plot.png").is_file()


def test_its_row_of_tests_brings_the_laws(checkout: Path) -> None:
    said = run(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/metric/test_laws.py", "-k", NAME)
    assert re.match(r"\.{5,} ", said), "each of several laws"


def test_a_forgotten_place_has_a_name(checkout: Path) -> None:
    assert missing_places(NAME, CLASS, TASK, checkout) == []
    for place in PLACES:
        path = checkout / place.replace("NAME", NAME).replace("TASK", TASK)
        content = path.read_bytes()
        try:
            path.unlink()
            assert missing_places(NAME, CLASS, TASK, checkout) == [path.relative_to(checkout).as_posix()]
            if path.is_relative_to(checkout / "metrics" / NAME):
                continue
            path.write_bytes((ROOT / path.relative_to(checkout)).read_bytes())
            assert missing_places(NAME, CLASS, TASK, checkout) == [path.relative_to(checkout).as_posix()]
        finally:
            path.write_bytes(content)
