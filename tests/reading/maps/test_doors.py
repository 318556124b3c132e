"""The page, the command and Python read the same files: the same columns, names, census and errors."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from openworld_metrics import AnomalySuite
from openworld_metrics.faces.page import worker
from openworld_metrics.reading.cures import CurableError, Cure, cures_of
from openworld_metrics.reading.limits import Limits, RefusedError
from openworld_metrics.reading.maps.files import Maps, check_sizes, read_all
from openworld_metrics.reading.maps.planes import MAP_SUFFIXES, MASK_SUFFIXES
from openworld_metrics.reading.maps.reading import read_maps
from openworld_metrics.reading.reading import Census
from tests.conftest import Run
from tests.reading.maps.trees import SHAPE, TREES, write_image, write_map, write_mask, write_tree
from tests.reading.page import read_page, request

METRIC = "anomaly_suite"
MASK = np.zeros(SHAPE, bool)
MASK[2:6, 3:7] = True


def scores(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(SHAPE).astype(np.float32)


def pairs(folder: Path, *names: str, masks: str = "data/{}.png") -> None:
    """A map of each name, and a mask of each second."""
    for i, name in enumerate(names):
        write_map(folder / f"maps/{name}.npy", scores(i) + (MASK if i % 2 else 0))
        if i % 2:
            write_mask(folder / masks.format(name), MASK)


def packed(folder: Path) -> None:
    """Both inputs as archives, in place of their folders."""
    for name in ("maps", "data"):
        shutil.make_archive(str(folder / name), "zip", folder / name)
        shutil.rmtree(folder / name)


def wrapped(layout: str) -> Callable[[Path], None]:
    """A data set within one more folder, as archives have it."""

    def write(folder: Path) -> None:
        write_tree(layout, folder / "whole")
        (folder / "data").mkdir()
        shutil.move(folder / "whole/data", folder / "data/set")
        shutil.move(folder / "whole/maps", folder / "maps")
        for beside in (folder / "whole").iterdir():  # Real-IAD's lists
            shutil.move(beside, folder / "data")
        packed(folder)

    return write


def plain(folder: Path) -> None:
    pairs(folder, "a", "b", "c", "d")


def categories(folder: Path) -> None:
    names = [f"{name}/{i}" for name in ("nut", "screw") for i in range(4)]
    pairs(folder, *names)


def mvtec_masks_alone(folder: Path) -> None:
    names = ["nut/test/good/0", "nut/test/cut/0", "bolt/test/good/0", "bolt/test/bent/0"]
    for i, name in enumerate(names):
        write_map(folder / f"maps/{name}.tiff", scores(i))
        if i % 2:
            write_mask(folder / f"data/{name.replace('test', 'ground_truth')}_mask.png", MASK)


def kolektor(folder: Path) -> None:
    for i in range(4):
        write_map(folder / f"maps/kos01/Part{i}.npy", scores(i))
        write_image(folder / f"data/kos01/Part{i}.jpg")
        write_mask(folder / f"data/kos01/Part{i}_label.bmp", MASK if i % 2 else ~MASK & MASK)


def save_array(path: Path, array: np.ndarray) -> None:
    if path.suffix in (".npy", ".npz"):
        (np.save if path.suffix == ".npy" else np.savez)(path, array)
    elif path.suffix in (".tif", ".tiff"):
        tifffile.imwrite(path, array)
    else:
        eight_bits = (100 * array).astype(np.uint8)
        Image.fromarray(eight_bits).save(path, **({"lossless": True} if path.suffix == ".webp" else {}))


def saved_as(maps: str, masks: str) -> Callable[[Path], None]:
    """Maps and masks in files of these suffixes."""

    def write(folder: Path) -> None:
        pairs(folder, "a", "b")
        score_maps = {path: np.load(path) for path in (folder / "maps").iterdir()}
        for path, score_map in score_maps.items():
            path.unlink()
            save_array(path.with_suffix(maps), score_map)
        (folder / "data/b.png").unlink()
        save_array(folder / f"data/b{masks}", MASK.astype(np.uint8))

    return write


def unpaired(folder: Path) -> None:
    pairs(folder, "a", "b", "c", "d")
    write_mask(folder / "data/B2.png", MASK)


def swapped_case(folder: Path) -> None:
    pairs(folder, "a", "b")
    (folder / "data/b.png").rename(folder / "data/B.png")


def twice(folder: Path) -> None:
    pairs(folder, "a", "b")
    write_map(folder / "maps/a.tiff", scores(5))


def of_another_kind(folder: Path) -> None:
    pairs(folder, "a", "b")
    (folder / "maps/b.xyz").write_bytes(b"")


def soft(folder: Path) -> None:
    pairs(folder, "a", "b")
    Image.fromarray(np.linspace(0, 255, MASK.size).astype(np.uint8).reshape(SHAPE)).save(folder / "data/b.png")


def two_sizes(folder: Path) -> None:
    pairs(folder, "a", "b")
    write_mask(folder / "data/b.png", np.kron(MASK, np.ones((2, 2), bool)))


def damaged(folder: Path) -> None:
    pairs(folder, "a", "b")
    (folder / "maps/a.npy").write_bytes(b"nonsense")


def nothing(folder: Path) -> None:
    pairs(folder, "a", "b")
    shutil.rmtree(folder / "maps")
    (folder / "maps").mkdir()


def no_masks(folder: Path) -> None:
    write_tree("mvtec-ad", folder)
    shutil.rmtree(folder / "data/nut/ground_truth")


def missing_map(folder: Path) -> None:
    write_tree("mvtec-ad", folder)
    (folder / "maps/nut/test/crack/001.tiff").unlink()


def zipped(write: Callable[[Path], None]) -> Callable[[Path], None]:
    def both(folder: Path) -> None:
        write(folder)
        packed(folder)

    return both


WRITE: dict[str, Callable[[Path], None]] = {
    **{layout: lambda folder, layout=layout: write_tree(layout, folder) and None for layout in TREES},  # type: ignore[misc]
    **{f"{layout}, in archives": wrapped(layout) for layout in TREES if layout != "folders"},
    "plain": plain,
    "plain, in archives": zipped(plain),
    "categories": categories,
    "masks of MVTec alone": zipped(mvtec_masks_alone),
    "images beside masks": zipped(kolektor),
    **{f"maps as {suffix}": saved_as(suffix, ".png") for suffix in sorted(MAP_SUFFIXES)},
    **{f"masks as {suffix}": saved_as(".npy", suffix) for suffix in sorted(MASK_SUFFIXES - {".avif", ".mpo"})},
    "a mask without a map": unpaired,
    "another case": zipped(swapped_case),
    "two maps": zipped(twice),
    "another kind": of_another_kind,
    "soft edges": zipped(soft),
    "two sizes": two_sizes,
    "damaged": damaged,
    "no maps": nothing,
    "no masks": no_masks,
    "a missing map": zipped(missing_map),
}


def places(folder: Path) -> list[Path]:
    return [next(folder.glob(f"{name}*")) for name in ("maps", "data")]


Found = tuple[dict[str, Any], list[str], Census]


def of_python(inputs: list[Path]) -> Found:
    reading = read_maps(*inputs)
    return {name: [*column] for name, column in reading.columns.items()}, [*reading.images], reading.census


def of_page(inputs: list[Path]) -> Found:
    reading = read_page(METRIC, [[path] for path in inputs])
    read_all(reading)  # as a look at the files does
    return reading.columns, [*reading.images], reading.census


def outcome(call: Callable[[list[Path]], Found], inputs: list[Path]) -> tuple[Found | None, str]:
    try:
        return call(inputs), ""
    except ValueError as error:
        return None, str(error).replace(f"{inputs[0].parent}/", "")


def arrays(column: list[Any]) -> list[Any]:
    return [
        {key: np.asarray(part).tolist() for key, part in one.items()}
        if isinstance(one, Mapping)
        else np.asarray(one).tolist()
        for one in column
    ]


@pytest.mark.parametrize("case", WRITE)
def test_one_reader(case: str, tmp_path: Path, run: Run) -> None:
    WRITE[case](tmp_path)
    inputs = places(tmp_path)
    (found, error), (shown, said) = outcome(of_python, inputs), outcome(of_page, inputs)
    assert error == said
    code, output, errors = run("anomaly", "--maps", inputs[0], "--data", inputs[1])
    if found is None or shown is None:
        assert (found, shown, code) == (None, None, 2)
        first = error.partition(" (the first of")[0].partition("; to ")[0]  # choices are spelt by each door
        assert first in errors.replace(f"{tmp_path}/", "")
        return
    assert code == 0, errors
    assert {name: arrays(column) for name, column in found[0].items()} == {
        name: arrays(column) for name, column in shown[0].items()
    }
    assert found[1:] == shown[1:]
    record = json.loads(output)
    computed = AnomalySuite().compute(**read_maps(*inputs).columns)
    for key in ("image_auroc", "pixel_auroc", "aupro@0.3"):
        assert record[key] == pytest.approx(computed[key], abs=1e-12), key
    table = dict(zip(record["groups"]["group"], record["groups"]["pixel_auroc"]))
    if "groups" in computed:
        assert dict(zip(computed["groups"]["group"], computed["groups"]["pixel_auroc"])).items() >= table.items()


@pytest.mark.parametrize("case", ["a mask without a map", "two maps", "another kind", "a missing map"])
def test_leaving_out(case: str, tmp_path: Path, run: Run) -> None:
    """With consent the rest is read by every door, and what is left out is a line of the census."""
    WRITE[case](tmp_path)
    inputs = places(tmp_path)
    with pytest.raises(CurableError) as raised:
        read_maps(*inputs)
    assert cures_of(raised.value)[-1] == Cure("to leave out 1 file", {"leave_out": True})
    reading = read_maps(*inputs, leave_out=True)
    assert any(reading.census.text() in note for note in reading.notes)
    files = [[path] for path in inputs]
    assert cures_of(worker.look(request(METRIC, files)).error) == cures_of(raised.value)
    left = worker.look(request(METRIC, files, leave_out=True))
    assert left.error == ""
    out = re.sub(r"/\S*/", "", reading.census.text())  # a page names files without their folders
    assert any(out in note for note in left.notes), left.notes
    (answer,) = worker.compute(request(METRIC, files, leave_out=True), False).values()
    assert any(out in note for note in answer.notes), answer.notes
    results = AnomalySuite().compute(**reading.columns)
    assert answer.results[answer.model] == results
    _, output, errors = run("anomaly", "--maps", inputs[0], "--data", inputs[1], "--leave-out")
    assert f"left out: {reading.census.text()}" in errors
    record = json.loads(output)
    assert record["evaluation"]["left_out"] == reading.census.text()
    assert record["pixel_auroc"] == pytest.approx(results["pixel_auroc"], abs=1e-12)


def test_several_models(tmp_path: Path) -> None:
    """As a mapping, and as archives of the same names; files that not all have are left out of all."""
    pairs(tmp_path, "a", "b", "c", "d")
    other = tmp_path / "other"
    shutil.copytree(tmp_path / "maps", other)
    write_map(other / "b.npy", scores(9))
    named = read_maps({"first": tmp_path / "maps", "second": other}, tmp_path / "data")
    alike = read_maps([tmp_path / "maps", other], tmp_path / "data")
    assert ([*named.models], [*alike.models]) == (["first", "second"], ["maps", "other"])
    assert not np.array_equal(named.models["first"]["predictions"][1], named.models["second"]["predictions"][1])
    with pytest.raises(ValueError, match="expected one model, got first, second"):
        named.columns  # noqa: B018
    (other / "c.npy").unlink()
    with pytest.raises(CurableError, match=r"maps/c.npy: expected a map of that image in .*other, too, got none"):
        read_maps({"first": tmp_path / "maps", "second": other}, tmp_path / "data")
    left = read_maps({"first": tmp_path / "maps", "second": other}, tmp_path / "data", leave_out=True)
    assert {len(columns["predictions"]) for columns in left.models.values()} == {3}


def test_files_are_read_when_they_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each map once, and a mask once, if both columns are taken whole; an entry or a slice, only its own files.

    Before that, the first masks are looked at, four at most, since they may be inverted, and are not read again.
    """
    pairs(tmp_path, *map(str, range(12)))
    opened: list[str] = []
    for name in ("read_map", "read_masks"):
        original: Any = getattr(__import__("openworld_metrics.reading.maps.files", fromlist=[name]), name)

        def counted(*arguments: Any, name: str = name, original: Any = original) -> Any:
            opened.append(name)
            return original(*arguments)

        monkeypatch.setattr(f"openworld_metrics.reading.maps.files.{name}", counted)
    columns = read_maps(tmp_path / "maps", tmp_path / "data").columns
    assert opened == ["read_masks"] * 4
    opened.clear()
    assert isinstance(columns["predictions"], Maps)
    assert len(columns["predictions"][2:4]) == len(columns["references"][2:4]) == 2
    assert opened.count("read_map") == 2
    AnomalySuite().compute(**columns)
    assert (opened.count("read_map"), opened.count("read_masks")) == (14, 2)


def test_void_and_resized_on_the_page(tmp_path: Path) -> None:
    """Choices of columns: masks in which 255 is void, and maps in the sizes of their masks."""
    pairs(tmp_path, "a", "b")
    void = np.where(MASK, 1, 0).astype(np.uint8)
    void[:1] = 255
    Image.fromarray(np.kron(void, np.ones((2, 2), np.uint8))).save(tmp_path / "data/b.png")
    Image.fromarray(np.zeros((2 * SHAPE[0], 2 * SHAPE[1]), np.uint8)).save(tmp_path / "data/a.png")
    files = [[tmp_path / name] for name in ("maps", "data")]
    with pytest.raises(worker.PageError, match="expected a mask of 0 and one other value, got 1 to 255"):
        worker.compute(request(METRIC, files, choices={"resize": "bilinear"}))
    error = worker.look(request(METRIC, files, choices={"ignore_value": 255})).error
    assert any("resize" in cure.choices for cure in cures_of(error)), error
    choices = {"resize": "bilinear", "ignore_value": 255}
    (answer,) = worker.compute(request(METRIC, files, choices=choices), False).values()
    reading = read_maps(tmp_path / "maps", tmp_path / "data", **choices)
    assert reading.options == {"ignore_value": 255}
    assert answer.results[answer.model] == AnomalySuite(**reading.options).compute(**reading.columns)


def test_limits(tmp_path: Path) -> None:
    pairs(tmp_path, "a", "b")
    small = Limits("pages", 3, 10**9, 10**9, 8 * 2 * MASK.size - 1, 9, 9, 9)
    reading = read_maps(tmp_path / "maps", tmp_path / "data", limits=small)
    with pytest.raises(RefusedError, match=r"b.npy: pages take at most 1,919 bytes unpacked, not 1,920") as raised:
        check_sizes(reading, small)
    assert worker.explain(raised.value).startswith("b.npy: ")
    with pytest.raises(RefusedError, match="pages take at most 1 files at once, not 2"):
        read_maps([*(tmp_path / "maps").iterdir()], tmp_path / "data", limits=small._replace(files=1))
