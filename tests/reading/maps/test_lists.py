"""Lists of images: the numbers of a list are those of the folder in MVTec's layout that holds the same files."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite, read
from openworld_metrics.faces.page.worker import Request, compute as page_answers, look
from openworld_metrics.reading.cures import CurableError, choices_of
from openworld_metrics.reading.maps.reading import read_maps
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.conftest import Run
from tests.reading.maps.trees import write_map, write_mask, write_tree

HEADERS = {  # of columns, of which a list may have any
    "image": ("image", "image_path", "Image File", "img", "filename", "path"),
    "map": ("map", "anomaly_map", "map_path", "heatmap", "scores"),
    "mask": ("mask", "mask_path", "ground_truth", "gt", "maskname"),
    "defect": ("defect", "defect_type", "anomaly_class", "label"),
    "category": ("category", "object", "clsname", "product"),
}
PLACES = {"image": "data/{category}/test/{defect}/{stem}.png", "map": "maps/{category}/test/{defect}/{stem}.tiff"}


def rows_of(folder: Path) -> list[dict[str, str]]:
    """The rows of a list of a tree in MVTec's layout, in the order of its files."""
    rows = []
    for path in sorted(folder.glob("data/*/test/*/*.png")):
        at = {"category": path.parts[-4], "defect": path.parts[-2], "stem": path.stem}
        row = {name: place.format(**at) for name, place in PLACES.items()} | at
        mask = "data/{category}/ground_truth/{defect}/{stem}_mask.png".format(**at)
        rows.append({**row, "mask": mask if (folder / mask).is_file() else ""})
    return rows


def write_list(path: Path, rows: Sequence[Mapping[str, Any]], headers: Mapping[str, str]) -> Path:
    """A list with columns under other headers, as .csv, .tsv, .json or .jsonl."""
    named = [{header: row[name] for name, header in headers.items()} for row in rows]
    if path.suffix in (".json", ".jsonl"):
        named = [{key: cell or None for key, cell in row.items()} for row in named]
        lines = [json.dumps(row) for row in named]
        path.write_text("\n".join(lines) if path.suffix == ".jsonl" else json.dumps(named))
        return path
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*headers.values()], delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(named)
    return path


def numbers(results: Mapping[str, Any]) -> dict[str, Any]:
    """Results without the record of the files."""
    record = results["evaluation"]
    of_files = {name: record[name] for name in ("categories", "files", "options")}
    return {**{key: value for key, value in results.items() if key != "evaluation"}, **of_files}


def other_model(folder: Path) -> None:
    """A second model's maps, beside the first, in folder/other."""
    rng = np.random.default_rng(5)
    for path in sorted(folder.glob("maps/*/test/*/*.tiff")):
        write_map(folder / "other" / path.relative_to(folder / "maps"), rng.random((10, 12)).astype(np.float32))


@pytest.mark.parametrize("seed", range(12))
def test_a_list_is_the_folder_that_holds_its_files(seed: int, tmp_path: Path) -> None:
    """Whatever its format, headers, order, and the columns that files or folders make needless."""
    rng = np.random.default_rng(seed)
    write_tree("mvtec-ad", tmp_path, seed)
    options: dict[str, Any] = {"per_image": True, "confidence_level": 0.9, "n_resamples": 5}
    options |= {"levels": "image"} if seed % 4 == 3 else {}
    expected = numbers(evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", **options))
    rows = rows_of(tmp_path)
    rng.shuffle(rows)
    headers = {name: str(rng.choice(names)) for name, names in HEADERS.items()}
    headers = dict(rng.permutation([*headers.items()]).tolist())
    if rng.random() < 0.5:  # its mask says whether an image is anomalous
        rows = [{**row, "defect": "" if row["defect"] == "good" else row["defect"]} for row in rows]
    path = tmp_path / f"images{rng.choice(['.csv', '.tsv', '.json', '.jsonl'])}"
    if rng.random() < 0.5:  # in a folder of its own
        (tmp_path / "lists").mkdir()
        path = tmp_path / "lists" / path.name
        for row in rows:
            row.update({name: f"../{row[name]}" for name in ("image", "map", "mask") if row[name]})
    write_list(path, rows, headers)
    assert numbers(evaluate_anomaly_folder(path, **options)) == expected
    if rng.random() < 0.5:  # with the maps in a folder, and the list as the data set
        del headers["map"]
        write_list(path, rows, headers)
        assert numbers(evaluate_anomaly_folder(tmp_path / "maps", path, **options)) == expected
    else:  # with the data in a folder, and the list of the maps alone
        write_list(path, rows, {name: headers[name] for name in ("map", "image")})
        assert numbers(evaluate_anomaly_folder(path, tmp_path / "data", **options)) == expected


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("layout", ["visa", "real-iad"])
def test_the_list_of_a_data_set_as_a_list_of_ones_own(layout: str, seed: int, tmp_path: Path) -> None:
    """Its rows with the paths of their maps, in any order: the same numbers."""
    write_tree(layout, tmp_path, seed)
    lists = [*tmp_path.glob("data/split_csv/*.csv"), *sorted(tmp_path.glob("realiad_jsons/*.json"))]
    rows: list[dict[str, Any]] = []
    for path in lists:
        if path.suffix == ".csv":
            rows += csv.DictReader(dict.fromkeys(path.read_text().splitlines()))  # without rows that are written twice
        else:
            content = json.loads(path.read_text())
            for row in content["test"]:
                places = {
                    key: f"{content['meta']['prefix']}{row[key]}" for key in ("image_path", "mask_path") if row[key]
                }
                rows.append({**row, **places, "split": "test"})
    for row in rows:
        image = Path(row["image" if layout == "visa" else "image_path"])
        folder = {"Normal": "good", "Anomaly": "bad"}.get(image.parent.name)
        place = image.with_suffix(".tiff") if folder is None else f"{image.parts[0]}/{folder}/{image.stem}.tiff"
        row["map"] = f"../maps/{place}"
    np.random.default_rng(seed).shuffle(rows)
    write_list(tmp_path / "data" / "images.csv", rows, {name: name for name in rows[0]})
    options: dict[str, Any] = {
        "per_image": True,
        "sample_pattern": r"([^/]+)_C[0-9]_[^/]*$" if layout != "visa" else None,
    }
    expected = numbers(evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", **options))
    assert numbers(evaluate_anomaly_folder(tmp_path / "data" / "images.csv", **options)) == expected


def results_of(run: Run, *arguments: object) -> dict[str, Any]:
    """What a command prints as JSON."""
    code, output, errors = run(*arguments, "--format", "json")
    assert code == 0, errors
    results: dict[str, Any] = json.loads(output)
    return results


@pytest.fixture(name="rows")
def _rows(tmp_path: Path) -> list[dict[str, str]]:
    """A data set and two models' maps in the working directory of `run`, and the rows of their list."""
    write_tree("mvtec-ad", tmp_path)
    other_model(tmp_path)
    return [{**row, "other": row["map"].replace("maps/", "other/", 1)} for row in rows_of(tmp_path)]


NAMES = {name: name for name in HEADERS}
DRAWN = ("--confidence-level", "0.5", "--n-resamples", "9", "--levels", "image")


def test_doors(rows: list[dict[str, str]], run: Run, tmp_path: Path) -> None:
    """Python, the commands and the page, of a list, of its folder and of its archive: the same numbers."""
    write_list(tmp_path / "set.csv", rows, NAMES)
    expected = results_of(run, "anomaly", "--maps", "maps", "--data", "data")
    found = results_of(run, "anomaly", "--maps", "set.csv")
    assert numbers(found) == numbers(expected)
    assert found["evaluation"]["layout"] == "list"
    computed = results_of(run, "compute", "anomaly_suite", "maps", "data")
    archive = shutil.make_archive(str(tmp_path.with_name("packed")), "zip", tmp_path)
    for place in ("set.csv", archive, str(tmp_path)):
        assert results_of(run, "compute", "anomaly_suite", place) == computed
    request = Request("anomaly_suite", [{"one": [archive]}, {}], options=AnomalySuite.options)
    (answer,) = page_answers(request, False).values()
    rates = {key: rate for key, rate in computed.items() if isinstance(rate, float)}
    of_page = answer.results[answer.model]
    assert {key: of_page[key] for key in rates} == rates
    seen = look(Request("anomaly_suite", [{}, {"one": [archive]}]))
    assert not seen.error
    assert "18 maps, paired with their masks as listed." in seen.notes


def test_two_models(rows: list[dict[str, str]], run: Run, tmp_path: Path) -> None:
    """Two columns, or two lists, as two folders."""
    folders = ("--maps", "maps", "--compare", "other", "--data", "data", *DRAWN)
    expected = results_of(run, "anomaly", *folders)["comparison"]
    write_list(tmp_path / "set.csv", rows, {**NAMES, "map": "knn", "other": "msp"})
    write_list(tmp_path / "a.csv", rows, NAMES)
    write_list(tmp_path / "b.csv", rows[::-1], {"image": "image", "other": "map"})
    for files in (("set.csv",), ("set.csv", "--predictions", "knn,msp"), ("a.csv", "--compare", "b.csv")):
        assert results_of(run, "anomaly", "--maps", *files, *DRAWN)["comparison"] == expected
    of_two = results_of(run, "compare", "anomaly_suite", "set.csv", *DRAWN)
    assert of_two["difference"]
    assert results_of(run, "compare", "anomaly_suite", "a.csv", "b.csv", *DRAWN) == of_two
    columns = ("--first-predictions", "knn", "--second-predictions", "msp")
    assert results_of(run, "compare", "anomaly_suite", "set.csv", *columns, *DRAWN) == of_two
    for inputs, names in (
        ((["a.csv", "b.csv"],), ["a", "b"]),
        (("a.csv", "b.csv"), ["a", "b"]),
        (({"one": "a.csv", "two": "b.csv"},), ["one", "two"]),
        (("set.csv",), ["knn", "msp"]),
        (({"all": "set.csv", "b": "b.csv"},), ["all: knn", "all: msp", "b"]),
    ):
        assert [*read("anomaly_suite", *inputs).models] == names
    assert [*read("anomaly_suite", "set.csv", columns={"predictions": "msp"}).models] == ["msp"]


def changed(row: int, **cells: str) -> Callable[[list[dict[str, str]]], object]:
    """A change of some cells of a row."""
    return lambda rows: rows[row].update(cells)


@pytest.mark.parametrize(
    ("change", "message", "cures"),
    [
        (
            changed(2, mask="x.png"),
            r"/x\.png: expected the file that line 4 of set\.csv names, got none; to judge images alone",
            {"leave_out", "levels"},
        ),
        (changed(2, map="x.npy"), r"/x\.npy: expected the file that line 4 of set\.csv names, got none", {"leave_out"}),
        (
            changed(2, image="x.png"),
            r"/x\.png: expected the file that line 4 of set\.csv names, got none",
            {"leave_out"},
        ),
        (
            changed(2, map=""),
            r"test/crack/002\.png: expected its map \(map\) in line 4 of set\.csv, got none",
            {"leave_out"},
        ),
        (
            changed(2, mask=""),
            r"crack/002\.png: expected a mask, since line 4 of set\.csv calls it crack, got none",
            {"leave_out", "levels"},
        ),
        (changed(2, category=""), r"set\.csv: line 4: expected a category, got a blank", set()),
        (changed(2, image=""), r"set\.csv: line 4: expected an image, got a blank", set()),
        (
            lambda rows: rows[2].update(rows[1]),
            r"set\.csv: line 4: expected each image once, got data/nut/test/crack/001 as in line 3",
            set(),
        ),
        (
            lambda rows: rows[2].update(map=rows[1]["map"]),
            r"set\.csv: line 4: expected a map of its own in map, got that of line 3",
            set(),
        ),
        (
            lambda rows: rows[2].update(map=rows[2]["mask"]),
            r"set\.csv: line 4: expected another file as its map than as its mask, got 002_mask\.png for both",
            set(),
        ),
    ],
    ids=["mask", "map", "image", "no map", "no mask", "category", "no image", "repeated", "shared map", "mask as map"],
)
def test_errors_name_file_and_row(
    change: Callable[[list[dict[str, str]]], object],
    message: str,
    cures: set[str],
    rows: list[dict[str, str]],
    tmp_path: Path,
) -> None:
    change(rows)
    path = write_list(tmp_path / "set.csv", rows, NAMES)
    with pytest.raises(ValueError, match=message) as raised:
        read_maps(path)
    assert choices_of(raised.value) == cures


def test_columns_that_no_header_tells(rows: list[dict[str, str]], tmp_path: Path) -> None:
    """Are chosen by name; others are noted."""
    path = write_list(
        tmp_path / "set.csv", rows, {**NAMES, "defect": "x", "mask": "y", "stem": "image path", "other": "z"}
    )
    columns = {"references": "y", "image_labels": "x", "predictions": ["map"]}
    reading = read_maps(path, columns=columns)
    assert reading.guesses == ["Columns of set.csv: images is image, groups is category"]
    assert "Not used of set.csv: image path, z." in reading.notes
    assert reading.columns["image_labels"] == [row["defect"] != "good" for row in rows]
    for wrong, error, message in (
        (
            {"reference": "y"},
            TypeError,
            "columns: expected images, predictions, references, .* got 'reference'; did you",
        ),
        ({"references": "w"}, ValueError, r"set\.csv: references: expected a column of image, map, .*, got 'w'"),
        ({"references": ["x", "y"]}, ValueError, r"set\.csv: references: expected one column, got x, y"),
    ):
        with pytest.raises(error, match=message):
            read_maps(path, columns=wrong)
    rows = [{**row, "stem": row["image"]} for row in rows]
    path = write_list(tmp_path / "set.csv", rows, {**NAMES, "image": "image file", "stem": "image path"})
    with pytest.raises(
        CurableError, match=r"set\.csv: images: expected one column, got image file and image path"
    ) as raised:
        read_maps(path)
    assert choices_of(raised.value) == {"columns"}
    assert len(read_maps(path, columns={"images": "image path"}).columns["predictions"]) == len(rows)
    with pytest.raises(ValueError, match="columns: expected none without a list of images, got images image"):
        read_maps(tmp_path / "maps", tmp_path / "data", columns={"images": "image"})


def test_lists_that_are_none(rows: list[dict[str, str]], tmp_path: Path) -> None:
    path = write_list(tmp_path / "set.csv", rows, {name: name for name in ("image", "mask")})
    with pytest.raises(
        ValueError, match=r"set\.csv: expected a column of maps, as \.tiff, \.npy, \.npz or \.png, got none"
    ):
        read_maps(path)
    with pytest.raises(ValueError, match="maps: expected a data set of the maps, or a list of images, got neither"):
        read_maps(tmp_path / "maps")


def test_two_lists_agree(rows: list[dict[str, str]], tmp_path: Path) -> None:
    first = write_list(tmp_path / "a.csv", rows, NAMES)
    others = [{**row, "map": row["other"]} for row in rows]
    others[0] = {**others[0], "mask": rows[1]["mask"]}
    other = write_list(tmp_path / "b.csv", others, NAMES)
    with pytest.raises(
        ValueError, match=r"b\.csv: expected the mask 000_mask\.png of test/crack/000, got 001_mask\.png"
    ):
        read_maps([first, other])
    write_list(other, others[1:], {"image": "image", "map": "map"})
    with pytest.raises(ValueError, match=r"test/crack/000\.png: expected its map \(map\) in b\.csv, got none"):
        read_maps([first, other])
    write_list(other, others, {"map": "map"})
    with pytest.raises(ValueError, match=r"b\.csv: expected a column of images, by which lists are joined, got none"):
        read_maps([first, other])
    assert len(read_maps([first, other][:1]).columns["predictions"]) == len(rows)


@pytest.mark.parametrize("cell", ["/etc/hostname.png", "../../secret.png", "..\\..\\secret.png"])
def test_lists_of_archives_and_pages_name_no_other_files(cell: str, rows: list[dict[str, str]], tmp_path: Path) -> None:
    write_mask(tmp_path.parent / "secret.png", np.ones((10, 12), bool))
    rows[2]["mask"] = cell
    write_list(tmp_path / "set.csv", rows, NAMES)
    archive = shutil.make_archive(str(tmp_path.with_name("packed")), "zip", tmp_path)
    message = r"set\.csv: line 4: expected files that lie beside the list, or below it, got '"
    with pytest.raises(ValueError, match=message):
        read_maps(archive)
    for place in (archive, str(tmp_path / "set.csv")):
        assert re.search(message, look(Request("anomaly_suite", [{"one": [place]}, {}])).error)


def test_rows_of_training_and_several_masks(rows: list[dict[str, str]], tmp_path: Path) -> None:
    """A column split leaves out other rows than those of the test; masks between semicolons are united."""
    expected = AnomalySuite().compute(**read_maps(write_list(tmp_path / "set.csv", rows, NAMES)).columns)
    more = [{**row, "split": "test"} for row in rows]
    more += [{**rows[-1], "image": "data/nut/train/good/000.png", "map": "", "mask": "", "split": "train"}]
    for number, row in enumerate(more[:3]):
        mask = f"data/nut/ground_truth/crack/{number:03}_part.png"
        write_mask(tmp_path / mask, np.zeros((10, 12), bool))
        row["mask"] += f"; {mask}"
    reading = read_maps(write_list(tmp_path / "more.csv", more, {**NAMES, "split": "split"}))
    assert AnomalySuite().compute(**reading.columns) == expected
    assert [*reading.census.left_out] == [("other files", "not of the test")]
