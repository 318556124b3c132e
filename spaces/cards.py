"""Check a metric's card and requirements offline against the Hub's rules.

The Hub reports errors in a card only after the push: in keys, colours, lengths, and versions, which YAML reads as
numbers unless quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import InvalidRequirement, Requirement

from requirements import tested_versions

ROOT = Path(__file__).resolve().parent.parent
COLORS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
KINDS: dict[str, type] = {
    "title": str,
    "emoji": str,
    "colorFrom": str,
    "colorTo": str,
    "sdk": str,
    "sdk_version": str,
    "python_version": str,
    "app_file": str,
    "pinned": bool,
    "license": str,
    "tags": list,
    "description": str,
    "short_description": str,
}
MAX_SHORT = 60


def check_card(folder: Path) -> Iterator[str]:
    """Yield the problems of a folder's card and requirements."""
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    front = re.match(r"---\n(.*?\n)---\n", text, flags=re.DOTALL)
    if front is None:
        yield f"{folder.name}: expected a README.md that starts with front matter between lines of ---"
        return
    try:
        values = yaml.safe_load(front[1])
    except yaml.YAMLError as error:
        yield f"{folder.name}/README.md: front matter is not YAML: {str(error).splitlines()[0]}"
        return
    if not isinstance(values, dict):
        yield f"{folder.name}/README.md: expected front matter of keys and values, got {values!r}"
        return
    for problem in (*_wrong_values(values, folder), *_wrong_requirements(values, folder)):
        yield f"{folder.name}: {problem}"


def _wrong_values(values: dict[str, Any], folder: Path) -> Iterator[str]:
    for key, kind in KINDS.items():
        if not isinstance(values.get(key), kind):
            hint = "; quote it" if key.endswith("version") and isinstance(values.get(key), (int, float)) else ""
            yield f"{key}: expected {kind.__name__}, got {values.get(key)!r}{hint}"
    for key in ("colorFrom", "colorTo"):
        if values.get(key) not in COLORS:
            yield f"{key}: expected one of {', '.join(sorted(COLORS))}, got {values.get(key)!r}"
    for key, expected in (("title", folder.name), ("sdk", "gradio"), ("license", "apache-2.0")):
        if values.get(key) != expected:
            yield f"{key}: expected {expected}, got {values.get(key)!r}"
    if not re.fullmatch(r"\d+\.\d+\.\d+", str(values.get("sdk_version"))):
        yield f"sdk_version: expected a full version such as 6.31.0, got {values.get('sdk_version')!r}"
    if not (folder / str(values.get("app_file"))).is_file():
        yield f"app_file: {values.get('app_file')!r} is not in the folder"
    missing = {"evaluate", "metric"} - {str(tag) for tag in values.get("tags") or []}
    if missing:
        yield f"tags: expected {', '.join(sorted(missing))} among them"
    for key in ("emoji", "description", "short_description"):
        if not str(values.get(key, "")).strip():
            yield f"{key}: expected some text, got {values.get(key)!r}"
    if len(str(values.get("short_description", ""))) > MAX_SHORT:
        yield f"short_description: expected at most {MAX_SHORT} characters, got {len(str(values['short_description']))}"


def _wrong_requirements(values: dict[str, Any], folder: Path) -> Iterator[str]:
    """Yield requirements that the versions of constraints.txt, with which libraries are tested, do not meet."""
    path = folder / "requirements.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    tested = tested_versions(ROOT)
    named = set()
    for line in filter(None, (line.partition("#")[0].strip() for line in lines)):
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            yield f"requirements.txt: cannot be read: {line!r}"
            continue
        version = tested.get(requirement.name.lower())
        if version is None:
            yield f"requirements.txt: constraints.txt has no {requirement.name}, so {line!r} is not tested"
            continue
        named.add(requirement.name)
        if not requirement.specifier.contains(version):
            yield f"requirements.txt: {line!r} excludes the version it is tested with, {version}"
        sdk_version = values.get("sdk_version")
        if requirement.name == "gradio" and not requirement.specifier.contains(str(sdk_version)):
            yield f"requirements.txt: {line!r} excludes the card's sdk_version {sdk_version}"
    if not {"evaluate", "gradio"} <= named:
        yield f"requirements.txt: expected evaluate and gradio among {', '.join(sorted(named)) or 'nothing'}"
