"""The layout of a Space: the files of a metric's folder, and a copy of the package, from which app.py serves the page.

    <name>.py  _kernel.py        loaded by evaluate
    README.md  thumbnail.jpg     the card, and the picture beside a link
    tests.py                     examples with their results
    app.py  requirements.txt     run and installed by the Hub
    examples/                    the data and the answers of the page's example, and their credits
    metrics/                     script and example of the metric that shares the page, if there is one
    openworld_metrics/           the package, which is shared/ in the repository

Only files that git tracks are copied, from the working tree; links are refused.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from openworld_metrics.faces.page.pairs import siblings
from sync import GENERATED

PACKAGE = "openworld_metrics"


def contents(folder: Path, package: Path) -> dict[str, Path]:
    """The files of a metric's Space by their paths there, sorted."""
    own = {name: folder / name for name in tracked(folder)}
    for other in siblings(folder.name):
        if other != folder.name:
            beside = folder.parent / other
            names = [name for name in tracked(beside) if name == f"{other}.py" or name.startswith("examples/")]
            own |= {f"metrics/{other}/{name}": beside / name for name in names}
    return dict(sorted({**own, **{f"{PACKAGE}/{name}": package / name for name in tracked(package)}}.items()))


def tracked(folder: Path, *which: str) -> list[str]:
    """The files of a folder that git tracks, or that options of `git ls-files` select, relative to the folder."""
    git = ["git", "-C", str(folder), "ls-files", "-z", *which]
    return sorted(filter(None, os.fsdecode(subprocess.run(git, capture_output=True, check=True).stdout).split("\0")))


def untracked(folder: Path) -> list[str]:
    """The files of a folder that git neither tracks nor ignores."""
    return tracked(folder, "--others", "--exclude-standard")


def check_contents(folder: Path, package: Path) -> Iterator[str]:
    """Yield the reasons why a folder and the package cannot become a Space."""
    try:
        files = contents(folder, package)
    except subprocess.CalledProcessError as error:
        reason = os.fsdecode(error.stderr).strip()
        yield f"{folder.name}: expected a git repository, since a Space gets the files that git tracks: {reason}"
        return
    credits = {"examples/CREDITS.md"} if any(name.startswith("examples/") for name in files) else set()
    for name in sorted({f"{folder.name}.py", "README.md", "thumbnail.jpg", *GENERATED, *credits} - set(files)):
        yield f"{folder.name}/{name}: git does not track it, so the Space would lack it"
    for name, path in files.items():
        if path.is_symlink() or not path.is_file():
            yield f"{folder.name}/{name}: expected a file, got {'a link' if path.is_symlink() else 'none'}"


def write(folder: Path, package: Path, where: Path) -> Path:
    """Write the files of a Space, and remove everything else in its folder."""
    target = where / folder.name
    shutil.rmtree(target, ignore_errors=True)
    for name, path in contents(folder, package).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target / name)
    return target


def add_address(space: Path, address: str) -> None:
    """Write where a Space is into its script and its card: homepage, code, and thumbnail."""
    for path, line, more in (
        (
            space / f"{space.name}.py",
            '            license="Apache-2.0",\n',
            f'            homepage="{address}",\n            codebase_urls=["{address}/tree/main"],\n',
        ),
        (space / "README.md", "pinned: false\n", f"thumbnail: {address}/resolve/main/thumbnail.jpg\n"),
    ):
        before, after = path.read_text(encoding="utf-8").split(line)
        path.write_text(f"{before}{line}{more}{after}", encoding="utf-8")
