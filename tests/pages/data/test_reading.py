"""Uploads: every format gives the metric's numbers and Python that gives them too; what is unsafe is refused."""

from __future__ import annotations

import importlib
import io
import json
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest
from PIL import Image

import openworld_metrics
from openworld_metrics import read as read_files
from openworld_metrics.pages.data import read
from openworld_metrics.pages.form.controls import CONTROLS, shown
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.form.pasted import read_pasted
from openworld_metrics.pages.metrics import page_of
from openworld_metrics.pages.page import argument_help
from openworld_metrics.pages.photographs import read_photograph
from openworld_metrics.pages.runner import Runner, explain
from openworld_metrics.reading.limits import PAGES
from openworld_metrics.reading.rows.cells import runs
from openworld_metrics.reading.rows.inputs import table_of_frame
from openworld_metrics.reading.rows.kinds import Models
from openworld_metrics.reading.rows.metrics import LAYOUTS, guessed
from openworld_metrics.reading.rows.recognised import Split, image_names
from openworld_metrics.reading.rows.rows import rows_of, settle
from openworld_metrics.reading.tables.files import SUFFIXES, Table
from tests.conftest import Run
from tests.pages import steps
from tests.pages.steps import BOXES, STEPS, drawn, numbers

FORMATS = {"npz": steps.npz, "npy": steps.npy, "csv": steps.csv, "parquet": steps.parquet, "json": steps.as_json}
TABULAR = [name for name in openworld_metrics.METRICS if name not in ("openset_detection", "anomaly_suite")]


@pytest.fixture(scope="module")
def runners(root: Path) -> Callable[[str], Runner]:
    made: dict[str, Runner] = {}

    def runner(name: str) -> Runner:
        if name not in made:
            page = importlib.import_module(f"openworld_metrics.pages.metrics.{name}").PAGE
            made[name] = Runner(page, root / "metrics" / name)
        return made[name]

    return runner


def show(runner: Runner, files: list[list[Path]], **options: Any) -> Any:
    page = runner.page
    held = controls(runner, **{**page.examples[0].options, **options})
    files = [*files, *([[]] * (len(page.sources) - len(files)))]
    return runner.show(Form(files=files, options=held))


def controls(runner: Runner, **options: Any) -> dict[str, Any]:
    """What the controls hold for the defaults and these options."""
    values = {**runner.defaults, **options}
    return {option.name: shown(option, values[option.name]) for option in runner.page.options}


def rerun(call: str, folder: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the Python that a page shows, beside the files, as a person would."""
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(call.replace('load("metrics/', f'load("{root}/metrics/'), names)
    return names["results"]


@pytest.mark.parametrize("name", TABULAR)
@pytest.mark.parametrize("kind", FORMATS)
def test_every_format(
    kind: str, name: str, runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = drawn(name)
    found = show(runners(name), FORMATS[kind](columns, tmp_path))
    options = runners(name).page.examples[0].options
    assert numbers(found.json) == runners(name).results(columns, options)
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)


def test_boxes_from_yolo_files(runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner, files = runners("openset_detection"), steps.yolo(tmp_path)
    found = show(runner, files)
    options = runner.page.examples[0].options
    assert numbers(found.json) == runner.results({"predictions": BOXES[0], "references": BOXES[1]}, options)
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)


def test_polygons_and_other_lines_of_yolo(
    runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, files = runners("openset_detection"), steps.yolo(tmp_path)
    expected = runner.results({"predictions": BOXES[0], "references": BOXES[1]}, runner.page.examples[0].options)
    for paths, line in zip(files, ("999 0.25 0.25 0.5 0.5 0.75 0.25 0.01", "7 0 0 1 0 1 1")):
        paths[2].write_text(line, encoding="utf-8-sig")
    found = show(runner, files)
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json) != expected
    (arguments,) = read(runner.page, [None, None], files).arguments().values()
    given = arguments.columns
    assert [column.tolist() for column in given["predictions"][2].values()] == [
        [[0.25, 0.25, 0.75, 0.5]],
        [0.01],
        [999],
    ]
    assert [column.tolist() for column in given["references"][2].values()] == [[[0, 0, 1, 1]], [7], [0]]
    for line, message in (("0 32 24 5 6", "coordinates from 0 to 1"), ("0 1 1 1 1 0.5", "class cx cy w h, got 6 numb")):
        files[1][2].write_text(f"\n{line}\n")
        with pytest.raises(ValueError, match=f"{files[1][2].name}:2: expected {message}"):
            show(runner, files)


def test_boxes_from_tables(runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = []
    sides: list[tuple[str, Any, list[str]]] = [("p", BOXES[0], ["score", "label"]), ("r", BOXES[1], ["category"])]
    for name, images, last in sides:
        rows = [(f"{i}.jpg", *row) for i, image in enumerate(images) for row in image]
        table = pd.DataFrame(rows, columns=["file", "xmin", "ymin", "xmax", "ymax", *last])
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        files.append([tmp_path / f"{name}.csv"])
    runner = runners("openset_detection")
    found = show(runner, files)
    options = runner.page.examples[0].options
    assert numbers(found.json) == runner.results({"predictions": BOXES[0], "references": BOXES[1]}, options)
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)


def test_maps_with_image_scores(runners: Any, tmp_path: Path) -> None:
    columns = {**drawn("anomaly_suite")}
    n = len(columns["predictions"])
    columns |= {"image_scores": np.linspace(0, 1, n), "image_labels": np.arange(n) % 2}
    found = show(runners("anomaly_suite"), steps.npz(columns, tmp_path))
    assert numbers(found.json) == runners("anomaly_suite").results(columns, {})


def test_image_scores_in_a_table(runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the rows of the maps, the same value on each row of an image."""
    maps, masks = runners("anomaly_suite").page.examples[0].tables
    image = np.asarray(maps["image"])
    scores, labels = {1: 0.9, 2: 0.1, 3: 0.5, 4: 0.7}, {1: 1, 2: 0, 3: 0, 4: 1}
    tables = [
        pd.DataFrame({**maps, "image_scores": [scores[i] for i in image]}),
        pd.DataFrame({**masks, "image_labels": [labels[i] for i in image]}),
    ]
    sides: dict[str, Any] = {"predictions": pd.DataFrame(maps), "references": pd.DataFrame(masks)}
    arrays = {name: [part.iloc[:, 1:].to_numpy() for _, part in side.groupby("image")] for name, side in sides.items()}
    columns = {**arrays, "image_scores": [*scores.values()], "image_labels": [*labels.values()]}
    expected = runners("anomaly_suite").results(columns, {})
    typed = runners("anomaly_suite").show(Form(tables=tables))
    assert numbers(typed.json) == expected
    for table, name in zip(tables, ("maps", "masks")):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    found = show(runners("anomaly_suite"), [[tmp_path / "maps.csv"], [tmp_path / "masks.csv"]])
    assert numbers(found.json) == expected
    assert rerun(found.call, tmp_path, root, monkeypatch) == expected
    turned = [tables[0], tables[1].sort_values("image", ascending=False, kind="stable")]
    typed = runners("anomaly_suite").show(Form(tables=turned))
    assert numbers(typed.json) == expected
    tables[0].loc[0, "image_scores"] = 0.3
    with pytest.raises(ValueError, match="image_scores: expected one value for all rows of an image, got 2 for 1"):
        runners("anomaly_suite").show(Form(tables=tables))


INSTEAD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ood_bench": (
        {"ID scores": [0.1, 0.6, 0.2, 0.3], "OOD scores": [0.4, 0.9]},
        {"predictions": ([0.1, 0.6, 0.2, 0.3], [0.4, 0.9])},
    ),
    "openauc": (
        dict(
            open_set_pred_known=[0.1, 0.4, 0.2],
            open_set_pred_unknown=[0.6, 0.3, 0.1, 0.9],
            close_set_pred_class=[0, 1, 1],
            close_set_labels=[0, 1, 0],
        ),
    )
    * 2,
}


@pytest.mark.parametrize("name", INSTEAD)
@pytest.mark.parametrize("kind", ["typed", "npz", "csv", "parquet", "json"])
def test_columns_in_place_of_others(
    kind: str, name: str, runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sets that differ in size, a table leaves cells blank."""
    given, columns = INSTEAD[name]
    table = pd.DataFrame({key: pd.Series(values) for key, values in given.items()})
    runner = runners(name)
    if kind == "typed":
        found = runner.show(Form(tables=[table]))
    else:
        path = tmp_path / f"arrays.{kind}"
        if kind in ("csv", "parquet"):
            table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
        else:
            (path,) = FORMATS[kind](given, tmp_path)[0]
        found = show(runner, [[path]])
    assert numbers(found.json) == runner.results(columns, {})
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)


CSV = {
    "no header": (b"0.1,0.9\n0.6,0.4\n0.4,0.6", b"0\n1\n1"),
    "blank lines and a byte order mark": (b"\xef\xbb\xbf\r\n \r\n0.1,0.9\r\n0.6,0.4\r\n0.4,0.6\r\n", b"\n\n0\n1\n1\n"),
    "a header below blank lines": (b"\n \n p0,p1\n0.1,0.9\n0.6,0.4\n0.4,0.6", b"\xef\xbb\xbfreferences\n0\n1\n1"),
    "true and false": (b"0.1,0.9\n0.6,0.4\n0.4,0.6", b"false\ntrue\ntrue"),
}


@pytest.mark.parametrize("form", CSV)
def test_csv_with_a_header_or_without(
    form: str, runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / "predictions.csv", tmp_path / "references.csv"]
    for path, data in zip(paths, CSV[form]):
        path.write_bytes(data)
    found = show(runners("accuracyk"), [paths], k_list=(1,))
    columns = {"predictions": [[0.1, 0.9], [0.6, 0.4], [0.4, 0.6]], "references": [0, 1, 1]}
    assert numbers(found.json) == runners("accuracyk").results(columns, {"k_list": (1,)})
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)


def test_names_or_values_in_csv(tmp_path: Path) -> None:
    (tmp_path / "pandas.csv").write_text("0,1\n0.2,0.8\n0.3,0.7\n")
    with pytest.raises(ValueError, match=r"got 0,1, which may be either: put a line of names above$"):
        rows_of("ood_bench", [tmp_path / "pandas.csv"], limits=PAGES)


def test_dates_are_groups(tmp_path: Path) -> None:
    rows = "0.1,0,2023-01-01\n0.7,1,2023-01-01\n0.3,0,2023-01-02\n0.2,1,2023-01-02\n0.5,0,\n"
    (tmp_path / "x.csv").write_text(f"score,label,day\n{rows}")
    found = read_files("ood_bench", tmp_path / "x.csv", columns={"groups": "day"}).columns
    assert [group or None for group in found["groups"]] == [*["2023-01-01"] * 2, *["2023-01-02"] * 2, None]


@pytest.mark.parametrize(
    "names",
    [
        ["007", "7", "07", "7"],
        ["1.0", "1", "1e0", "+1"],
        ["0x10", "16", "nan", "NA"],
        ["12:30", "12:31", "12:30", "12:31"],
        ["true", "false", "true", "false"],
        ["2020-01-01T10:00:00+02:00", "2020-01-01 10:00", "2020-01-01", "2020-01-01"],
        [str(2**64), str(2**64 + 1), str(2**53), str(2**53 + 1)],
    ],
)
def test_groups_of_a_table_are_its_cells(names: list[str], run: Run, tmp_path: Path) -> None:
    """As the page and the command read them, whatever they look like."""
    expected = sorted({*names})
    rows = "".join(f"{score},{label},{name}\n" for name in names for score, label in ((0.5, 0), (0.7, 1)))
    (tmp_path / "x.csv").write_text(f"score,label,g\n{rows}")
    found = read_files("ood_bench", tmp_path / "x.csv", columns={"groups": "g"}).columns
    assert sorted({*found["groups"]}) == expected
    (tmp_path / "y.csv").write_text(f"score,label,g\nn/a,0,x\n{rows}")
    kept = read_files("ood_bench", tmp_path / "y.csv", columns={"groups": "g"}, leave_out=True).columns
    assert [*kept["groups"]] == [*found["groups"]]
    columns = [
        f"--{name}={tmp_path}/x.csv:{column}"
        for name, column in zip(("predictions", "references", "groups"), ("score", "label", "g"))
    ]
    code, output, errors = run("compute", "ood_bench", *columns, "--metrics", "auroc")
    assert (code, errors) == (0, "")
    assert sorted(json.loads(output)["groups"]["group"]) == expected


def test_groups_in_parquet(run: Run, tmp_path: Path) -> None:
    """Dates are text, long integers keep their digits beside gaps in other batches."""
    days = pyarrow.array([18262, 18263, None, 18262] * 5000, pyarrow.date32())
    ids = pyarrow.array([2**53 + 1] * 10_000 + [2**53] * 9_999 + [None])
    labels = pyarrow.array([0, 1] * 10_000)
    scores = pyarrow.array(np.linspace(0, 1, 20_000))
    table = pyarrow.table({"score": scores, "label": labels, "day": days, "id": ids, "word": ids.dictionary_encode()})
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    for column, expected in (
        ("day", ["2020-01-01", "2020-01-02"]),
        *((name, [str(2**53), str(2**53 + 1)]) for name in ("id", "word")),
    ):
        found = read_files("ood_bench", tmp_path / "x.parquet", columns={"groups": column}).columns
        assert sorted({str(group) for group in found["groups"] if group is not None}) == expected
        columns = [
            f"--{name}={tmp_path}/x.parquet:{own}"
            for name, own in zip(("predictions", "references", "groups"), ("score", "label", column))
        ]
        code, output, errors = run("compute", "ood_bench", *columns, "--metrics", "auroc")
        assert (code, errors) == (0, "")
        assert sorted(json.loads(output)["groups"]["group"]) == expected


ROWS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "records.json": lambda table, path: path.write_text(table.to_json(orient="records")),
    "records.jsonl": lambda table, path: path.write_text(table.to_json(orient="records", lines=True)),
    "lists.json": lambda table, path: path.write_text(json.dumps(table.to_dict("list")), encoding="utf-16"),
    "strings.parquet": lambda table, path: table.to_parquet(path, row_group_size=2),
    "categories.parquet": lambda table, path: table.astype({"image": "category"}).to_parquet(path),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_by_the_name_of_their_image(
    name: str, runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = []
    sides: list[tuple[str, Any, list[str]]] = [("p", BOXES[0], ["score", "class"]), ("r", BOXES[1], ["class"])]
    for side, images, last in sides:
        rows = [(f"{i}.jpg", *row) for i, image in enumerate(images) for row in image]
        files.append([tmp_path / f"{side}-{name}"])
        ROWS[name](pd.DataFrame(rows, columns=["image", "x1", "y1", "x2", "y2", *last]), files[-1][0])
    runner = runners("openset_detection")
    found = show(runner, files)
    options = runner.page.examples[0].options
    assert numbers(found.json) == runner.results({"predictions": BOXES[0], "references": BOXES[1]}, options)
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)


def test_an_image_for_each_row(runners: Any, tmp_path: Path) -> None:
    """Each row needs one; those of many images are not sought in all rows."""
    rows = np.tile([1.0, 2, 5, 6, 0.9, 0], (200_000, 1))
    image = np.arange(len(rows)) % 20_000
    rows[:, 4] = image / 20_000
    begin = time.process_time()
    found = Split({"predictions": image_names(image, "image")}).by_image("predictions", rows)
    assert time.process_time() - begin < 5  # a mask for each image takes a minute
    assert len(found) == 20_000
    assert all((part == rows[i]).all() for i, part in enumerate(found))
    for wrong, message in (
        (np.where(image == 7, np.nan, image), "image: expected an image for each row, got none for row 7"),
        (rows, r"image: expected one column that names the image, got shape \(200000, 6\)"),
    ):
        with pytest.raises(ValueError, match=message):
            image_names(wrong, "image")
    columns = ["x1", "y1", "x2", "y2", "score", "class"]
    table = pd.DataFrame(rows[:9], columns=columns)
    table.drop(columns="score").assign(image=0).to_csv(tmp_path / "y.csv", index=False)
    np.savez(tmp_path / "x.npz", image=image[:5], **{name: table[name].to_numpy() for name in columns})
    with pytest.raises(ValueError, match="predictions: expected an image for each row, got 5 for 9 rows"):
        show(runners("openset_detection"), [[tmp_path / "x.npz"], [tmp_path / "y.csv"]])


def test_maps_in_parquet(runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of several shapes, and tensors of one."""
    runner = runners("anomaly_suite")
    columns = {"predictions": [[[0.1, 0.9]], [[0.2], [0.3]]], "references": [[[0, 1]], [[0], [0]]]}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "lists.parquet")
    found = show(runner, [[tmp_path / "lists.parquet"]])
    assert numbers(found.json) == runner.results(columns, {})
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)
    stack = np.arange(24.0).reshape(2, 3, 4)
    tensors = {
        "predictions": pyarrow.FixedShapeTensorArray.from_numpy_ndarray(stack),
        "references": (stack > 20).tolist(),
    }
    pyarrow.parquet.write_table(pyarrow.table(tensors), tmp_path / "tensors.parquet")
    found = show(runner, [[tmp_path / "tensors.parquet"]])
    assert numbers(found.json) == runner.results({"predictions": stack, "references": stack > 20}, {})
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)


def test_each_file_has_its_variable(runners: Any, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maps = np.arange(12.0).reshape(3, 2, 2)
    columns = {"predictions": maps, "references": maps > 7, "image_scores": [0.1, 0.4, 0.3], "image_labels": [0, 1, 1]}
    files = dict(zip(columns, steps.npy(columns, tmp_path)[0]))
    sides = ("predictions", "image_scores"), ("references", "image_labels")
    found = show(runners("anomaly_suite"), [[files[name] for name in side] for side in sides])
    assert numbers(found.json) == runners("anomaly_suite").results(columns, {})
    assert rerun(found.call, tmp_path, root, monkeypatch) == numbers(found.json)


def test_columns_can_be_chosen() -> None:
    name, layout = "macro_open_f", LAYOUTS["macro_open_f"]
    table = pd.DataFrame({f"logit{i}": [0.1 * i, 0.5] for i in range(3)} | {"y": [1, 2], "d": [0.3, 0.2]})
    data = [table_of_frame(table)]
    assert runs(data[0]) == {"logit0 … logit2": ["logit0", "logit1", "logit2"]}
    assert guessed(layout, data)["predictions"] == ["logit0 … logit2"]
    with pytest.raises(TypeError, match=r"references: no column looks like it. Pick one, from logit0, .*, d"):
        settle(name, data).reading()
    chosen = {"predictions": ["logit2", "logit0"], "references": ["y"], "open_scores": ["d"]}
    given = settle(name, data, chosen).reading().columns
    assert given["predictions"].tolist() == [[0.2, 0.0], [0.5, 0.5]]
    assert given["references"].tolist() == [1, 2]


def test_numbered_columns_in_any_order(runners: Any, tmp_path: Path) -> None:
    matrix = np.eye(12)[[3, 11, 0, 10]]
    for order in (range(12), sorted(range(12), key=str), range(11, -1, -1)):
        table = pd.DataFrame({f"logit_{k}": matrix[:, k] for k in order} | {"label": [3, 11, 0, 10]})
        table.to_csv(tmp_path / "table.csv", index=False)
        assert numbers(show(runners("accuracyk"), [[tmp_path / "table.csv"]], k_list="1").json) == {"accuracy@1": 1.0}
    arrays = {name: np.zeros(2) for name in ("a10", "a9", "b1", "b3", "c1", "c_1", "d1", "a11")}
    assert runs(Table(arrays)) == {"a9 … a11": ["a9", "a10", "a11"]}


@pytest.mark.parametrize(
    ("predicted", "true"), [("predicted_label", "truth"), ("pred_label", "gt"), ("predicted_class", "class")]
)
def test_what_a_model_says_is_no_truth(predicted: str, true: str, tmp_path: Path) -> None:
    table = pd.DataFrame({predicted: [0, 1, 1, 0], true: [0, 1, 0, 0], "s_unknown": [0.1, 0.2, 0.3, 0.4]})
    table.rename(columns={"s_unknown": "unknown_score"}).to_csv(tmp_path / "x.csv", index=False)
    found = read_files("macro_open_f", tmp_path / "x.csv").columns
    assert (found["predictions"].tolist(), found["references"].tolist()) == ([0, 1, 1, 0], [0, 1, 0, 0])


def test_columns_with_nulls_in_json(tmp_path: Path) -> None:
    """They are columns, not lists of images; a record that lacks a name has nothing there."""
    rows: list[dict[str, Any]] = [{"score": 0.1, "label": 0}, {"score": 0.4, "label": 0, "group": None}]
    rows += [{"score": 0.3 + i / 10, "label": 1, "group": name} for i, name in enumerate(("near", "far"))]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "x.json").write_text(json.dumps({name: [row.get(name) for row in rows] for name in rows[-1]}))
    for suffix in ("json", "jsonl"):
        found = read_files("ood_bench", tmp_path / f"x.{suffix}").columns
        assert [*found["groups"]] == [None, None, "near", "far"]
    (tmp_path / "y.json").write_text(
        json.dumps({"label": [0, 0, 1, 1], "msp": [0.1, None, 0.3, 0.4], "energy": [0.1] * 3 + [1]})
    )
    with pytest.raises(ValueError, match="msp, row 2: this cell is empty or NaN"):
        read_files("ood_bench", tmp_path / "y.json", columns={"predictions": "msp"})


@pytest.mark.parametrize("numbers", ["1.0,0.0", "1,0"])
def test_whole_scores_stay_scores_when_a_row_is_left_out(numbers: str, tmp_path: Path) -> None:
    rows = [f"{numbers},1", f"{numbers},0"]
    for name, more in (("whole", []), ("gap", [",,1"]), ("text", ["n/a,n/a,1"])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["p0,p1,label", *rows, *more]))
    kept = [
        read_files("accuracyk", tmp_path / f"{name}.csv", leave_out=name != "whole").columns["predictions"]
        for name in ("whole", "gap", "text")
    ]
    assert {array.dtype.kind for array in kept} == {"f" if "." in numbers else "i"}


def test_three_files_of_one_name_and_rows_in_other_orders(tmp_path: Path) -> None:
    files = []
    for i in range(3):
        (tmp_path / str(i)).mkdir()
        pd.DataFrame({"id": range(4), "msp": [i, 0.2, 0.3, 0.4], "label": [0, 0, 1, 1]}).to_csv(
            tmp_path / f"{i}/r.csv", index=False
        )
        files.append(tmp_path / f"{i}/r.csv")
    assert [
        float(one["predictions"][0])
        for one in read_files(
            "ood_bench", files, columns={"predictions": ["msp", "r: msp", "r (2): msp"]}
        ).models.values()
    ] == [0, 1, 2]
    pd.DataFrame({"id": [3, 2, 1, 0], "energy": [0.4, 0.3, 0.2, 0.1]}).to_csv(tmp_path / "other.csv", index=False)
    with pytest.raises(
        ValueError, match="id: expected the rows of all files in one order, got another; sort them by id"
    ):
        read_files("ood_bench", [files[0], tmp_path / "other.csv"], columns={"predictions": "energy"})


def test_names_of_images_are_text(tmp_path: Path) -> None:
    """1.1 and 1.10 are two images, 3 and "3" one."""
    box = "0,0,4,4"
    (tmp_path / "p.csv").write_text(f"image,x1,y1,x2,y2,confidence,class\n1.1,{box},0.9,0\n1.10,{box},0.8,1\n")
    (tmp_path / "r.csv").write_text(f"image,x1,y1,x2,y2,class\n1.1,{box},1\n1.10,{box},0\n")
    found = read_files("openset_detection", tmp_path / "p.csv", tmp_path / "r.csv").columns
    assert [[row[-1] for row in image] for image in found["predictions"]] == [[0], [1]]
    names = ("image", "x1", "y1", "x2", "y2", "confidence", "class")
    for side, image in (("p", [3, 4]), ("r", ["3", "4"])):
        columns = dict(zip(names, (image, [0, 0], [0, 0], [4, 4], [4, 4], [0.5, 0.5], [0, 1])))
        if side == "r":
            del columns["confidence"]
        (tmp_path / f"{side}.json").write_text(json.dumps(columns))
    found = read_files("openset_detection", tmp_path / "p.json", tmp_path / "r.json").columns
    assert [len(found[name]) for name in ("predictions", "references")] == [2, 2]


def test_whole_numbers_can_be_scores() -> None:
    data = [table_of_frame(pd.DataFrame({"class 0": [1, 0], "class 1": [0, 1], "references": [0, 1]}))]
    assert settle("accuracyk", data).reading().columns["predictions"].dtype.kind == "i"
    assert settle("accuracyk", data, read_as="scores").reading().columns["predictions"].dtype.kind == "f"


def test_empty_cells_and_words_reach_the_metric(runners: Any) -> None:
    runner = runners("ood_bench")
    table = pd.DataFrame({"scores": [0.1, "", 0.3, ""], "labels": [0, 1, 1, ""]})
    with pytest.raises(ValueError, match=r"^scores, row 2: this cell is empty or NaN\. Fix the file"):
        runner.show(Form(tables=[table]))
    table.loc[1, "scores"] = "high"
    with pytest.raises(ValueError, match=r"^scores, row 2: 'high' is not a number\. Fix the file"):
        runner.show(Form(tables=[table]))


@pytest.mark.parametrize("name", openworld_metrics.METRICS)
def test_every_option_has_a_control(name: str, runners: Any) -> None:
    runner = runners(name)
    assert sorted(option.name for option in runner.page.options) == sorted(runner.defaults)
    assert {option.control for option in runner.page.options} <= CONTROLS.keys()
    help_of = argument_help(runner.texts.inputs)
    assert all(help_of[option.name] for option in runner.page.options)
    assert all(
        help_of[column.part_of or column.name] for column in runner.page.columns if not isinstance(column, Models)
    )
    assert set(runner.page.examples[0].options) <= set(runner.defaults)
    assert len(runner.page.pictures) == STEPS[name].pictures


def pickled(path: Path) -> Path:
    np.save(path.with_suffix(".npy"), np.asarray([{"a": 1}], dtype=object), allow_pickle=True)
    return path.with_suffix(".npy")


def pickled_npz(path: Path) -> Path:
    np.savez(path.with_suffix(".npz"), references=np.asarray([{"a": 1}], dtype=object))
    return path.with_suffix(".npz")


def zip_bomb(path: Path) -> Path:
    with zipfile.ZipFile(path.with_suffix(".npz"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("predictions.npy", bytes(PAGES.unpacked + 1))
    assert path.with_suffix(".npz").stat().st_size < 1_000_000
    return path.with_suffix(".npz")


def test_a_sample_is_no_header(tmp_path: Path) -> None:
    """A label in a word beside a score, without names above: the first sample would be lost."""
    (tmp_path / "mine.csv").write_text("0.3,id\n0.6,ood\n")
    told = "expected names in the first line, or numbers only, got 0.3, id; 0.3 is a value, so put a line of names"
    with pytest.raises(ValueError, match=f"mine.csv: {told}"):
        rows_of("ood_bench", [tmp_path / "mine.csv"], limits=PAGES)
    with pytest.raises(ValueError, match=f"{told}"):
        read_pasted("0.3\tid\n0.6\tood")
    assert [*read_pasted("label,0,1\n1,0.5,0.5")] == ["label", "0", "1"]


def npy_header_of(path: Path, shape: str) -> Path:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path.with_suffix(".npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    return path.with_suffix(".npy")


def npz_header_lie(path: Path) -> Path:
    with zipfile.ZipFile(path.with_suffix(".npz"), "w") as archive:
        archive.writestr("predictions.npy", npy_header_of(path, "(10000000000,)").read_bytes())
    return path.with_suffix(".npz")


def parquet_bomb(path: Path) -> Path:
    zeros = pyarrow.table({"predictions": np.zeros(PAGES.unpacked // 8 + 1, np.int8)})
    pyarrow.parquet.write_table(zeros, path.with_suffix(".parquet"))
    assert path.with_suffix(".parquet").stat().st_size < 1_000_000
    return path.with_suffix(".parquet")


def large(path: Path) -> Path:
    with path.with_suffix(".csv").open("wb") as file:
        file.truncate(PAGES.size + 1)
    return path.with_suffix(".csv")


def large_json(path: Path) -> Path:
    with path.with_suffix(".json").open("wb") as file:
        file.truncate(PAGES.json + 1)
    return path.with_suffix(".json")


def deep_json(path: Path) -> Path:
    path.with_suffix(".json").write_text("[" * 200_000)
    return path.with_suffix(".json")


def nonsense(suffix: str) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.with_suffix(suffix).write_bytes(b"\x00\xffnonsense, 1\n2, 3, 4\n")
        return path.with_suffix(suffix)

    return write


REFUSED = {
    "pickle-npy": (pickled, "upload.npy: expected numbers as .*, got objects"),
    "pickle-npz": (pickled_npz, "upload.npz: .*allow_pickle=False"),
    "zip-bomb": (zip_bomb, "upload.npz: pages take at most 200,000,000 bytes unpacked, not 200,000,"),
    "npy-header": (lambda path: npy_header_of(path, "(10000000000,)"), "upload.npy: .* or no whole .npy file"),
    "npz-header": (npz_header_lie, "upload.npz: "),
    "parquet-bomb": (parquet_bomb, "upload.parquet: pages take at most 200,000,000 bytes unpacked"),
    "large-csv": (large, "pages take at most 50,000,000 bytes of files, not 50,000,001"),
    "large-json": (large_json, "upload.json: pages take at most 10,000,000 bytes of JSON, not 10,000,001"),
    "deep-json": (deep_json, "upload.json: expected fewer nested lists"),
    "other-suffix": (
        nonsense(".pkl"),
        "upload.pkl: expected a file ending in .csv, .tsv, .parquet, .npz, .npy",
    ),
    **{kind: (nonsense(kind), f"upload{kind}: ") for kind in (suffix for suffix in SUFFIXES if suffix != ".pt")},
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, message = REFUSED[kind]
    path = write(tmp_path / "upload")
    if kind.startswith("large"):
        monkeypatch.setattr(Path, "read_bytes", lambda *_, **__: pytest.fail("read"))
    with pytest.raises(ValueError, match=message) as raised:
        read(page_of("ood_bench"), [], [[path]])
    assert str(tmp_path.parent) not in str(raised.value)


def test_too_many_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pages take at most 200 files at once, not 201"):
        rows_of("ood_bench", [tmp_path / f"{i}.csv" for i in range(201)], limits=PAGES)


def test_png_bomb_and_other_images(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    size = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 0, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    (tmp_path / "bomb.png").write_bytes(bomb)
    picture = io.BytesIO()
    Image.new("RGB", (4, 4)).save(picture, "GIF")
    (tmp_path / "gif.png").write_bytes(picture.getvalue())
    for name in ("bomb", "gif"):
        with pytest.raises(ValueError, match=f"{name}.png: ") as raised:
            read_photograph(tmp_path / f"{name}.png", f"{name}.png")
        assert str(tmp_path) not in str(raised.value)


def test_what_is_said_of_errors() -> None:
    assert explain(ValueError("tpr: expected a number in (0, 1], got 2")) == "tpr: expected a number in (0, 1], got 2"
    assert explain(ValueError("no file '/srv/app/x.csv'")) == "no file '…/x.csv'"
    assert (
        explain(KeyError("/srv/app/secret"))
        == "Something went wrong on our side (KeyError). Your data were not changed."
    )


def test_a_file_of_one_side_does_not_stand_for_the_other(runners: Any, tmp_path: Path) -> None:
    rows = [("a.jpg", 1, 2, 3, 4, 0.5, 0)]
    pd.DataFrame(rows, columns=["image", "x1", "y1", "x2", "y2", "score", "class"]).to_csv(tmp_path / "p.csv")
    with pytest.raises(TypeError, match="references: no column looks like it"):
        show(runners("openset_detection"), [[tmp_path / "p.csv"]])


def test_columns_that_are_likelier(tmp_path: Path) -> None:
    """Probabilities beside the true class, the image beside its frame, sizes of boxes beside those of images."""
    table = pd.DataFrame({"prob_0": [0.9, 0.2], "prob_1": [0.1, 0.8], "class": [1, 0], "label": [1, 0]})
    table.to_csv(tmp_path / "x.csv", index=False)
    assert read_files("accuracyk", tmp_path / "x.csv").columns["predictions"].tolist() == [[0.9, 0.1], [0.2, 0.8]]
    (tmp_path / "p.csv").write_text(
        "frame,image_id,x,y,bw,bh,score,class,width,height\n0,a,1,1,2,3,0.9,0,640,480\n0,b,1,1,2,3,0.9,0,640,480\n"
    )
    (tmp_path / "r.csv").write_text(
        "frame,image_id,x,y,bw,bh,class,width,height\n0,a,1,1,2,3,0,640,480\n0,b,1,1,2,3,0,640,480\n"
    )
    found = read_files("openset_detection", tmp_path / "p.csv", tmp_path / "r.csv").columns
    assert [image[:, :4].tolist() for image in found["references"]] == [[[1, 1, 2, 3]]] * 2


def test_groups_beside_what_tells_no_known_samples(runners: Any, tmp_path: Path) -> None:
    table = pd.DataFrame({"score": [0.1, 0.2, 0.3, 0.4], "label": [1, 1, 0, 0], "dataset": ["id", "id", "a", "b"]})
    table.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(
        ValueError, match=r"groups: expected in_value 0 and out_value 1 beside groups, .* got in_value 1"
    ):
        show(runners("ood_bench"), [[tmp_path / "x.csv"]], in_value=1, out_value=0)
    table = pd.DataFrame({"id_scores": [0.1, 0.2], "ood_scores": [0.3, 0.4], "model": ["a", "b"]})
    table.to_csv(tmp_path / "y.csv", index=False)
    with pytest.raises(
        ValueError, match=r"detector: expected none beside in-distribution scores and OOD scores, .*'one detector'"
    ):
        show(runners("ood_bench"), [[tmp_path / "y.csv"]])


def test_classes_from_1(tmp_path: Path) -> None:
    """The first column is class 0: labels from 1 beside columns from 1 lose 1, beside others they are an error."""
    table = pd.DataFrame({"prob_1": [0.9, 0.2], "prob_2": [0.05, 0.7], "prob_3": [0.05, 0.1], "label": [1, 2]})
    table.to_csv(tmp_path / "x.csv", index=False)
    found = read_files("accuracyk", tmp_path / "x.csv")
    assert found.columns["references"].tolist() == [0, 1]
    assert "references count classes from 1, as the columns prob_1 to prob_3 do" in found.guesses
    table.assign(label=[1, 4]).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(ValueError, match=r"references: expected classes from 0, .* prob_1, is class 0, got 1 to 4"):
        read_files("accuracyk", tmp_path / "x.csv")
    table.assign(label=[0, 1]).to_csv(tmp_path / "x.csv", index=False)
    assert read_files("accuracyk", tmp_path / "x.csv").columns["references"].tolist() == [0, 1]
    table.rename(columns=lambda name: name.replace("3", "0")).to_csv(tmp_path / "x.csv", index=False)
    assert read_files("accuracyk", tmp_path / "x.csv").columns["predictions"][0].tolist() == [0.05, 0.9, 0.05]
