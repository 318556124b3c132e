"""Check a metric's folder offline and upload it to the Hub as a Space.

    python spaces/publish.py openauc --namespace ORG              check, then upload to ORG/openauc
    python spaces/publish.py --all --namespace ORG --dry-run      check, and write the upload to dist/spaces instead

A Space gets the files of the folder and of the package that git tracks (see layout.py), and the tag openworld-VERSION.
It needs `pip install ".[spaces,sklearn]"`, and uploading a login (`hf auth login`).
That the index has all of requirements.txt is checked by `make check-dist`.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# import names → names on PyPI of what checks of cards and their examples import
NEEDED = {
    "openworld_metrics": "openworld-metrics",
    "packaging": "packaging",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
EXTRAS = "[spaces,sklearn]"


def main() -> int:
    """Run as a command; see the module's docstring."""
    missing = [NEEDED[name] for name in NEEDED if find_spec(name) is None]
    if missing:
        print(f'expected {", ".join(missing)} to be installed, got none: pip install ".{EXTRAS}"', file=sys.stderr)
        return 1
    from cards import check_card
    from layout import PACKAGE, add_address, check_contents, contents, tracked, untracked, write
    from sync import metric_folders, sync

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="a metric, the name of its folder")
    parser.add_argument("--all", action="store_true", help="all metrics")
    parser.add_argument("--namespace", required=True, help="user or organisation on the Hub")
    parser.add_argument("--dry-run", action="store_true", help="upload nothing, write dist/spaces/NAME")
    arguments = parser.parse_args()
    folders = {folder.name: folder for folder in metric_folders(ROOT)}
    if arguments.all == (arguments.name is not None) or not (arguments.all or arguments.name in folders):
        parser.error(f"expected --all or one of {', '.join(folders)}; got {arguments.name}")
    chosen = list(folders.values()) if arguments.all else [folders[arguments.name]]
    package, where = ROOT / "shared", ROOT / "dist" / "spaces"
    problems = []
    for folder in chosen:
        problems += [*check_card(folder), *check_contents(folder, package), *sync(folder, ROOT, check=True)]
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    for folder in (*chosen, package):
        for name in untracked(folder):
            print(f"{folder.name}: left out: {name}, which git does not track", file=sys.stderr)
    for folder in chosen:
        written = write(folder, package, where)
        add_address(written, f"https://huggingface.co/spaces/{arguments.namespace}/{folder.name}")
        if arguments.dry_run:
            print(f"{arguments.namespace}/{folder.name}: would upload {written.relative_to(ROOT)}")
            own = [name for name in contents(folder, package) if not name.startswith(f"{PACKAGE}/")]
            print("".join(f"    {name}\n" for name in own), end="")
            print(f"    {PACKAGE}/, {len(tracked(package))} files")
        else:
            print(upload(written, arguments.namespace))
    return 0


def tag_of_release() -> str:
    """The tag of this version: never "v" and a number, which evaluate's loader asks a Space for first."""
    from openworld_metrics.metric.signature import VERSION

    return f"openworld-{VERSION}"


def upload(folder: Path, namespace: str) -> str:
    """Create the Space if there is none, replace its files by the folder's, tag them, and return its address."""
    from huggingface_hub import HfApi

    api, repo = HfApi(), f"{namespace}/{folder.name}"
    api.create_repo(repo, repo_type="space", space_sdk="gradio", exist_ok=True)
    api.upload_folder(repo_id=repo, repo_type="space", folder_path=folder, delete_patterns="*")
    # a tag that is there stays where it is, since users load by it
    api.create_tag(repo, tag=tag_of_release(), repo_type="space", exist_ok=True)
    return f"https://huggingface.co/spaces/{repo}"


if __name__ == "__main__":
    sys.exit(main())
