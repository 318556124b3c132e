"""Anomaly detection on scikit-learn's two photographs: scratches and blots pasted on tiles, detected by PCA.

The photographs are cut into tiles; half of them are training tiles, and PCA is fitted to their small patches. Half of
the other tiles get pasted defects with known masks. The anomaly map is PCA's squared reconstruction error of each
pixel, averaged over the patches that cover it and lightly smoothed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import ndimage
from sklearn.datasets import load_sample_images
from sklearn.decomposition import PCA

_SEED = 0
_TILE, _PATCH = 60, 8
_TRAINING_STEP = 3  # pixels between training patches
_NUM_COMPONENTS = 64
_SMOOTHING = 1.0  # standard deviation in pixels
_ROWS, _COLUMNS = np.mgrid[:_TILE, :_TILE]


class Anomalies(NamedTuple):
    """The test tiles, their masks and their anomaly maps.

    tiles: (N, 60, 60, 3) RGB in [0, 1], defects included; masks: (N, 60, 60) booleans; maps: (N, 60, 60), higher is
    more anomalous; num_training: number of training tiles.
    """

    tiles: np.ndarray
    masks: np.ndarray
    maps: np.ndarray
    num_training: int


def find_anomalies() -> Anomalies:
    """Paste defects on half of the test tiles, fit PCA to the training tiles, and map the reconstruction error."""
    rng = np.random.default_rng(_SEED)
    tiles = rng.permutation(_cut(load_sample_images().images))
    training, tiles = np.split(tiles, 2)
    masks = np.zeros(tiles.shape[:3], dtype=bool)
    for tile, mask in zip(tiles[: len(tiles) // 2], masks):
        for _ in range(rng.integers(1, 4)):
            paste = _paste_scratch if rng.random() < 0.5 else _paste_blot
            mask |= paste(tile, rng)
    patches = [_patches(tile)[::_TRAINING_STEP, ::_TRAINING_STEP] for tile in training]
    pca = PCA(_NUM_COMPONENTS, svd_solver="covariance_eigh")
    pca.fit(np.concatenate([patch.reshape(-1, 3 * _PATCH**2) for patch in patches]))
    maps = np.stack([_anomaly_map(tile, pca) for tile in tiles])
    return Anomalies(tiles, masks, maps, len(training))


def _cut(photographs: list[np.ndarray]) -> np.ndarray:
    """Cut tiles (N, 60, 60, 3) in [0, 1]; remainders at the right and bottom are dropped."""
    return np.stack(
        [
            photograph[top : top + _TILE, left : left + _TILE] / 255
            for photograph in photographs
            for top in range(0, photograph.shape[0] - _TILE + 1, _TILE)
            for left in range(0, photograph.shape[1] - _TILE + 1, _TILE)
        ]
    )


def _paste_scratch(tile: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a bent line into the tile, light on dark ground and dark on light, and return its mask."""
    row, column = rng.uniform(12, _TILE - 12, 2)
    angle, half_length, half_width = rng.uniform([0, 8, 0.8], [np.pi, 26, 1.6])
    along = (_COLUMNS - column) * np.cos(angle) + (_ROWS - row) * np.sin(angle)
    across = (_ROWS - row) * np.cos(angle) - (_COLUMNS - column) * np.sin(angle)
    bend, opacity = rng.uniform([-0.02, 0.45], [0.02, 0.8])
    mask = (abs(along) < half_length) & (abs(across + bend * along**2) < half_width)
    colour = 1.0 if tile[mask].mean() < 0.5 else 0.0
    tile[mask] = (1 - opacity) * tile[mask] + opacity * colour
    return np.asarray(mask)


def _paste_blot(tile: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a ragged, grainy, translucent spot of one colour into the tile, and return its mask."""
    row, column = rng.uniform(10, _TILE - 10, 2)
    radius, opacity, phase, ripple = rng.uniform([3, 0.3, 0, 0], [9, 0.6, 6, 6])
    angle = np.arctan2(_ROWS - row, _COLUMNS - column)
    edge = radius * (1 + 0.25 * np.sin(2 * angle + phase) + 0.15 * np.sin(5 * angle + ripple))
    mask = np.hypot(_ROWS - row, _COLUMNS - column) < edge
    grain = rng.normal(0, 0.12, (_TILE, _TILE, 1))
    spot = (1 - opacity) * tile + opacity * rng.uniform(0, 1, 3) + grain
    tile[mask] = np.clip(spot, 0, 1)[mask]
    return np.asarray(mask)


def _patches(tile: np.ndarray) -> np.ndarray:
    """All patches of a tile, (53, 53, 192)."""
    windows = sliding_window_view(tile, (_PATCH, _PATCH), axis=(0, 1))
    return windows.reshape(*windows.shape[:2], -1)


def _anomaly_map(tile: np.ndarray, pca: PCA) -> np.ndarray:
    """Squared reconstruction error of each pixel, over its colours, averaged over the patches that cover it."""
    patches = _patches(tile)
    height, width, size = patches.shape
    flat = patches.reshape(-1, size)
    error = (flat - pca.inverse_transform(pca.transform(flat))) ** 2
    error = error.reshape(height, width, 3, _PATCH, _PATCH).sum(axis=2)
    total, covered = np.zeros((2, _TILE, _TILE))
    for row in range(_PATCH):
        for column in range(_PATCH):
            total[row : row + height, column : column + width] += error[:, :, row, column]
            covered[row : row + height, column : column + width] += 1
    return np.asarray(ndimage.gaussian_filter(total / covered, _SMOOTHING))
