"""Whatever is wrong with a file is said in a line that begins with its name."""

from __future__ import annotations

import io
import re
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from openworld_metrics.reading.maps import planes as map_files
from openworld_metrics.reading.maps.files import file_problems
from openworld_metrics.reading.maps.layouts import NAMES
from openworld_metrics.reading.maps.planes import anomalous_pixels
from openworld_metrics.reading.maps.sources import list_anomaly_maps
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.reading.maps.trees import SHAPE, of_python, write_image, write_map, write_mask, write_tree

FINE = np.zeros(SHAPE, dtype=np.float32)
MAP = Path("maps/nut/test/crack/001.tiff")
BOTH = ("maps", "data")


def read_mask(path: Path) -> np.ndarray:
    return anomalous_pixels(map_files.read_mask_values(path))


def _nan() -> None:
    broken = FINE.copy()
    broken[3, 4] = np.nan
    write_map(MAP, broken)


# what is done to the files of MVTec AD → the whole of the line
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "missing": (
        lambda: MAP.rename("elsewhere.tiff"),
        "data/nut/test/crack/001.png: expected its map nut/…/crack/001.tiff in maps, got none",
    ),
    "doubled": (
        lambda: np.save(MAP.with_suffix(".npy"), FINE),
        "maps/nut/test/crack/001.tiff: expected one map of test/crack/001, got nut/test/crack/001.npy too",
    ),
    "unpaired": (
        lambda: write_map(Path("maps/nut/test/crack/007.tiff"), FINE),
        "maps/nut/test/crack/007.tiff: expected an image of that name and folder, got none",
    ),
    "of no category": (
        lambda: write_map(Path("maps/bolt/test/crack/001.tiff"), FINE),
        "maps/bolt/test/crack/001.tiff: expected it in a folder of a category (nut, screw), got another",
    ),
    "image without mask": (
        lambda: Path("data/nut/ground_truth/hole/000_mask.png").rename("elsewhere.png"),
        "data/nut/test/hole/000.png: expected a mask ground_truth/hole/000_mask.png, got none;"
        " to judge images alone, use levels='image'",
    ),
    "mask without image": (
        lambda: Image.new("L", SHAPE[::-1]).save("data/nut/ground_truth/hole/009_mask.png"),
        "data/nut/ground_truth/hole/009_mask.png: expected the image of the mask, got none",
    ),
    "two images": (
        lambda: Image.new("L", SHAPE[::-1]).save("data/nut/test/hole/000.jpg"),
        "data/nut/test/hole/000.png: expected one image of that name, got 000.jpg too",
    ),
    "two masks": (
        lambda: Image.new("L", SHAPE[::-1]).save("data/nut/ground_truth/hole/000_mask.bmp"),
        "data/nut/ground_truth/hole/000_mask.png: expected one mask of that name, got 000_mask.bmp too",
    ),
    "another size": (
        lambda: write_map(MAP, FINE[:5]),
        "maps/nut/test/crack/001.tiff: expected 10 × 12 pixels as data/nut/ground_truth/crack/001_mask.png, got 5 × 12;"
        " to resize maps, use resize='nearest' or 'bilinear'",
    ),
    "another size than a normal image": (
        lambda: write_map(Path("maps/screw/test/good/002.tiff"), FINE.T),
        "maps/screw/test/good/002.tiff: expected 10 × 12 pixels as data/screw/test/good/002.png, got 12 × 10;"
        " to resize maps, use resize='nearest' or 'bilinear'",
    ),
    "NaN": (_nan, "maps/nut/test/crack/001.tiff: expected numbers, got NaN at row 3, column 4"),
    "no TIFF": (
        lambda: MAP.write_bytes(b"hello"),
        "maps/nut/test/crack/001.tiff: not a TIFF file: header=b'hell'",
    ),
    "empty file": (lambda: MAP.write_bytes(b""), "maps/nut/test/crack/001.tiff: not a TIFF file: header=b''"),
    "cut off": (
        lambda: MAP.write_bytes(MAP.read_bytes()[:-9]),
        "maps/nut/test/crack/001.tiff: failed to read 240 bytes, got 231",
    ),
    "colours": (
        lambda: write_map(MAP, np.zeros((*SHAPE, 3), dtype=np.float32)),
        "maps/nut/test/crack/001.tiff: expected one map (H, W), got the shape (10, 12, 3)",
    ),
    "complex": (
        lambda: write_map(MAP, FINE.astype(np.complex64)),
        "maps/nut/test/crack/001.tiff: expected a map of real numbers, got complex64",
    ),
    "anomalous pixels of a normal image": (
        lambda: write_mask(Path("data/nut/ground_truth/good/000_mask.png"), np.ones(SHAPE, dtype=bool)),
        "data/nut/ground_truth/good/000_mask.png: expected no anomalous pixel of a normal image, got 120",
    ),
    "broken mask": (
        lambda: Path("data/nut/ground_truth/crack/001_mask.png").write_bytes(b"no image"),
        "data/nut/ground_truth/crack/001_mask.png: cannot identify image file"
        " 'data/nut/ground_truth/crack/001_mask.png'",
    ),
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree("mvtec-ad", tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", WRONG)
def test_one_thing_is_wrong(case: str, tree: None) -> None:
    change, line = WRONG[case]
    change()
    listed = list_anomaly_maps("maps", "data")
    cure = "; to leave out 1 file, use leave_out=True" if listed.problems else ""
    with pytest.raises(ValueError, match=f"^{re.escape(line + cure)}$"):
        evaluate_anomaly_folder("maps", "data")
    assert file_problems(listed) == [line]


def test_all_problems_are_listed(tree: None) -> None:
    names = ["missing", "unpaired", "mask without image", "NaN", "another size than a normal image", "broken mask"]
    (Path("maps/nut/test/hole/000.tiff")).unlink()
    for name in names[1:]:
        WRONG[name][0]()
    lines = file_problems(list_anomaly_maps("maps", "data"))
    # of a map, it is said first what is wrong with the map itself
    wanted = {WRONG[name][1] for name in names[1:-1]}
    assert wanted < {*lines}
    assert len(lines) == 5
    with pytest.raises(ValueError, match=r"problems\); to leave out 3 files, use leave_out=True$"):
        evaluate_anomaly_folder("maps", "data")


def test_a_stem_that_repeats_needs_its_defects_folder(tree: None) -> None:
    MAP.rename("maps/nut/001.tiff")
    listed = list_anomaly_maps("maps", "data")
    assert listed.problems[0] == (
        "maps/nut/001.tiff: expected the folder of a defect, since 3 images have that name: test/crack/001,"
        " test/good/001, test/hole/001"
    )


REFUSED: dict[str, tuple[tuple[str, str], dict[str, Any], str]] = {
    "data": (("maps", "nowhere"), {}, "nowhere: expected a folder, got none$"),
    "maps": (("nowhere", "data"), {}, "nowhere: expected a folder of maps, got none$"),
    "layout": (BOTH, {"layout": "mvtec"}, f"layout: expected one of {', '.join(NAMES)}, got 'mvtec'$"),
    "categories": (BOTH, {"categories": ["bolt"]}, "categories: expected some of nut, screw, got 'bolt'$"),
    "resize": (BOTH, {"resize": "cubic"}, "resize: expected one of nearest, bilinear, got 'cubic'$"),
    "option": (BOTH, {"limits": 0.3}, "anomaly_suite has no argument 'limits'"),
    "another layout": (BOTH, {"layout": "mvtec-loco"}, "data: expected MVTec LOCO AD|data/nut.*: expected a folder"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_folders_and_names(case: str, tree: None) -> None:
    folders, options, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=f"^({message})"):
        evaluate_anomaly_folder(*folders, **options)


def test_a_category_without_normal_images(tree: None) -> None:
    for path in [*Path("data/screw/test/good").iterdir(), *Path("maps/screw/test/good").iterdir()]:
        path.unlink()
    message = r"^group 'screw': references: expected anomalous and normal images, got 6 anomalous"
    with pytest.raises(ValueError, match=message):
        evaluate_anomaly_folder("maps", "data")


def test_the_list_of_visa(tmp_path: Path) -> None:
    write_tree("visa", tmp_path)
    table, nut = tmp_path / "data/split_csv/1cls.csv", tmp_path / "data/nut/Data"
    (nut / "Images/Normal/001.JPG").unlink()
    (nut / "Masks/Anomaly/002.png").unlink()
    lines = list_anomaly_maps(tmp_path / "maps", tmp_path / "data").problems
    assert lines == [
        f"{nut}/Images/Normal/001.JPG: expected the file that line 4 of 1cls.csv names, got none",
        f"{nut}/Masks/Anomaly/002.png: expected the file that line 12 of 1cls.csv names, got none"
        "; to judge images alone, use levels='image'",
    ]
    content = table.read_text()
    for text, message in (
        (content.replace(",test,", ",train,"), "expected a row of each image of nut, got none of the test"),
        (
            content + content.splitlines()[1],
            "line 26: expected each image once, got Data/Images/Normal/000 as in line 2",
        ),
        (
            content.replace("Masks", "../../Masks", 1),
            "line 8: expected files in .*data/nut, got '../Masks/Anomaly/000.png'",
        ),
        ("object,label\na,b\n", "expected columns image, mask, split, got object, label"),
    ):
        table.write_text(text)
        with pytest.raises(ValueError, match=f"1cls.csv: {message}$"):
            evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")
    table.unlink()
    with pytest.raises(ValueError, match=r"1cls.csv: expected the list of the images of nut, got no such file$"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint16])
def test_every_kind_of_map(dtype: type, tmp_path: Path) -> None:
    score_map: np.ndarray = (np.random.default_rng(0).random(SHAPE) * 1000).astype(dtype)
    np.save(tmp_path / "a.npy", score_map)
    np.save(tmp_path / "axes.npy", score_map[None, :, :, None])
    np.savez(tmp_path / "b.npz", score_map)
    np.savez_compressed(tmp_path / "c.npz", anything=score_map)
    tifffile.imwrite(tmp_path / "d.tif", score_map)
    tifffile.imwrite(tmp_path / "e.TIFF", score_map, compression="zlib")
    if dtype == np.uint16:
        Image.fromarray(score_map).save(tmp_path / "f.png")
    for i, compression in enumerate(("lzw", "zstd", "packbits")):
        tifffile.imwrite(tmp_path / f"{i}.tif", score_map, compression=compression, tile=(16, 16) if i else None)
    tifffile.imwrite(tmp_path / "g.tif", score_map, compression="lzw", predictor=True)
    if dtype == np.float32:
        Image.fromarray(score_map).save(tmp_path / "h.tiff", compression="tiff_lzw")
    for path in tmp_path.iterdir():
        found = map_files.read_map(path)
        assert (found == score_map).all()
        assert found.dtype == dtype


@pytest.mark.parametrize("mode", ["1", "L", "P", "I;16", "RGB", "RGBA", "LA"])
def test_every_kind_of_mask(mode: str, tmp_path: Path) -> None:
    mask = np.random.default_rng(0).random(SHAPE) > 0.5
    grey = Image.fromarray(mask.astype(np.uint8) * 7)
    made = Image.fromarray(mask.astype(np.uint16)) if mode == "I;16" else grey.convert("L" if mode == "P" else mode)
    if mode == "1":
        made = Image.fromarray(mask)
    if mode == "P":
        made.putpalette([9] * 768)
    made.save(tmp_path / "mask.png")
    made.save(tmp_path / "mask.tiff", compression="tiff_lzw")
    np.save(tmp_path / "mask.npy", mask.astype(np.float32) * 0.1)
    for path in tmp_path.iterdir():
        assert (read_mask(path) == mask).all()


@pytest.mark.parametrize("suffix", [".png", ".tiff"])
def test_masks_with_palettes(suffix: str, tmp_path: Path) -> None:
    """Indices if the first colour is black; greys where a writer puts white first, as Pillow's quantize does."""
    mask = np.random.default_rng(0).random(SHAPE) > 0.5
    inverted = Image.fromarray((~mask).astype(np.uint8), "L")
    for number, palette in enumerate(([255, 255, 255, 0, 0, 0], [200, 200, 200, 0, 0, 0])):
        inverted.putpalette(palette + [0] * (768 - len(palette)))
        inverted.save(tmp_path / f"{number}{suffix}")
        assert (read_mask(tmp_path / f"{number}{suffix}") == mask).all()
    Image.fromarray(mask).convert("RGB").quantize(2).save(tmp_path / f"q{suffix}")
    assert (read_mask(tmp_path / f"q{suffix}") == mask).all()
    numbers = Image.fromarray(mask.astype(np.uint8) * 7, "L")
    numbers.putpalette([0, 0, 0] + [200, 0, 0] * 255)
    numbers.save(tmp_path / f"voc{suffix}")
    assert (map_files.read_mask_values(tmp_path / f"voc{suffix}") == mask * 7).all()
    numbers.putpalette([200, 0, 0] + [0, 0, 0] * 255)
    numbers.save(tmp_path / f"red{suffix}")
    with pytest.raises(ValueError, match=rf"red{suffix}: expected a palette of greys, or one that begins with black"):
        read_mask(tmp_path / f"red{suffix}")
    with pytest.raises(
        ValueError, match=rf"red{suffix}: expected numbers, got the indices of a palette|of one channel"
    ):
        map_files.read_map(tmp_path / f"red{suffix}")


def _resized(mask: np.ndarray) -> np.ndarray:
    """A mask larger and back, bilinearly: greys at the edges."""
    picture = Image.fromarray(mask).resize((40, 40)).resize((32, 32), Image.Resampling.BILINEAR)
    return np.asarray(picture)


SOFT: dict[str, Callable[[np.ndarray, Path], object]] = {
    "jpg": lambda mask, path: Image.fromarray(mask).save(path),
    "webp": lambda mask, path: Image.fromarray(mask).save(path, icc_profile=bytes(300)),
    "png": lambda mask, path: Image.fromarray(_resized(mask)).save(path),
    "bmp": lambda mask, path: Image.fromarray(_resized(mask)).convert("RGB").save(path),
    "tif": lambda mask, path: tifffile.imwrite(path, _resized(mask)),
    "npy": lambda mask, path: np.save(path, _resized(mask) / np.float32(255)),
    "npz": lambda mask, path: np.savez(path, _resized(mask)),
}


@pytest.mark.parametrize("suffix", SOFT)
def test_masks_with_soft_edges(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Greys around a region are not anomalous pixels: refused in each format by one sentence, or cut."""
    monkeypatch.chdir(tmp_path)
    mask = np.zeros((32, 32), np.uint8)
    mask[9:20, 7:18] = 255
    Path("masks").mkdir()
    for name in "ab":
        write_map(Path(f"maps/{name}.npy"), (mask * (name == "a")).astype(np.float32))
        SOFT[suffix](mask * (name == "a"), Path(f"masks/{name}.{suffix}"))
    said = rf"a.{suffix}: .*expected a mask of 0 and one other value, got \S+ to \S+; to cut it at half of"
    for call in (evaluate_anomaly_folder, of_python):
        with pytest.raises(ValueError, match=said):
            call("maps", "masks")
    (line,) = file_problems(list_anomaly_maps("maps", "masks"))
    assert re.search(said, line)
    half = 0.5 if suffix == "npy" else 127.5
    found = evaluate_anomaly_folder("maps", "masks", mask_threshold=half)
    assert (found["pixel_auroc"], found["evaluation"]["mask_threshold"]) == (1.0, half)
    assert evaluate_anomaly_folder("maps", "masks", mask_threshold=0)["pixel_auroc"] < 1
    with pytest.raises(ValueError, match=r"mask_threshold: expected a number of at least 0, got -1"):
        evaluate_anomaly_folder("maps", "masks", mask_threshold=-1)
    with pytest.raises(ValueError, match="mask_threshold: expected none beside regions='labels', got 1"):
        evaluate_anomaly_folder("maps", "masks", mask_threshold=1, regions="labels")


@pytest.mark.parametrize("seed", range(40))
def test_a_mask_is_binary_or_refused(seed: int, tmp_path: Path) -> None:
    """By a plain set of its values: 0, what is ignored, and one other."""
    rng = np.random.default_rng(seed)
    values = rng.choice(rng.integers(0, 256, rng.integers(1, 4)), SHAPE).astype(np.uint8)
    ignored = [int(rng.choice(values.ravel()))] if rng.random() < 0.5 else []
    suffix = rng.choice(["png", "bmp", "tif", "npy"])
    path = tmp_path / f"mask.{suffix}"
    np.save(path, values) if suffix == "npy" else Image.fromarray(values).save(path)
    others = {*values.ravel().tolist()} - {0, *ignored}
    read = map_files.read_mask_values(path)
    cut = int(rng.integers(0, 256))
    assert (anomalous_pixels(read, ignored, cut) == (values > cut) & ~np.isin(values, ignored)).all()
    if len(others) > 1:
        with pytest.raises(
            ValueError,
            match=f"got {min(others)} to {max(others)}; to cut it",
        ):
            anomalous_pixels(read, ignored)
    else:
        assert (anomalous_pixels(read, ignored) == np.isin(values, [*others])).all()


def test_masks_in_transparency_in_inks_and_in_channels_of_16_bits(tmp_path: Path) -> None:
    mask = (np.random.default_rng(0).random(SHAPE) > 0.5).astype(np.uint8) * 255
    white = np.full((*SHAPE, 3), 255, np.uint8)
    for colour in (white, 0 * white):
        Image.fromarray(np.dstack([colour, mask])).save(tmp_path / "clear.png")
        with pytest.raises(
            ValueError, match=r"clear.png: expected a mask in its colours, got one colour and a mask in"
        ):
            read_mask(tmp_path / "clear.png")
    Image.fromarray(mask).convert("RGB").convert("CMYK").save(tmp_path / "inks.tiff")
    with pytest.raises(ValueError, match=r"inks.tiff: expected a mask in greys, colours or a palette, got one in inks"):
        read_mask(tmp_path / "inks.tiff")
    rows = b"".join(b"\0" + row.tobytes() for row in (mask[..., None] // 255 * np.ones(3)).astype(">u2"))
    head = struct.pack(">IIBBBBB", SHAPE[1], SHAPE[0], 16, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    parts = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    (tmp_path / "deep.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
    with pytest.raises(
        ValueError, match=r"deep.png: expected 8 bits a channel, or one channel of 16, got several of 16"
    ):
        read_mask(tmp_path / "deep.png")


def test_maps_of_other_folders_than_their_masks(tmp_path: Path) -> None:
    """As in MVTec AD, good/000 and bad/000 are two images; a folder of all maps, or of no mask, tells nothing."""

    def paired(masks: list[str], maps: list[str]) -> list[tuple[str, bool]]:
        for name in masks:
            write_mask(tmp_path / "masks" / f"{name}.png", np.ones(SHAPE, bool))
        for name in maps:
            write_map(tmp_path / "maps" / f"{name}.tiff", FINE)
        listed = list_anomaly_maps(tmp_path / "maps", tmp_path / "masks", layout="folders")
        found = [
            (path.relative_to(tmp_path / "maps").with_suffix("").as_posix(), bool(image.masks))
            for image, path in listed.pairs
        ]
        shutil.rmtree(tmp_path / "masks")
        shutil.rmtree(tmp_path / "maps")
        problems.extend(problem.rpartition("/masks/")[2] for problem in listed.problems)
        return sorted(found)

    problems: list[str] = []
    assert paired(["bad/0", "bad/1"], ["bad/0", "bad/1", "good/0"]) == [
        ("bad/0", True),
        ("bad/1", True),
        ("good/0", False),
    ]
    assert not problems
    assert paired(["bad/0", "bad/1"], ["bad/0", "good/1"]) == [("bad/0", True), ("good/1", False)]
    assert problems.pop().startswith("bad/1.png: expected its map bad/1.tiff in")
    assert paired(["0"], ["bad/0", "good/1", ".backup/2"]) == [("bad/0", True), ("good/1", False)]
    assert paired(["bad/0"], ["0", "1"]) == [("0", True), ("1", False)]
    assert paired(["all/0", "all/1"], ["bad/0", "bad/1", "good/2"])[2:] == [("good/2", False)]
    assert paired(["test/bad/0"], ["bad/0", "good/0"]) == [("bad/0", True), ("good/0", False)]
    assert paired(["bad/0"], ["run/bad/0", "run/good/0"]) == [("run/bad/0", True), ("run/good/0", False)]
    assert not problems


@pytest.mark.parametrize("name", ["0.gif", "0"])
def test_a_mask_that_is_lost_makes_no_image_normal(name: str, tmp_path: Path) -> None:
    write_mask(tmp_path / "masks/1.png", np.ones(SHAPE, bool))
    for stem in "012":
        write_map(tmp_path / f"maps/{stem}.tiff", FINE)
    (tmp_path / "masks" / name).write_bytes(b"GIF89a")
    (problem,) = list_anomaly_maps(tmp_path / "maps", tmp_path / "masks").problems
    assert problem == f"{tmp_path}/masks/{name}: expected a mask, as .png or .npy, got another file"
    (tmp_path / "masks" / name).unlink()
    (tmp_path / "masks/0.png").symlink_to("nowhere.png")
    with pytest.raises(ValueError, match=r"masks/0.png: No such file or directory"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "masks")


def test_links_to_one_folder(tmp_path: Path) -> None:
    """Two categories may share normal maps; a link to a folder above is not followed."""
    for name in "ab":
        for defect in ("good", "cut"):
            write_image(tmp_path / f"data/{name}/test/{defect}/0.png")
        write_mask(tmp_path / f"data/{name}/ground_truth/cut/0_mask.png", np.ones(SHAPE, bool))
        write_map(tmp_path / f"maps/{name}/cut/0.tiff", FINE)
    write_map(tmp_path / "shared/0.tiff", FINE)
    for name in "ab":
        (tmp_path / f"maps/{name}/good").symlink_to(tmp_path / "shared")
    (tmp_path / "maps/a/above").symlink_to(tmp_path / "maps")
    listed = list_anomaly_maps(tmp_path / "maps", tmp_path / "data")
    assert (len(listed.pairs), listed.problems) == (4, [])


def test_a_category_without_images(tmp_path: Path) -> None:
    for name in "ab":
        write_image(tmp_path / f"data/{name}/test/good/0.png")
        write_map(tmp_path / f"maps/{name}/good/0.tiff", FINE)
    (tmp_path / "data/b/test").rename(tmp_path / "data/b/tset")
    (problem,) = list_anomaly_maps(tmp_path / "maps", tmp_path / "data", layout="mvtec-ad").problems
    assert problem == f"{tmp_path}/maps/b/good/0.tiff: expected it in a folder of a category (a), got another"


def test_a_threshold_of_one_category_for_a_plain_folder(tmp_path: Path) -> None:
    write_mask(tmp_path / "masks/0.png", np.eye(*SHAPE, dtype=bool))
    for name in "01":
        write_map(tmp_path / f"maps/{name}.tiff", np.random.default_rng(int(name)).random(SHAPE))
    folders = tmp_path / "maps", tmp_path / "masks"
    expected = evaluate_anomaly_folder(*folders, pixel_threshold=0.5)
    found = evaluate_anomaly_folder(*folders, pixel_threshold={"validation": 0.5})
    assert [*found.pop("evaluation")] == [*expected.pop("evaluation")]
    assert found == expected
    with pytest.raises(ValueError, match="pixel_threshold: expected a value for category 'masks', got values for a, b"):
        evaluate_anomaly_folder(*folders, pixel_threshold={"a": 0.5, "b": 0.5})


def test_defects_that_differ_in_capitals(tmp_path: Path) -> None:
    for defect in ("good", "Crack", "crack"):
        write_image(tmp_path / f"data/nut/test/{defect}/0.png")
        write_map(tmp_path / f"maps/nut/{defect}/0.tiff", FINE)
        if defect != "good":
            write_mask(tmp_path / f"data/nut/ground_truth/{defect}/0_mask.png", np.ones(SHAPE, bool))
    write_image(tmp_path / "data/nut/test/.ipynb_checkpoints/0-checkpoint.png")
    listed = list_anomaly_maps(tmp_path / "maps", tmp_path / "data")
    assert not listed.problems
    assert [(image.defect, path.parent.name) for image, path in listed.pairs] == [
        (name, name) for name in ("Crack", "crack", "good")
    ]


def test_masks_in_tiff(tmp_path: Path) -> None:
    """Where 0 is white, readers differ: an error. Transparency and the order of the channels change nothing."""
    mask = np.random.default_rng(0).random(SHAPE) > 0.5
    grey = mask.astype(np.uint8) * 255
    red = np.zeros((3, *SHAPE), np.uint8)
    red[0] = grey
    alpha = np.full((1, *SHAPE), 255, np.uint8)
    clear = np.concatenate([red, alpha])
    tifffile.imwrite(tmp_path / "planes.tif", red, photometric="rgb", planarconfig="separate")
    tifffile.imwrite(tmp_path / "alpha.tif", np.moveaxis(clear, 0, 2), photometric="rgb", extrasamples=["unassalpha"])
    tifffile.imwrite(tmp_path / "share.tif", mask * np.float32(0.1))
    for path in tmp_path.iterdir():
        assert (read_mask(path) == mask).all(), path
    for name, values in (("1", mask), ("8", 255 - grey)):
        tifffile.imwrite(tmp_path / f"{name}.tif", values, photometric="miniswhite")
        with pytest.raises(ValueError, match=rf"{name}\.tif: expected a mask whose .* got one in which 0 is white"):
            read_mask(tmp_path / f"{name}.tif")
    tifffile.imwrite(tmp_path / "1.tif", np.stack([grey, grey]), metadata=None, photometric="minisblack")
    with pytest.raises(ValueError, match=r"1\.tif: expected one map or mask, got a file of several pages"):
        read_mask(tmp_path / "1.tif")


def test_damaged_tiff_is_one_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The libraries behind print nothing of their own."""
    path = tmp_path / "a.tiff"
    for compression in ("lzw", "zlib", "zstd", None):
        tifffile.imwrite(path, np.random.default_rng(0).random((64, 64), np.float32), compression=compression)
        content = bytearray(path.read_bytes())
        content[-2000:-1000] = bytes(range(250)) * 4
        path.write_bytes(content if compression else content[:10] + content[20:])
        for read in (map_files.read_map, read_mask):
            with pytest.raises(ValueError, match=r"a\.tiff: "):
                read(path)
    assert capfd.readouterr() == ("", "")


def _huge_npy(shape: tuple[int, ...]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return file.getvalue()


def test_hostile_files_cost_little(tmp_path: Path) -> None:
    said = "expected 1 to 89,478,485 pixels, at most 65,535 a side, got"
    files = {
        "a.npz": f"{said} 100000 × 100000",
        "b.tiff": said,
        "c.png": "Image size (169000000 pixels) exceeds limit",
        "d.npy": "expected numbers as numpy.save",
        "e.npz": "expected numbers as numpy.save writes them, got another header",
    }
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", _huge_npy((100_000, 100_000)))
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("a.npy", _huge_npy((4, 4)).replace(b"False", b"Fals "))
    (tmp_path / "d.npy").write_bytes(_huge_npy((100_000, 100_000)))
    tifffile.imwrite(tmp_path / "b.tiff", np.zeros((4, 4), dtype=np.float32))
    with tifffile.TiffFile(tmp_path / "b.tiff", mode="r+") as file:
        for name in ("ImageWidth", "ImageLength"):
            file.pages[0].tags[name].overwrite(100_000)
    Image.new("L", (4, 4)).save(tmp_path / "c.png")
    content = bytearray((tmp_path / "c.png").read_bytes())
    content[16:24] = (13_000).to_bytes(4, "big") * 2
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    (tmp_path / "c.png").write_bytes(content)
    for name, words in files.items():
        with pytest.raises(ValueError, match=f"{name}: .*{re.escape(words)}"):
            map_files.read_map(tmp_path / name)
    for count in (0, 2):
        np.savez(tmp_path / "other.npz", *[FINE] * count)
        with pytest.raises(ValueError, match=f"other.npz: expected one array, got {count}"):
            map_files.read_map(tmp_path / "other.npz")
    np.save(tmp_path / "objects.npy", np.asarray([None]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"objects.npy: expected numbers as numpy.save writes them, got objects"):
        map_files.read_map(tmp_path / "objects.npy")
    tifffile.imwrite(tmp_path / "pages.tiff", np.zeros((2, *SHAPE), dtype=np.float32), metadata=None)
    with pytest.raises(ValueError, match=r"pages.tiff: expected one map"):
        map_files.read_map(tmp_path / "pages.tiff")
    Image.new("L", (4, 4)).save(tmp_path / "eight.png")
    assert map_files.read_map(tmp_path / "eight.png").dtype == np.uint8
    Image.new("RGB", (4, 4)).save(tmp_path / "colour.png")
    with pytest.raises(ValueError, match=r"colour.png: expected a map, which is a grey .png of one channel, got RGB$"):
        map_files.read_map(tmp_path / "colour.png")
