"""openworld-metrics submission: both folders against a plain loop, and one line, nothing written, for what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from openworld_metrics.command import submission
from openworld_metrics.reading.maps.planes import read_map
from tests.conftest import Run

FEW = {name: count % 4 + 1 for name, count in submission.COUNTS.items()}
PLACES = [
    f"{name}/{split}/{i:03}_{kind}"
    for name, count in FEW.items()
    for split, kind in submission.SPLITS.items()
    for i in range(count)
]


def test_the_counts_of_the_server() -> None:
    assert submission.COUNTS == {
        "can": 321, "fabric": 314, "fruit_jelly": 255, "rice": 277,
        "sheet_metal": 142, "vial": 276, "wallplugs": 232, "walnuts": 228,
    }  # fmt: skip


@pytest.fixture
def maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Maps of a few images of each object, in .tiff, and thresholds that are pixels of theirs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(submission, "COUNTS", FEW)
    rng = np.random.default_rng(0)
    for place in PLACES:
        path = Path("maps", f"{place}.tiff")
        path.parent.mkdir(parents=True, exist_ok=True)
        tifffile.imwrite(path, rng.integers(0, 5000, (6, 7)).astype(np.float32) / 7)
    thresholds = {name: float(read_map(f"maps/{name}/test_private/000_regular.tiff")[2, 3]) for name in FEW}
    fitted = {"decision": "score > threshold", "of": ["pixels"], "rule": "max", "promise": "", "threshold": thresholds}
    Path("t.json").write_text(json.dumps(fitted))
    return Path("maps")


@pytest.fixture
def run(run: Run) -> Run:
    return partial(run, "submission", "--maps", "maps", "--thresholds", "t.json", "--out", "out")


def test_both_folders_against_a_plain_loop(maps: Path, run: Run) -> None:
    status, output, errors = run()
    assert (status, errors) == (0, "")
    thresholds = json.loads(Path("t.json").read_text())["threshold"]
    written = sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.is_file())
    assert written == sorted(
        [f"anomaly_images/{place}.tiff" for place in PLACES]
        + [f"anomaly_images_thresholded/{place}.png" for place in PLACES]
    )
    merged = dict.fromkeys(FEW, 0)
    for place in PLACES:
        name = place.partition("/")[0]
        scores = read_map(maps / f"{place}.tiff")
        rounded = tifffile.imread(f"out/anomaly_images/{place}.tiff")
        assert rounded.dtype == np.float16
        assert rounded.tolist() == [[float(np.float16(score)) for score in row] for row in scores]
        with Image.open(f"out/anomaly_images_thresholded/{place}.png") as image:
            assert image.mode == "L"
            assert np.asarray(image).tolist() == [[255 * (float(s) > thresholds[name]) for s in row] for row in scores]
        merged[name] += len({*scores.reshape(-1).tolist()}) - len({*rounded.reshape(-1).tolist()})
    objects = json.loads(output)["objects"]
    assert dict(zip(objects["object"], objects["merged_by_float16"])) == merged
    assert sum(merged.values()) > 0


def test_sizes_of_the_images(maps: Path, run: Run) -> None:
    for place in PLACES:
        path = Path("data", f"{place}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (7, 6)).save(path)
    assert run("--data", "data")[0] == 0
    Image.new("RGB", (8, 6)).save("data/rice/test_private/001_regular.png")
    assert (
        run("--data", "data")[2]
        == "openworld-metrics: out: expected a folder that does not exist, got an existing one\n"
    )
    Path("out").rename("before")
    assert run("--data", "data")[2] == (
        "openworld-metrics: maps/rice/test_private/001_regular.tiff: expected 6 × 8 pixels as "
        "data/rice/test_private/001_regular.png, got 6 × 7\n"
    )
    assert not Path("out").exists()


CAN = Path("maps/can/test_private")


def write(scores: np.ndarray) -> None:
    tifffile.imwrite(CAN / "001_regular.tiff", scores)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda: (CAN / "001_regular.tiff").unlink(), f"{CAN}: expected 2 maps, got 1"),
        (lambda: (CAN / "001_regular.tiff").rename(CAN / "001.tiff"), "expected a name such as 000_regular.tiff"),
        (lambda: np.save(CAN / "001_regular.npy", np.zeros((6, 7))), "expected one map of that name"),
        (lambda: np.save("maps/other.npy", np.zeros((6, 7))), "maps/other.npy: expected <object>/test_private or"),
        (lambda: write(np.zeros((7, 6), np.float32)), "expected 6 × 7 pixels as"),
        (lambda: write(np.full((6, 7), 65520, np.float32)), "expected scores of at most 65,504, which float16 holds"),
        (lambda: write(np.full((6, 7), np.nan, np.float32)), "expected numbers, got NaN"),
        (lambda: write(np.zeros((6, 7, 3), np.float32)), "001_regular.tiff: "),
    ],
)  # fmt: skip
def test_one_line_and_nothing_written(maps: Path, run: Run, spoil: Callable[[], object], message: str) -> None:
    spoil()
    before = sorted(Path().iterdir())
    status, output, errors = run()
    assert (status, output, len(errors.splitlines())) == (2, "", 1)
    assert message in errors
    assert sorted(Path().iterdir()) == before


def test_the_largest_float16_is_kept(maps: Path, run: Run) -> None:
    write(np.full((6, 7), 65519, np.float32))
    assert run()[0] == 0
    assert tifffile.imread("out/anomaly_images/can/test_private/001_regular.tiff")[0, 0] == 65504


def test_thresholds_of_other_objects(maps: Path, run: Run) -> None:
    fitted = json.loads(Path("t.json").read_text())
    del fitted["threshold"]["vial"]
    Path("t.json").write_text(json.dumps(fitted))
    assert "thresholds: expected one for 'vial', got thresholds for can, fabric" in run()[2]
    Path("t.json").write_text(json.dumps({**fitted, "of": ["samples"]}))
    assert run()[2] == "openworld-metrics: t.json: expected a threshold of pixels, got one of samples\n"
