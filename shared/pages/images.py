"""Read PNG images: anomaly maps and masks in grey, and photographs to lay behind. Sizes are checked first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from .limits import RefusedError, check_files, check_unpacked, without_paths
from .uploads import Data


def read_maps(paths: list[Path], tag: str = "") -> Data:
    """Grey PNG images of 8 or 16 bits, as they are: higher is more anomalous."""
    return _read_images(paths, "predictions", "np.asarray(Image.open(path))", lambda image: np.asarray(_grey(image)))


def read_masks(paths: list[Path], tag: str = "") -> Data:
    """PNG images of any kind: what is not black is anomalous."""
    convert = 'np.asarray(Image.open(path).convert("L")) > 0'
    return _read_images(paths, "references", convert, lambda image: np.asarray(image.convert("L")) > 0)


def _read_images(paths: list[Path], name: str, code: str, convert: Callable[[Any], np.ndarray]) -> Data:
    total = 0
    arrays = []
    for path in paths:
        with Image.open(path, formats=["PNG"]) as image:
            total += 8 * image.width * image.height
            check_unpacked(path.name, total)
            if name == "predictions" and image.mode not in ("1", "L", "I", "I;16", "F"):
                raise RefusedError(f"{path.name}: expected grey, whose values are the scores, got {image.mode}")
            arrays.append(convert(image))
    setup = [
        "import numpy as np",
        "from pathlib import Path",
        "from PIL import Image",
        f'{name} = [{code} for path in sorted(Path("{name}").glob("*.png"))]  # the folder of your files',
    ]
    return Data({name: arrays}, setup, {name: name})


def _grey(image: Any) -> Any:
    return image.convert("L") if image.mode == "1" else image


def read_photograph(path: Path | None) -> Any:
    """A photograph (PNG), at most 1,000 pixels wide and high; None for none."""
    if path is None:
        return None
    check_files([path])
    try:
        with Image.open(path, formats=["PNG"]) as image:
            size = image.size
            check_unpacked(path.name, 4 * size[0] * size[1])
            photograph = image.convert("RGB")
    except RefusedError:
        raise
    except Exception as error:  # of the decoder
        raise RefusedError(f"{path.name}: cannot be read as png: {without_paths(str(error))}") from None
    photograph.thumbnail((1000, 1000))
    return photograph, size
