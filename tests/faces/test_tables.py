"""Tables of results: layout, seeds, the best, every form as literals, and the command."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import shutil
import statistics
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import OODBench, compare
from openworld_metrics.comparison import not_rejected
from openworld_metrics.faces.tables import FORMS, Cell, ResultTable, keys_of, make_table, ranked, render
from openworld_metrics.leaderboard.undecided import Runs, samples_of, undecided
from openworld_metrics.loading import metric_class
from openworld_metrics.metric import metric as metric_module
from openworld_metrics.metric.metric import Metric
from openworld_metrics.written.results import Direction, direction
from tests import cases
from tests.conftest import Run


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as Holm's bound needs, but no more."""
    monkeypatch.setattr(Metric, "n_resamples", 100)


MODELS = {
    "resnet-s0": {"auroc": 0.5, "fpr95tpr": 0.25, "total": 4},
    "resnet-s1": {"auroc": 1.0, "fpr95tpr": 0.5, "total": 4},
    "vit-s0": {"auroc": 0.875, "fpr95tpr": 0.5, "total": 4},
    "vit-s1": {"auroc": 0.875, "fpr95tpr": 0.75, "total": 5},
}
GROUPED: dict[str, Any] = {
    "auroc": 0.75,
    "t_list": [0.1],
    "groups": {"group": ["far", "near", "near/tin"], "auroc": [1.0, 0.5, 0.5], "total": [1, 2, 2]},
}


class AllWorse(dict[Any, Any]):
    """Comparisons by which every number is worse than the best."""

    def get(self, place: Any, default: Any = None) -> Any:
        return False


def compared(results: Any, **options: Any) -> ResultTable:
    return make_table(results, undecided=AllWorse(), **options)


UNMARKED = "Nothing is marked: fewer than two files have samples that can be compared (compute --save-samples)."


def numbers(table: Any) -> dict[str, list[float | None]]:
    return {name: [None if cell is None else cell.value for cell in cells] for name, cells in table.rows}


def test_files_as_rows() -> None:
    table = compared(MODELS)
    assert table.columns == ["auroc", "fpr95tpr", "total"]
    assert numbers(table)["resnet-s1"] == [1.0, 0.5, 4]
    assert [[cell is not None and cell.best for cell in cells] for _, cells in table.rows] == [
        [False, True, False],
        [True, False, False],
        [False, False, False],
        [False, False, False],
    ]


def test_directions_are_read_where_results_state_them() -> None:
    kinds = {"surprise": {"kind": "rate", "higher": False, "share": True}, "images": {"kind": "count"}}
    models = {name: {"surprise": value, "images": 3, "kinds": kinds} for name, value in (("a", 0.25), ("b", 0.5))}
    rows = dict(compared(models).rows)
    assert [cell and cell.best for cell in rows["a"]] == [True, False]
    assert [cell and cell.best for cell in rows["b"]] == [False, False]
    assert "25.00" in render(compared(models), "markdown", percent=True)


def test_means_over_seeds() -> None:
    rows = dict(compared(MODELS, seeds=r"-s\d").rows)
    up, down = (dict[str, Any](direction=Direction(higher, True), share=True) for higher in (True, False))
    assert rows["resnet"][0] == Cell("auroc", 0.75, std=statistics.stdev([0.5, 1.0]), second=True, **up)
    assert rows["resnet"][1] == Cell("fpr95tpr", 0.375, std=statistics.stdev([0.25, 0.5]), best=True, **down)
    assert rows["vit"][0] == Cell("auroc", 0.875, std=0.0, best=True, **up)
    assert rows["vit"][2] == Cell("total", 4.5, std=statistics.stdev([4, 5]))


def test_mean_and_deviation_against_fractions() -> None:
    values = [float(x) for x in np.random.default_rng(0).random(5)]
    ((_, (cell,)),) = make_table({f"a{i}": {"x": value} for i, value in enumerate(values)}, seeds=r"\d").rows
    mean = sum(map(Fraction, values)) / 5
    assert cell is not None
    assert cell.std is not None
    assert cell.value == pytest.approx(float(mean), rel=2e-16)
    assert cell.std == pytest.approx(math.sqrt(sum((Fraction(x) - mean) ** 2 for x in values) / 4), rel=1e-15)


def test_seeds_in_names_of_groups() -> None:
    groups = ["seed0", "seed0/near", "seed0/near/tin", "seed1", "seed1/near", "seed1/near/tin"]
    results = {"auroc": 0.5, "groups": {"group": groups, "auroc": [0.25, 0.25, 0.25, 0.75, 0.75, 0.75]}}
    assert numbers(make_table({"a": results}, seeds="seed[01]")) == {"near": [0.5], "near/tin": [0.5], "mean": [0.5]}
    turned = {"auroc": 0.5, "groups": {"group": ["near", "near/s0", "near/s1"], "auroc": [0.5, 0.0, 1.0]}}
    table = make_table({"a": turned}, seeds="s[01]", rows="groups")
    assert [(name, cell and (cell.value, cell.std)) for name, (cell,) in table.rows] == [
        ("near", (0.5, statistics.stdev([0, 1])))
    ]


def test_seeds_in_names_of_files_leave_groups_alone() -> None:
    results = {"auroc": 0.5, "groups": {"group": ["cifar10", "cifar100"], "auroc": [0.25, 0.75]}}
    table = make_table({"a0": results, "a1": results}, seeds="[0-9]+", rows="groups")
    assert numbers(table) == {"cifar10": [0.25], "cifar100": [0.75], "mean": [0.5]}
    with pytest.raises(ValueError, match="expected a pattern that is once in a name, got 2 matches in 'resnet18-s0'"):
        make_table({"resnet18-s0": results, "resnet50-s0": results}, seeds="[0-9]+")
    with pytest.raises(ValueError, match="expected a pattern that is once in a name, got 3 matches"):
        make_table({"a0": results, "a1": results}, seeds="x*")


def test_nan_is_not_the_best() -> None:
    rows = compared({"a": {"auroc": math.nan}, "b": {"auroc": 0.5}, "c": {"auroc": 0.25}}).rows
    assert [cell and cell.best for _, (cell,) in rows] == [False, True, False]


def test_groups_as_rows() -> None:
    table = make_table({"a": GROUPED})
    assert table.columns == ["auroc", "total"]
    assert numbers(table) == {"far": [1.0, 1], "near": [0.5, 2], "near/tin": [0.5, 2], "mean": [0.75, None]}
    both = make_table({"a": GROUPED, "b": {"auroc": 0.8}}, rows="groups", keys=["auroc"])
    assert (both.corner, both.columns) == ("auroc", ["a", "b"])
    assert numbers(both)["mean"] == [0.75, 0.8]
    assert numbers(both)["far"] == [1.0, None]


def test_only_models_are_compared() -> None:
    """Not one OOD set with another, nor a number that stands alone."""
    assert not any(cell.best for _, cells in compared({"a": GROUPED}).rows for cell in cells if cell)
    both = compared({"a": GROUPED, "b": {"auroc": 0.8}}, rows="groups", keys=["auroc"])
    assert [[cell and cell.best for cell in cells] for _, cells in both.rows][1:] == [
        [False, None],
        [False, None],
        [False, True],
    ]


def test_groups_as_columns() -> None:
    table = compared({"a": GROUPED, "b": GROUPED}, groups=["near*", "mean"], keys=["total", "auroc"])
    assert table.columns == [
        "near total",
        "near auroc",
        "near/tin total",
        "near/tin auroc",
        "mean auroc",
    ]
    assert numbers(table)["b"] == [2, 0.5, 2, 0.5, 0.75]
    assert all(cell and cell.best for _, cells in table.rows for cell in cells if cell and cell.key == "auroc")


def test_intervals_belong_to_their_key() -> None:
    results = {"auroc": 0.75, "auroc_low": 0.5, "auroc_high": 0.875, "auroc_error": 0.0, "low": 1.0}
    table = make_table({"a": results})
    assert table.columns == ["auroc", "low"]
    texts = {
        way: render(table, intervals=way).splitlines()[1].split("  ")[1] for way in ("brackets", "plusminus", "none")
    }
    assert texts == {"brackets": "0.7500 [0.5000, 0.8750]", "plusminus": "0.7500 ± 0.1875", "none": "0.7500"}


def test_infinite_thresholds() -> None:
    table = make_table({"a0": {"t": math.inf}, "a1": {"t": 1.0}}, seeds=r"\d")
    assert render(table).split() == ["t", "a", "nan", "±", "nan"]
    assert render(make_table({"a": {"t": -math.inf}})).split() == ["t", "a", "-inf"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": "("}, r"seeds: expected a regular expression, got '\('"),
        (
            {"seeds": "-t"},
            "seeds: expected a pattern that is in some of resnet-s0, resnet-s1, vit-s0, vit-s1, got '-t'",
        ),
        ({"keys": ["aurok"]}, "keys: expected some of auroc, fpr95tpr, total, got 'aurok'"),
        ({"groups": ["near"]}, "groups: expected some of mean, got 'near'"),
        ({"rows": "models"}, "rows: expected one of 'files', 'groups', got 'models'"),
    ],
)
def test_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_table(MODELS, **options)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({}, "results: expected results with numbers, got none"),
        ({"a": {"t_list": [0.1]}, "b": {}}, "a, b: expected results with numbers, got none"),
        ({"a": {"total": 10**400}}, "total: expected a number that float64 holds"),
        ({"a-s0": {"x": 1}, "a-s1": {"y": 1, "x": 1}}, r"a: expected y \(mean\) for 2 seeds, got it for 1"),
        ({"a-s0": {"groups": {"group": ["mean"], "x": [1]}}}, "groups: expected no group 'mean'"),
    ],
)
def test_errors_of_results(results: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_table(results, seeds="-s." if results and "x" in results.get("a-s0", {}) else None)


TWO = compared({"a_b": {"auroc": 0.96875, "WI": 0.5}, "c|d%": {"auroc": 0.5, "total": 3}})
RENDERED = {
    "text": """\
        auroc     WI  total
a_b   *0.9688  0.5000      –
c|d%   0.5000       –      3""",
    "markdown": """\
|  | auroc | WI | total |
|---|---:|---:|---:|
| a_b | **0.9688** | 0.5000 | – |
| c\\|d% | 0.5000 | – | 3 |""",
    "latex": r"""\begin{tabular}{lrrr}
\hline
 & auroc & WI & total \\
\hline
a\_b & \textbf{0.9688} & 0.5000 & -- \\
c\textbar{}d\% & 0.5000 & -- & 3 \\
\hline
\end{tabular}""",
    "booktabs": r"""\begin{tabular}{lrrr}
\toprule
 & auroc & WI & total \\
\midrule
a\_b & \textbf{0.9688} & 0.5000 & -- \\
c\textbar{}d\% & 0.5000 & -- & 3 \\
\bottomrule
\end{tabular}""",
    "html": """\
<table>
<thead><tr><th scope="col"></th><th scope="col">auroc</th><th scope="col">WI</th><th scope="col">total</th></tr></thead>
<tbody>
<tr><th scope="row">a_b</th><td><b>0.9688</b></td><td>0.5000</td><td>–</td></tr>
<tr><th scope="row">c|d%</th><td>0.5000</td><td>–</td><td>3</td></tr>
</tbody>
</table>""",
    "csv": """\
name,auroc,WI,total
a_b,0.96875,0.5,
c|d%,0.5,,3""",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form: str) -> None:
    found = render(TWO, form)
    if form == "text":  # the widths of the columns are seen in the command's test
        assert [line.split() for line in found.splitlines()] == [line.split() for line in RENDERED[form].splitlines()]
        assert len({len(line) for line in found.splitlines()}) == 1
    else:
        assert found == RENDERED[form]


def test_percent() -> None:
    lines = [line.split() for line in render(TWO, percent=True).splitlines()]
    assert lines[1:] == [["a_b", "*96.88", "0.5000", "–"], ["c|d%", "50.00", "–", "3"]]
    assert "a_b,96.875,0.5," in render(TWO, "csv", percent=True)
    with pytest.raises(ValueError, match=r"accuracy: expected a rate in \[0, 1\] to be percent, got 97\.5"):
        render(make_table({"a": {"accuracy": 97.5}}), percent=True)


def test_csv_has_every_digit_and_part() -> None:
    seeds = make_table(MODELS, seeds="-s.", keys=["auroc"])
    rows = [*csv.reader(io.StringIO(render(seeds, "csv")))]
    assert rows == [
        ["name", "auroc", "auroc std"],
        ["resnet", "0.75", repr(statistics.stdev([0.5, 1]))],
        ["vit", "0.875", "0.0"],
    ]
    interval = make_table({'a,"b"': {"auroc": 1 / 3, "auroc_low": 0.25, "auroc_high": 0.5}})
    assert [*csv.reader(io.StringIO(render(interval, "csv")))] == [
        ["name", "auroc", "auroc low", "auroc high"],
        ['a,"b"', repr(1 / 3), "0.25", "0.5"],
    ]


def test_csv_has_no_formulas() -> None:
    table = make_table({"=1+1": {"auroc": 0.5}, "-2": {"auroc": 0.25}, "@x": {"auroc": -0.5}})
    rows = [*csv.reader(io.StringIO(render(table, "csv")))]
    assert [row[0] for row in rows[1:]] == ["'=1+1", "-2", "'@x"]
    assert {row[1] for row in rows[1:]} == {"0.5", "0.25", "-0.5"}


def test_errors_of_forms() -> None:
    wrong: dict[str, Any] = {"form": "xml", "intervals": "±", "digits": -1}
    for name, value in wrong.items():
        with pytest.raises(ValueError, match=name):
            render(TWO, **{name: value})


ODD = "[x] \\ & % $ # _ { } ~ ^ < > | * `a` é\nb"


def odd_names() -> ResultTable:
    return compared({ODD: {"auroc@0.3": 0.5, "auroc": 0.5}, "b_c": {"auroc": 0.25}}, seeds="c")


def test_odd_names_in_latex() -> None:
    latex = render(odd_names(), "latex")
    assert all("\n" not in line for line in latex.splitlines())
    assert len(latex.splitlines()) == 8
    assert re.search(r"(?<!\\)[&%$#_~^]", latex.splitlines()[4].replace(r"\&", "").split(" & ")[0]) is None


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex: make test-latex gets one")
def test_latex_compiles(tmp_path: Path) -> None:
    """Every kind of cell: names of all signs, bold, ± of seeds, intervals in brackets and as ±, percent, groups."""
    interval = {"auroc": 1 / 3, "auroc_low": 0.25, "auroc_high": 0.5, "total": 3, "WI": math.inf}
    tables = [
        render(odd_names(), "latex"),
        render(make_table({"[a]": interval, "b": {"auroc": 0.5}}), "latex", percent=True),
        render(make_table({"a": interval, "b": interval}), "latex", intervals="plusminus", digits=2),
        render(make_table(MODELS, seeds=r"-s\d"), "latex"),
        render(make_table({"a": GROUPED, "b": GROUPED}, rows="groups", keys=["auroc"]), "latex"),
    ]
    document = "\n\n".join([r"\documentclass{article}", r"\begin{document}", *tables, r"\end{document}"])
    (tmp_path / "table.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout[-500:]
    assert "Missing character" not in (tmp_path / "table.log").read_text(encoding="utf-8", errors="replace")


def test_odd_names_in_markdown_and_text() -> None:
    table = compared({ODD: {"auroc": 0.5}, "_x_": {"auroc": 0.25}})
    assert render(table, "markdown").splitlines()[2:] == [
        r"| \[x\] \\ \& % $ # \_ { } \~ ^ \< > \| \* \`a\` é b | **0.5000** |",
        r"| \_x\_ | 0.2500 |",
    ]
    assert len(render(table).splitlines()) == 3


@pytest.mark.parametrize("name", cases.METRICS)
def test_every_rate_of_a_metric_has_a_direction(name: str) -> None:
    for seed in range(4):
        columns, options = cases.draw(name, seed)
        results = metric_class(name)(**options).compute(**columns)
        for key, value in results.items():
            known = direction(key)
            counted = isinstance(value, (int, list)) or key.endswith("_threshold")
            assert (known is None) == counted, f"{key}: see _NAMES of shared/written/results.py"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("fpr95tpr fpr99.5tpr fnr fpr hamming_loss", Direction(False, True)),
        ("WI WI(OWOD)@0.8 A-OSE A-OSE(detections) log_loss", Direction(False, False)),
        (
            "tpr5fpr tnr auroc aupr_in_trapezoid mAP50-95 U-Recall aupro@0.3 standard_metrics/mAP50",
            Direction(True, True),
        ),
        ("total TP_known auroc_threshold auroc_low known", None),
    ],
)
def test_directions(keys: str, expected: Direction | None) -> None:
    assert {key: direction(key) for key in keys.split()} == dict.fromkeys(keys.split(), expected)


def save(folder: Path, results: dict[str, Any]) -> list[str]:
    for name, content in results.items():
        path = folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return [f"{name}.json" for name in results]


def test_the_table_of_a_paper(run: Run, tmp_path: Path) -> None:
    """Five OOD sets, three seeds and two models."""
    sets = ["far/mnist", "far/svhn", "far/texture", "near/cifar100", "near/tin"]
    results = {
        f"{model}/s{seed}": {
            "auroc": 0.5 + offset + seed / 8,
            "groups": {"group": sets, "auroc": [0.5 + offset + seed / 8 + i / 64 for i in range(5)]},
        }
        for model, offset in (("resnet", 0.0), ("vit", 0.125))
        for seed in range(3)
    }
    files = save(tmp_path, results)
    command = ("table", *files, "--seeds", "/s[0-9]", "--groups", "all", "--percent", "--format", "latex")
    code, output, errors = run(*command, "--digits", "1", "--save", "table.tex")
    assert (code, errors) == (0, "")
    assert output.endswith(f"\n% {UNMARKED}\n")
    assert output == (tmp_path / "table.tex").read_text()
    assert output.splitlines()[2:6] == [
        r"auroc $\uparrow$ & far/mnist & far/svhn & far/texture & near/cifar100 & near/tin & mean \\",
        r"\hline",
        r"resnet & 62.5 $\pm$ 12.5 & 64.1 $\pm$ 12.5 & 65.6 $\pm$ 12.5 & 67.2 $\pm$ 12.5 & 68.8 $\pm$ 12.5"
        r" & 62.5 $\pm$ 12.5 \\",
        r"vit & 75.0 $\pm$ 12.5 & 76.6 $\pm$ 12.5 & 78.1 $\pm$ 12.5 & 79.7 $\pm$ 12.5 & 81.2 $\pm$ 12.5"
        r" & 75.0 $\pm$ 12.5 \\",
    ]


def test_a_saved_table_has_the_form_of_its_ending(run: Run, tmp_path: Path) -> None:
    [file] = save(tmp_path, {"a": {"auroc": 0.5}})
    for ending, first in (
        (".csv", "name,auroc"),
        (".md", "|  | auroc ↑ |"),
        (".txt", "   auroc ↑"),
        ("", "   auroc ↑"),
    ):
        code, output, errors = run("table", file, "--save", f"table{ending}")
        assert (code, errors) == (0, "")
        assert output.splitlines()[0] == "   auroc ↑"
        assert (tmp_path / f"table{ending}").read_text().splitlines()[0] == first
    run("table", file, "--save", "chosen.csv", "--format", "text")
    assert (tmp_path / "chosen.csv").read_text().splitlines()[0] == "   auroc ↑"


def test_names_of_files(run: Run, tmp_path: Path) -> None:
    files = save(tmp_path, {"a/x": {"auroc": 0.5}, "a/y": {"auroc": 1.0}})
    expected = f"    auroc ↑\nx  0.5000\ny  1.0000\n\n{UNMARKED}\n"
    assert [line.split() for line in run("table", *files)[1].splitlines()] == [x.split() for x in expected.splitlines()]
    save(tmp_path, {"b/x": {"auroc": 0.5, "macro_open_f_threshold": "-Infinity", "name": "a word"}})
    code, output, errors = run("table", "a/x.json", "b/x.json", "--format", "csv")
    assert errors == "openworld-metrics: warning: a/x: has no macro_open_f_threshold\n"
    assert (code, output) == (0, "name,auroc,macro_open_f_threshold\na/x,0.5,\nb/x,0.5,-inf\n")


SUITE = {
    "a": {"x": {"auroc": 0.5, "fpr95tpr": 0.75}},
    "b": {"x": {"auroc": 0.875, "fpr95tpr": 0.5}},
    "c": {"x": {"auroc": 0.75, "fpr95tpr": 0.25}},
    "d": {"x": {"auroc": 0.75}},
}


def test_order_and_ranks(run: Run, tmp_path: Path) -> None:
    files = save(tmp_path, SUITE)

    def names(*options: str) -> list[list[str]]:
        return [line.split()[:2] for line in run("table", *files, *options)[1].splitlines()[1:5]]

    assert [name for name, _ in names("--sort", "auroc")] == ["b", "c", "d", "a"]
    assert [name for name, _ in names("--sort", "x/fpr95tpr")] == ["c", "b", "a", "d"]
    assert run("table", *files, "--sort", "auroc", "--rank")[1].splitlines()[0].split()[0] == "rank"
    assert names("--sort", "auroc", "--rank") == [["b", "1"], ["c", "2"], ["d", "2"], ["a", "4"]]
    assert names("--rank") == [["b", "1.5000"], ["c", "1.7500"], ["a", "3.5000"], ["d", "–"]]
    lines = run("table", *files, "--keys", "auroc", "--second", "--rename", "auroc=AUC", "--rename", "b=ours")[1]
    assert [line.split() for line in lines.splitlines()[:5]] == [
        ["AUC", "↑"], ["a", "0.5000"], ["ours", "0.8750"], ["c", "0.7500"], ["d", "0.7500"]
    ]  # fmt: skip


def test_ranks_and_second_best_say_what_they_order(run: Run, tmp_path: Path) -> None:
    """Ranks are of values, also where nothing is marked; without marks of the best there is no second best."""
    files = save(tmp_path, {"a": {"auroc": 0.5}, "b": {"auroc": 0.875}})
    words = "Ranks order the numbers as they are, also those that do not clearly differ."
    for form in FORMS:
        output = run("table", *files, "--rank", "--second", "--format", form)[1]
        assert (words in output) == (form != "csv")
        assert UNMARKED in output or form == "csv"
        assert "next best" not in output
        assert words not in run("table", *files, "--format", form)[1]


def test_files_that_lack_a_key_are_named(run: Run, tmp_path: Path) -> None:
    files = save(tmp_path, {**SUITE, "none": {"evaluation": {}}})
    code, output, errors = run("table", *files)
    assert (code, errors) == (
        0,
        "openworld-metrics: warning: d: has no fpr95tpr\nopenworld-metrics: warning: none: has no numbers\n",
    )  # fmt: skip
    assert output.splitlines()[0].split() == ["auroc", "↑", "fpr95tpr", "↓"]
    assert run("table", *files[:3], "--no-arrows")[1].splitlines()[0].split() == ["auroc", "fpr95tpr"]


def test_what_does_not_differ_from_the_best_is_marked_alike(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Metric, "n_resamples", 240)
    rng = np.random.default_rng(0)
    labels, groups = np.arange(200) % 2, np.arange(200) // 2 % 2
    score = rng.normal(size=200) + 1.5 * labels
    models = {"best": score, "near": score + 0.05 * rng.normal(size=200), "far": score + 2 * rng.normal(size=200)}
    np.save("labels.npy", labels)
    (tmp_path / "groups.json").write_text(json.dumps([f"set{group}" for group in groups.tolist()]))
    for name, column in models.items():
        np.save(f"{name}.npy", column)
        columns = ["--predictions", f"{name}.npy", "--references", "labels.npy", "--groups", "groups.json"]
        more = ["--metrics", "auroc", "--save", f"{name}.json", "--save-samples"]
        assert run("compute", "ood_bench", *columns, *more)[0] == 0
    files = [f"{name}.json" for name in models]
    code, output, errors = run("table", *files, "--groups", "all", "--second")
    assert (code, errors) == (0, "")
    lines = [line.split() for line in output.splitlines()]
    assert lines[0] == ["auroc", "↑", "set0", "set1", "mean"]
    assert [[cell[0] for cell in line[1:]] for line in lines[1:4]] == [["*"] * 3, ["*"] * 3, ["°"] * 3]
    assert output.endswith("95 %, Holm's correction). °: the next best by its value.\n")
    assert "*: the best, and all that" in output
    note = "Bold: the best, and all that are not clearly worse (paired bootstrap, 95 %, Holm's correction)."
    latex = rf"\par{{\footnotesize {note}\par}}".replace("%", r"\%")  # printed, so that readers of a paper see it
    for form, last in {"booktabs": latex, "latex": latex, "html": f"<p>{note}</p>", "markdown": note}.items():
        assert html.unescape(run("table", *files, "--format", form)[1].splitlines()[-1]) == last
    # by hand: two rivals of the best, at 5 % and 2.5 %
    found = undecided({name: json.loads(Path(f"{name}.json").read_text()) for name in models})
    best = max(models, key=lambda name: json.loads(Path(f"{name}.json").read_text())["auroc"])
    for name in models.keys() - {best}:
        shared: Any = dict(references=labels, groups=[f"set{g}" for g in groups.tolist()], n_resamples=240)
        table = compare("ood_bench", models[best], models[name], metrics="auroc", **shared)
        p = table["p_value"][0]
        assert found[name, "mean", "auroc"] == (p > 0.025)
    assert run("table", *files, "--groups", "all,mean", "--second") == (code, output, errors)
    # other samples, or other options, cannot be compared
    other = {name: json.loads(Path(f"{name}.json").read_text()) for name in models}
    other["far"]["samples"]["options"] = {}
    assert {kept for place, kept in undecided(other).items() if place[0] == "far"} == {None}
    Path("far.json").write_text(json.dumps(other["far"]))
    warning = (
        "far: was not compared with the best, so that nothing is marked: one has no samples, or their samples, options"
        " or seeds differ"
    )
    assert run("table", *files)[2] == f"openworld-metrics: warning: {warning}\n"
    other["far"]["samples"] = {"metric": "auroc"}
    with pytest.raises(ValueError, match="samples: expected the samples of a metric, as they are saved"):
        undecided({name: {**result, "samples": other["far"]["samples"]} for name, result in other.items()})


def test_models_without_samples_are_not_compared(run: Run, tmp_path: Path) -> None:
    """Also if the best has none, or only for some seeds, and a file without a seed is no seed more."""
    labels = np.arange(200) % 2
    rng = np.random.default_rng(0)
    scores = {name: labels * share + rng.normal(size=200) for name, share in (("best", 9), ("b", 1), ("c", 1))}
    results = with_samples(scores, labels)
    assert {*undecided(results).values()} == {False}
    del results["best"]["samples"]
    assert undecided(results) == {(name, "mean", "auroc"): None for name in "bc"}
    for name, result in results.items():
        Path(f"{name}.json").write_text(json.dumps(result))
    code, output, errors = run("table", "best.json", "b.json", "c.json")
    assert (code, errors.count("was not compared with the best"), output.count("*")) == (0, 2, 0)
    runs = {f"{name}-s{seed}": labels + rng.normal(size=200) for name in "ab" for seed in range(2)}
    seeded = with_samples(runs, labels)
    assert len(undecided(seeded, seeds="-s[0-9]")) == 1
    del seeded["a-s1"]["samples"]
    assert {*undecided(seeded, seeds="-s[0-9]").values()} == {None}
    with pytest.raises(ValueError, match=r"a: expected a seed in the name, as in a-s1, got none"):
        make_table({**seeded, "a": seeded["a-s0"]}, seeds="-s[0-9]")
    assert len(make_table({**seeded, "c": seeded["a-s0"]}, seeds="-s[0-9]").rows) == 3


@pytest.mark.parametrize("name", ["ood_bench", "accuracyk"])
def test_saved_samples_stay_apart_however_many_there_are(
    name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal rows of many samples are counted, but not if they are saved, since each belongs to one of another model."""
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    for model in ("one", "other"):
        scores = np.round(rng.normal(size=200) + labels)
        np.save(f"{model}.npy", scores if name == "ood_bench" else np.column_stack([-scores, scores]))
    np.save("labels.npy", labels)

    def saved() -> list[Any]:
        for model in ("one", "other"):
            columns = ["--predictions", f"{model}.npy", "--references", "labels.npy"]
            assert run("compute", name, *columns, "--save", f"{model}.json", "--save-samples")[0] == 0
        results = {model: json.loads(Path(f"{model}.json").read_text()) for model in ("one", "other")}
        samples = [result["samples"] for result in results.values()]
        return [samples, undecided(results), run("table", "one.json", "other.json")]

    few = saved()
    assert few[1]
    assert few[0][0] != few[0][1]
    monkeypatch.setattr(metric_module, "ROWS", 16)
    assert saved() == few


def test_results_in_percent_and_shares_without_direction(run: Run, tmp_path: Path) -> None:
    np.save("scores.npy", np.eye(4)[[0, 1, 1, 1]])
    np.save("labels.npy", [0, 1, 2, 3])
    columns = ["--predictions", "scores.npy", "--references", "labels.npy"]
    for name, more in (("percent", ["--percent"]), ("share", [])):
        assert run("compute", "accuracyk", *columns, *more, "--save", f"{name}.json")[0] == 0
    for more in ([], ["--percent"]):
        assert run("table", "percent.json", *more)[1].split()[-1] == "50.0000"
    errors = run("table", "percent.json", "share.json")[2]
    assert "share: expected the signature of percent, accuracyk|percent:true|v" in errors
    assert "differs in percent; --mixed shows them apart" in errors
    for name in ("percent", "share"):  # files of another program
        saved = json.loads(Path(f"{name}.json").read_text())
        Path(f"{name}.json").write_text(json.dumps({key: saved[key] for key in ("accuracy", "kinds")}))
    errors = run("table", "percent.json", "share.json")[2]
    assert "share: expected accuracy as in the other results, a share in [0, 1] or in percent" in errors
    kinds = {"ΔmAP(missed)": {"kind": "rate", "higher": None, "share": True}, "WI": {"kind": "rate", "share": False}}
    Path("gains.json").write_text(json.dumps({"ΔmAP(missed)": 0.125, "WI": 0.5, "kinds": kinds}))
    assert run("table", "gains.json", "--percent")[1].split()[-2:] == ["12.50", "0.5000"]


def test_an_infinite_number_is_worse_than_all_and_better_than_none() -> None:
    table = ranked(make_table({name: {"WI": x} for name, x in zip("abcd", (0.25, math.inf, 0.125, math.nan))}), "WI")
    assert {name: cells[0] and cells[0].value for name, cells in table.rows} == {"a": 2, "b": 3, "c": 1, "d": None}
    mean = ranked(make_table({name: {"WI": x} for name, x in zip("abc", (0.25, math.inf, math.nan))}))
    assert [cells[0] and cells[0].value for _, cells in mean.rows] == [1, 2, None]


def test_which_samples_are_the_same() -> None:
    """Samples of other true classes are others, even if as many; options of intervals alone change nothing."""
    labels = np.arange(40) % 4
    scores = np.eye(4)[labels]
    scores[:5] = np.roll(scores[:5], 1, axis=1)
    order = np.random.default_rng(0).permutation(40)
    results: dict[str, Any] = {}
    for name, rows, options in (("a", slice(None), {}), ("b", slice(None), {"n_resamples": 9}), ("c", order, {})):
        runs = {name: {"predictions": scores[rows]}}
        results |= saved_results("accuracyk", runs, {"references": labels[rows]}, **options)
    assert undecided(results) == {("b", "mean", "accuracy"): True, ("c", "mean", "accuracy"): None}


def with_samples(scores: dict[str, Any], labels: Any, metrics: Sequence[str] = ("auroc",)) -> dict[str, dict[str, Any]]:
    """Results of scores by the name of the file, as --save-samples keeps them."""
    runs = {name: {"predictions": own} for name, own in scores.items()}
    return saved_results("ood_bench", runs, {"references": labels}, metrics=[*metrics])


def saved_results(name: str, runs: dict[str, Any], shared: dict[str, Any], **options: Any) -> dict[str, dict[str, Any]]:
    """Results of columns by the name of the file, as --save-samples keeps them."""
    results = {}
    for file, columns in runs.items():
        metric = metric_class(name)(**options)
        metric.keeps_samples = True
        metric.add_batch(**columns, **shared)
        samples, summary = samples_of(metric, options), metric.summary()
        results[file] = {**summary.as_dict(), "kinds": summary.kinds(), "samples": samples}
    return results


def test_models_of_several_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Metric, "n_resamples", 200)
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 2
    score = rng.normal(size=300) + 1.5 * labels
    spread = {"-s0": 0.0, "-s1": 1.0, "-s2": 2.0}  # of noise, by seed

    def noisy(size: float) -> Any:
        return score + size * rng.normal(size=300)

    runs = {f"best{seed}": noisy(0.3 * size) for seed, size in spread.items()}
    runs |= {f"near{seed}": noisy(0.3 * size) for seed, size in spread.items()}
    runs |= {f"wide{seed}": noisy(2.5 * size) for seed, size in spread.items()}
    runs |= {f"far{seed}": noisy(3) for seed in spread}
    runs |= {f"two{seed}": noisy(0.7) for seed in ("-s0", "-s1")}
    results = with_samples(runs, labels)
    alike = undecided(results, seeds="-s[0-9]")
    assert {name for (name, _, _), kept in alike.items() if kept is None} == {"two"}  # which has other seeds
    assert not alike["far", "mean", "auroc"]
    assert alike["wide", "mean", "auroc"]  # one of its seeds is as good as the best, so others may be, too
    # a seed alone says that the others of the model are worse
    alone = undecided({name: results[name] for name in ("best-s2", "wide-s2", "near-s2")})
    assert not alone["wide-s2", "mean", "auroc"]
    # neither the order of the files nor that of the samples matters
    turned = {name: results[name] for name in reversed(results)}
    assert undecided(turned, seeds="-s[0-9]") == alike
    order = rng.permutation(300)
    moved = with_samples({name: scores[order] for name, scores in runs.items()}, labels[order])
    assert undecided(moved, seeds="-s[0-9]") == alike
    # one seed is none
    single = {name: results[name] for name in runs if name.endswith("-s2")}
    assert undecided(single, seeds="-s[0-9]") == {
        (name.removesuffix("-s2"), *place): kept for (name, *place), kept in undecided(single).items()
    }
    assert undecided(results, seeds="x[0-9]") == {}  # they would be in the names of groups


def test_keys_to_compare_change_no_comparison() -> None:
    """Other metrics are left out, so a file that has no others can be compared, too."""
    rng = np.random.default_rng(2)
    labels = np.arange(200) % 2
    scores = {name: rng.normal(size=200) + (i + 1) * labels for i, name in enumerate("abc")}
    results = with_samples(scores, labels, metrics=["auroc", "fpr95tpr"])
    every = undecided(results)
    assert len(every) == 4
    for key in ("auroc", "fpr95tpr"):
        own = undecided(results, keys=[key])
        assert own == {place: alike for place, alike in every.items() if place[2] == key}
        results["a"]["samples"]["options"] = {"metrics": [key]}
        assert undecided(results, keys=[key]) == own
        results["a"]["samples"]["options"] = results["b"]["samples"]["options"]
    assert undecided(results, keys=["closed_set_accuracy"]) == {}
    with pytest.raises(ValueError, match="keys: expected some of auroc, fpr95tpr, got 'aurok'"):
        keys_of(results, ["auroc", "aurok"])


def columns_of_two(name: str, rng: np.random.Generator) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Columns of two models with many ties, and those that both share."""
    labels = np.arange(40) % 4
    if name == "ood_bench":
        scores = [np.round(rng.normal(size=40) + (labels > 1), 1) for _ in range(2)]
        return [{"predictions": own} for own in scores], {"references": labels > 1}
    if name == "grouped":
        scores = [np.round(rng.normal(size=40) + (labels > 1), 1) for _ in range(2)]
        groups = [{2: "a", 3: "b"}.get(label) for label in labels.tolist()]
        return [{"predictions": own} for own in scores], {"references": labels > 1, "groups": groups}
    logits = [np.round(rng.normal(size=(40, 4)) + 1.5 * np.eye(4)[labels], 1) for _ in range(2)]
    if name == "accuracyk":
        return [{"predictions": own} for own in logits], {"references": labels}
    unknown = {"references": np.where(labels == 3, -1, labels)}
    return [{"predictions": own, "open_scores": -own.max(axis=1)} for own in logits], unknown


def marks(results: dict[str, dict[str, Any]], **options: Any) -> dict[tuple[str, str, str], bool]:
    """Whether each number is marked as the best, or as one that is not clearly worse."""
    alike = undecided(results, **options)
    table = make_table(results, rows="files", groups=["*"], undecided=alike, seeds=options.get("seeds"))
    return {
        (name, column, cell.key): cell.best
        for name, cells in table.rows for column, cell in zip(table.columns, cells) if cell is not None
    }  # fmt: skip


@pytest.mark.parametrize("name", ["ood_bench", "grouped", "accuracyk", "openauc"])
def test_marks_of_two_models_are_the_verdict_of_compare(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever files are called: at the level of the p-value a model is worse, and just above it is not."""
    monkeypatch.setattr(Metric, "n_resamples", 100)
    models, shared = columns_of_two(name, np.random.default_rng(0))
    metric = "ood_bench" if name == "grouped" else name
    table = compare(metric, *models, **shared, n_resamples=100)
    groups = table.get("group", [None] * len(table["key"]))
    checked = 0
    for files in (("a", "b"), ("b", "a")):
        results = saved_results(metric, dict(zip(files, models)), shared)
        for i, (key, group, p) in enumerate(zip(table["key"], groups, table["p_value"])):
            one, other = table["first"][i], table["second"][i]
            higher = results["a"]["kinds"][key]["higher"]
            if one == other or higher is None or not 0.04 < p < 1:
                continue
            better = 0 if (one > other) == higher else 1
            place = (files[1 - better], group or "mean", key)
            below = 1 - p - 1e-9
            agrees = compare(metric, *models, **shared, n_resamples=100, confidence_level=below)["better"][i]
            assert undecided(results, below, keys=[key])[place] == (agrees != ("first", "second")[better])
            assert undecided(results, 1 - p + 1e-9, keys=[key])[place]
            checked += 1
    assert checked


@pytest.mark.parametrize("seed", range(2))
def test_marks_of_several_models_are_those_of_compare_pair_by_pair(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With Holm's correction, in any order of files and samples and with any names, also where several are best."""
    monkeypatch.setattr(Metric, "n_resamples", 400)
    rng = np.random.default_rng(seed)
    labels = np.arange(60) % 2
    scores = [np.round(rng.normal(size=60) + shift * labels, 1) for shift in (1.5, 1.3, 0.9, 0.7)]
    scores.append(2 * scores[seed % 2] + 1)  # which ranks all samples as another model does
    runs = {name: {"predictions": own} for name, own in zip("abcde", scores)}
    results = saved_results("ood_bench", runs, {"references": labels})
    expected: dict[tuple[str, str, str], bool] = {}
    for key in ("auroc", "fpr95tpr"):
        higher = key == "auroc"
        values = {name: result[key] for name, result in results.items()}
        best = [name for name in values if values[name] == (max if higher else min)(values.values())]
        p = dict.fromkeys(best[1:], 1.0)
        for name in values.keys() - {*best}:
            tables = [compare("ood_bench", runs[one], runs[name], references=labels, n_resamples=400) for one in best]
            i = tables[0]["key"].index(key)
            p[name] = max(
                1.0 if (t["low"][i] > 0) != higher and t["p_value"][i] < 1 else t["p_value"][i] for t in tables
            )
        expected |= {(name, key, key): True for name in best}
        stands = False
        for rank, name in enumerate(sorted(p, key=p.__getitem__)):
            stands = stands or p[name] > 0.05 / (len(p) - rank)
            expected[name, key, key] = stands
    assert marks(results) == expected
    order, names = rng.permutation(60), dict(zip("abcde", rng.permutation([*"vwxyz"]).tolist()))
    moved = {names[name]: {"predictions": runs[name]["predictions"][order]} for name in rng.permutation([*"abcde"])}
    renamed = marks(saved_results("ood_bench", moved, {"references": labels[order]}))
    assert renamed == {(names[name], *place): best for (name, *place), best in expected.items()}


@pytest.mark.parametrize("name", ["ood_bench", "accuracyk"])
def test_names_of_models_and_seeds_change_no_mark(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Metric, "n_resamples", 60)
    rng = np.random.default_rng(0)
    pairs = [columns_of_two(name, rng) for _ in range(3)]
    shared = pairs[0][1]
    runs = {f"{model}-s{i}": own for i, (both, _) in enumerate(pairs) for model, own in zip("ab", both)}
    runs |= {f"c-s{i}": {"predictions": -(1 + i) * np.asarray(runs["a-s0"]["predictions"])} for i in range(3)}  # alike
    order = rng.permutation(40)
    models, seeds = (dict(zip(names, rng.permutation([*names]).tolist())) for names in ("abc", "012"))
    moved = {
        f"{models[run[0]]}-s{seeds[run[-1]]}": {"predictions": np.asarray(runs[run]["predictions"])[order]}
        for run in rng.permutation([*runs]).tolist()
    }
    one = saved_results(name, runs, shared)
    other = saved_results(name, moved, {"references": np.asarray(shared["references"])[order]})
    for level in np.linspace(0.15, 0.85, 4).tolist():
        alike = {
            (models[model], *place): best
            for (model, *place), best in marks(one, seeds="-s.", confidence_level=level).items()
        }
        assert marks(other, seeds="-s.", confidence_level=level) == alike


@pytest.mark.parametrize("tied", [False, True])
def test_samples_and_seeds_are_drawn_in_common(tied: bool) -> None:
    """The rate of drawn samples and seeds against the plainest loop, also where all seeds have the same rates."""
    rng = np.random.default_rng(1)
    labels = np.arange(100) // 50
    scores = [np.round(rng.normal(size=100) + shift * labels, 1) for shift in (0.5, 1, 1.5)]
    if tied:
        scores = [np.concatenate([rng.permutation(scores[0][:50]), rng.permutation(scores[0][50:])]) for _ in range(3)]
    metric = OODBench(metrics=["auroc"])
    parts = [next(metric.prepared_parts(predictions=own, references=labels)) for own in scores]
    runs, turned = (
        Runs([parts[i].prepared for i in own], [parts[i].rates() for i in own]) for own in ((0, 1, 2), (1, 2, 0))
    )
    assert runs.rates(runs.counts) == runs.rates()
    for _ in range(20):
        entries = np.concatenate([rng.integers(0, 50, 50), rng.integers(50, 100, 50)])
        seeds = rng.integers(0, 3, 3)
        each = [metric.compute(predictions=scores[i][entries], references=labels[entries])["auroc"] for i in seeds]
        counts = np.bincount(runs.rows()[np.concatenate([entries, 100 + seeds])], minlength=len(runs.counts))
        assert runs.rates(counts)["auroc"].value == math.fsum(each) / 3
        assert turned.rates(counts) == runs.rates(counts)  # so runs in any order have the same rows


def test_holm_against_adjusted_values() -> None:
    """A hypothesis stands iff the largest (m − i + 1)·p_i so far is above the chance."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = {str(i): float(value) for i, value in enumerate(np.round(rng.random(6) ** 3, 3))}
        largest, expected = 0.0, {}
        for i, (name, value) in enumerate(sorted(p.items(), key=lambda pair: pair[1])):
            largest = max(largest, (6 - i) * value)
            expected[name] = largest > 0.05
        assert not_rejected(p, 0.95) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing argument 'FILE …'"),
        (["no.json"], "no.json: No such file or directory"),
        (["list.json"], "list.json: expected an object of results by name, got a list"),
        (["text.json"], "text.json: expected JSON, got other text at line 1, column 1"),
        (["a.json", "a.json"], "a: expected each file once, got it twice"),
        (["a.json", "--save", "a.json"], "a.json: expected another file to write to, got one that is read"),
        (["a.json", "--save", "t.xlsx"], "--save: expected a file ending in .txt, .md, .tex, .html, .csv, got t.xlsx"),
        (["words.json"], "words: expected results with numbers, got none"),
        (["a.json", "--format", "xml"], "'xml' is not one of"),
        (["a.json", "--sort", "fpr95tpr"], "sort: expected one of auroc, got 'fpr95tpr'"),
        (["a.json", "--rank", "--sort", "x"], "sort: expected one of auroc, got 'x'"),
        (["total.json", "--rank"], "rank: expected a column with a known direction, got none"),
        (["a.json", "--rename", "auroc"], "expected NAME=WORDS, got 'auroc'"),
        (["a.json", "--rename", "b=B"], "rename: expected one of a, auroc, mean, got 'b'"),
        (["a.json", "--confidence-level", "1"], "confidence_level: expected a number between 0 and 1"),
        (["a.json", "--groups", "near"], "groups: expected some of mean, got 'near'"),
    ],
)
def test_errors_of_the_command(arguments: list[str], message: str, run: Run, tmp_path: Path) -> None:
    save(tmp_path, {"a": {"auroc": 0.5}, "total": {"total": 3}, "list": [1], "words": {"better": ["a"]}})
    (tmp_path / "text.json").write_text("auroc")
    code, output, errors = run("table", *arguments)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert message in errors


@pytest.mark.parametrize("option", ["keys", "groups", "seeds", "rows"])
def test_options_of_another_type(option: str) -> None:
    wrong: dict[str, Any] = {option: np.zeros((2, 2))}
    with pytest.raises((TypeError, ValueError), match=f"{option}: expected "):
        make_table({"a": {"auroc": 0.5}}, **wrong)
    odd: Any = 2
    with pytest.raises(TypeError, match="percent: expected True or False, got 2"):
        render(make_table({"a": {"auroc": 0.5}}), percent=odd)
