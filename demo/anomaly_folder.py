"""Write a data set in MVTec AD's layout from two photographs, with two detectors' maps, for `make demo-anomaly`.

python -m demo.anomaly_folder [FOLDER]    by default demo/photographs

FOLDER/data/flower/train/good/000.png        views of a part of a photograph that differ in position, light and noise
FOLDER/data/flower/test/scratch/000.png      such a view with a defect; also good, stain, swap
FOLDER/data/flower/ground_truth/scratch/000_mask.png
FOLDER/maps/contrast/flower/test/scratch/000.tiff    local contrast, float32
FOLDER/maps/patches/flower/test/scratch/000.tiff     distance to the nearest patch of the training images, float16
FOLDER/CREDITS.md                            authors and licence of the photographs
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter, zoom
from sklearn.datasets import load_sample_image
from sklearn.neighbors import KDTree

from openworld_metrics.answers.credits import CHINA, FLOWER, Origin

SIDE, STEP = 128, 4  # pixels of an image's side, and between patches
VIEWS = {"china": (170, 250), "flower": (150, 250)}  # the corner of the view, row and column
TRAINING, GOOD, EACH = 12, 16, 8  # numbers of training images, normal test images, and images of each defect
ORIGIN = Origin("The images are views of the photographs, with noise, and defects drawn into some.", (CHINA, FLOWER))
_SHIFT, _NOISE = 3, 3.0

Defect = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]


def scratch(image: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw a thin, bent, light line."""
    drawn = Image.new("L", (SIDE, SIDE))
    points = rng.integers(16, SIDE - 16, 2) + np.cumsum(rng.integers(-14, 15, (4, 2)), axis=0)
    ImageDraw.Draw(drawn).line([*map(tuple, points.tolist())], fill=255, width=int(rng.integers(1, 4)))
    mask = np.asarray(drawn) > 0
    return _blended(image, mask, image + rng.uniform(40, 90), 0.6), mask


def stain(image: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw an ellipse that is darker, or of another hue."""
    centre, radius = rng.uniform(24, SIDE - 24, 2), rng.uniform(5, 14, 2)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    mask = ((rows - centre[0]) / radius[0]) ** 2 + ((columns - centre[1]) / radius[1]) ** 2 <= 1
    return _blended(image, mask, image * rng.uniform(0.55, 0.9, 3), 1.5), mask


def swap(image: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Replace a rectangle with another part of the image."""
    height, width = rng.integers(10, 26, 2).tolist()
    (row, column), (other_row, other_column) = rng.integers(4, SIDE - 30, (2, 2)).tolist()
    changed, mask = image.copy(), np.zeros((SIDE, SIDE), dtype=bool)
    mask[row : row + height, column : column + width] = True
    changed[mask] = image[other_row : other_row + height, other_column : other_column + width].reshape(-1, 3)
    return changed, mask


DEFECTS: dict[str, Defect] = {"scratch": scratch, "stain": stain, "swap": swap}


def _blended(image: np.ndarray, mask: np.ndarray, inside: np.ndarray, softness: float) -> np.ndarray:
    share = gaussian_filter(mask.astype(np.float64), softness)[..., None]
    return image * (1 - share) + inside * share


def _view(photograph: np.ndarray, corner: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """A part of the photograph, slightly shifted, with changed brightness and noise."""
    row, column = np.asarray(corner) + rng.integers(-_SHIFT, _SHIFT + 1, 2)
    view = photograph[row : row + SIDE, column : column + SIDE] * rng.uniform(0.95, 1.05)
    return view + rng.normal(0, _NOISE, view.shape)


def local_contrast(image: np.ndarray) -> np.ndarray:
    """The distance of each pixel from the mean of its neighbourhood; this detector needs no training."""
    grey = image.mean(axis=2)
    return gaussian_filter(np.abs(grey - gaussian_filter(grey, 4)), 1.5).astype(np.float32)


def _features(image: np.ndarray) -> np.ndarray:
    """The colours and contrast of patches, (rows, columns, 7)."""
    smooth, wide = (gaussian_filter(image, (sigma, sigma, 0)) for sigma in (1.5, 4))
    contrast = gaussian_filter((image - smooth).mean(axis=2) ** 2, 2) ** 0.5
    return np.concatenate([smooth, wide, 2 * contrast[..., None]], axis=2)[STEP // 2 :: STEP, STEP // 2 :: STEP]


def patch_distance(image: np.ndarray, training: KDTree) -> np.ndarray:
    """The distance of each patch to the nearest patch of the training images."""
    features = _features(image)
    distance, _ = training.query(features.reshape(-1, features.shape[2]))
    return gaussian_filter(zoom(distance.reshape(features.shape[:2]), STEP, order=1), 2).astype(np.float16)


def _test_images(
    photograph: np.ndarray, corner: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[str, int, np.ndarray, np.ndarray]]:
    """Yield kind, number, image and mask of each test image."""
    for number in range(GOOD):
        yield "good", number, _view(photograph, corner, rng), np.zeros((SIDE, SIDE), dtype=bool)
    for name, defect in DEFECTS.items():
        for number in range(EACH):
            yield name, number, *defect(_view(photograph, corner, rng), rng)


def _save(path: Path, image: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path)


def _pixels(image: np.ndarray) -> np.ndarray:
    return image.round().clip(0, 255).astype(np.uint8)


def main(folder: Path) -> None:
    """Write all files."""
    for seed, (name, corner) in enumerate(VIEWS.items()):
        rng = np.random.default_rng(seed)
        photograph = load_sample_image(f"{name}.jpg").astype(np.float64)
        data = folder / "data" / name
        views = [_pixels(_view(photograph, corner, rng)) for _ in range(TRAINING)]
        for number, view in enumerate(views):
            _save(data / "train" / "good" / f"{number:03}.png", view)
        training = KDTree(np.concatenate([_features(view.astype(np.float64)).reshape(-1, 7) for view in views]))
        for kind, number, image, mask in _test_images(photograph, corner, rng):
            pixels = _pixels(image)
            _save(data / "test" / kind / f"{number:03}.png", pixels)
            if mask.any():
                _save(data / "ground_truth" / kind / f"{number:03}_mask.png", mask.astype(np.uint8) * 255)
            floats = pixels.astype(np.float64)
            maps = {"contrast": local_contrast(floats), "patches": patch_distance(floats, training)}
            for detector, score_map in maps.items():
                path = folder / "maps" / detector / name / "test" / kind / f"{number:03}.tiff"
                path.parent.mkdir(parents=True, exist_ok=True)
                tifffile.imwrite(path, score_map)
    (folder / "CREDITS.md").write_text(ORIGIN.notice, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "photographs")
