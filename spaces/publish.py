"""Check a metric's folder offline and upload it to the Hub as a Space.

    python spaces/publish.py openauc --namespace ORG              check, then upload to ORG/openauc
    python spaces/publish.py --all --namespace ORG --dry-run      check, and write what would be uploaded to dist/spaces

The Hub says what is wrong with a card only after the push, so its rules are checked here: keys, colours, lengths, and
versions, which YAML reads as numbers unless they are quoted. Before an upload, and with --resolve, pip is asked whether
the index has what requirements.txt asks for. Uploading needs a login (`hf auth login`).
"""

from __future__ import annotations

import argparse
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import InvalidRequirement, Requirement

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
UNREACHABLE = re.compile(r"Temporary failure|ConnectionError|ConnectTimeout|Name or service|from versions: none")
IGNORED = ("__pycache__", "*.pyc", ".*")


def main() -> int:
    """Run as a command; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="a metric, the name of its folder")
    parser.add_argument("--all", action="store_true", help="all metrics")
    parser.add_argument("--namespace", required=True, help="user or organisation on the Hub")
    parser.add_argument("--dry-run", action="store_true", help="upload nothing, write dist/spaces/NAME")
    parser.add_argument("--resolve", action="store_true", help="ask the index for the requirements in a dry run too")
    arguments = parser.parse_args()
    sync = runpy.run_path(str(ROOT / "spaces" / "sync.py"))
    folders = {folder.name: folder for folder in sync["metric_folders"](ROOT)}
    if arguments.all == (arguments.name is not None) or not (arguments.all or arguments.name in folders):
        parser.error(f"expected --all or one of {', '.join(folders)}; got {arguments.name}")
    chosen = list(folders.values()) if arguments.all else [folders[arguments.name]]
    problems = [p for folder in chosen for p in (*check(folder), *sync["sync"](folder, ROOT, check=True))]
    if not problems and (arguments.resolve or not arguments.dry_run):
        problems = list(unresolved(chosen))
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    for folder in chosen:
        written = write(folder, ROOT / "dist" / "spaces")
        if arguments.dry_run:
            print(f"{arguments.namespace}/{folder.name}: would upload {written.relative_to(ROOT)}")
        else:
            print(upload(written, arguments.namespace))
    return 0


def check(folder: Path) -> Iterator[str]:
    """Yield what is wrong with a folder's card and requirements."""
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
    """Requirements are resolvable when the versions with which the project is tested meet every one of them."""
    path = folder / "requirements.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    found = set()
    for line in filter(None, (line.partition("#")[0].strip() for line in lines)):
        try:
            requirement = Requirement(line)
            version = metadata.version(requirement.name)
        except InvalidRequirement:
            yield f"requirements.txt: cannot be read: {line!r}"
            continue
        except metadata.PackageNotFoundError:
            yield f"requirements.txt: {requirement.name} is not installed here, so {line!r} cannot be checked"
            continue
        found.add(requirement.name)
        if not requirement.specifier.contains(version):
            yield f"requirements.txt: {line!r} excludes the version it is tested with, {version}"
        sdk_version = values.get("sdk_version")
        if requirement.name == "gradio" and not requirement.specifier.contains(str(sdk_version)):
            yield f"requirements.txt: {line!r} excludes the card's sdk_version {sdk_version}"
    if not {"evaluate", "gradio"} <= found:
        yield f"requirements.txt: expected evaluate and gradio among {', '.join(sorted(found)) or 'nothing'}"


def unresolved(folders: list[Path]) -> Iterator[str]:
    """Ask pip to resolve each requirements.txt against the index, installing nothing; yield what it cannot meet."""
    answers: dict[bytes, str] = {}
    for folder in folders:
        path = folder / "requirements.txt"
        asked = path.read_bytes()
        if asked not in answers:
            pip = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--dry-run",
                "--ignore-installed",
                "--quiet",
                "-r",
                str(path),
            ]
            done = subprocess.run(pip, capture_output=True, text=True, check=False)
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR: ")] or [done.stderr[-300:]]
            unreachable = UNREACHABLE.search(done.stderr)
            reason = "no package index answers, so whether the requirements can be installed is not known"
            answers[asked] = "" if not done.returncode else reason if unreachable else errors[-1]
        if answers[asked]:
            yield f"{folder.name}: requirements.txt: {answers[asked]}"


def write(folder: Path, where: Path) -> Path:
    """Write exactly what a Space gets, and nothing that was there before."""
    target = where / folder.name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns(*IGNORED))
    return target


def upload(folder: Path, namespace: str) -> str:
    """Create the Space if there is none, replace its files by the folder's, and return its address."""
    from huggingface_hub import HfApi

    api, repo = HfApi(), f"{namespace}/{folder.name}"
    api.create_repo(repo, repo_type="space", space_sdk="gradio", exist_ok=True)
    api.upload_folder(repo_id=repo, repo_type="space", folder_path=folder, delete_patterns="*")
    return f"https://huggingface.co/spaces/{repo}"


if __name__ == "__main__":
    sys.exit(main())
