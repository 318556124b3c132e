"""Check a metric's folder offline and upload it to the Hub as a Space.

    python spaces/publish.py openauc --namespace ORG              check, then upload to ORG/openauc
    python spaces/publish.py --all --namespace ORG --dry-run      check, and write what would be uploaded to dist/spaces

A Space gets the files of the folder that git tracks, as they are in the working tree, and no others. Before an upload,
and with --resolve, pip is asked whether the index has what requirements.txt asks for. Uploading needs a login
(`hf auth login`).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from cards import check_card
from sync import GENERATED, metric_folders, sync

ROOT = Path(__file__).resolve().parent.parent
UNREACHABLE = re.compile(r"Temporary failure|ConnectionError|ConnectTimeout|Name or service|from versions: none")


def main() -> int:
    """Run as a command; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="a metric, the name of its folder")
    parser.add_argument("--all", action="store_true", help="all metrics")
    parser.add_argument("--namespace", required=True, help="user or organisation on the Hub")
    parser.add_argument("--dry-run", action="store_true", help="upload nothing, write dist/spaces/NAME")
    parser.add_argument("--resolve", action="store_true", help="ask the index for the requirements in a dry run too")
    arguments = parser.parse_args()
    folders = {folder.name: folder for folder in metric_folders(ROOT)}
    if arguments.all == (arguments.name is not None) or not (arguments.all or arguments.name in folders):
        parser.error(f"expected --all or one of {', '.join(folders)}; got {arguments.name}")
    chosen = list(folders.values()) if arguments.all else [folders[arguments.name]]
    problems = [
        problem
        for folder in chosen
        for problem in (*check_card(folder), *check_files(folder), *sync(folder, ROOT, check=True))
    ]
    if not problems and (arguments.resolve or not arguments.dry_run):
        problems = list(unresolved(chosen))
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    for folder in chosen:
        for name in files(folder, "--others", "--exclude-standard"):
            print(f"{folder.name}: left out: {name}, which git does not track", file=sys.stderr)
        written = write(folder, ROOT / "dist" / "spaces")
        if arguments.dry_run:
            print(f"{arguments.namespace}/{folder.name}: would upload {written.relative_to(ROOT)}")
            print("".join(f"    {name}\n" for name in files(folder)), end="")
        else:
            print(upload(written, arguments.namespace))
    return 0


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


def files(folder: Path, *which: str) -> list[str]:
    """The files of a folder that git tracks, or others by options of `git ls-files`; paths from the folder."""
    git = ["git", "-C", str(folder), "ls-files", "-z", *which]
    return sorted(filter(None, os.fsdecode(subprocess.run(git, capture_output=True, check=True).stdout).split("\0")))


def check_files(folder: Path) -> Iterator[str]:
    """Yield why what git tracks in a folder is no Space."""
    try:
        tracked = files(folder)
    except subprocess.CalledProcessError as error:
        said = os.fsdecode(error.stderr).strip()
        yield f"{folder.name}: expected a git repository, since a Space gets what git tracks: {said}"
        return
    for name in sorted({f"{folder.name}.py", "README.md", *GENERATED} - set(tracked)):
        yield f"{folder.name}/{name}: git does not track it, so the Space would lack it"
    for name in tracked:
        path = folder / name
        if path.is_symlink() or not path.is_file():
            yield f"{folder.name}/{name}: expected a file, got {'a link' if path.is_symlink() else 'none'}"


def write(folder: Path, where: Path) -> Path:
    """Write exactly what a Space gets, and nothing that was there before."""
    target = where / folder.name
    shutil.rmtree(target, ignore_errors=True)
    for name in files(folder):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / name, target / name)
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
