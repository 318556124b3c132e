"""Read class names, from files or words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .coco import coco_dataset, read_json
from .yolo.data import YAML, class_names, read_yaml


def read_names(words: Sequence[str]) -> dict[int, str]:
    """Class names by id, from a file or from the names themselves, numbered from 0.

    Parameters: words, names or one file: a data.yaml, COCO annotations (.json), or .txt or .names with a name on each
    line.

    >>> read_names(["cat", "dog"])
    {0: 'cat', 1: 'dog'}
    """
    path = Path(words[0])
    if len(words) > 1 or path.suffix not in (*YAML, ".json", ".txt", ".names"):
        return dict(enumerate(words))
    if path.suffix in YAML:
        return class_names(read_yaml(path), path)
    if path.suffix == ".json":
        content = read_json(path)
        categories = content.get("categories") if isinstance(content, dict) else None
        named: dict[str, Any] = {"images": [], "annotations": [], "categories": categories}
        return coco_dataset(named, path).classes
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected names, got {getattr(error, 'strerror', None) or error}") from error
    return {i: line.strip() for i, line in enumerate(lines) if line.strip()}
