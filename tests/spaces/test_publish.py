"""What goes to the Hub: a card that it accepts, and a folder that runs on its own, under any name."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from unittest import mock

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import cards
import layout
import openworld_metrics
import publish
import sync
from openworld_metrics.faces.page.pairs import siblings
from tests import cases
from tests.served import connect, serve

TAG = publish.tag_of_release()
every_metric = pytest.mark.parametrize("name", openworld_metrics.METRICS)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    """A copy of a metric's folder that a test may break, in a repository of its own."""
    without_caches = shutil.ignore_patterns("__pycache__")
    copy = Path(shutil.copytree(root / "metrics" / "openauc", tmp_path / "openauc", ignore=without_caches))
    git(copy, "init")
    git(copy, "add", ".")
    return copy


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of one module in a room, in a repository of its own."""
    package = tmp_path / "shared"
    (package / "room").mkdir(parents=True)
    for name in ("__init__.py", "room/a.py"):
        (package / name).write_text("")
    git(package, "init")
    git(package, "add", ".")
    return package


@every_metric
def test_every_card_passes(name: str, root: Path) -> None:
    assert list(cards.check_card(root / "metrics" / name)) == []


WRONG = {
    "no-front-matter": ("---\ntitle", "title", "starts with front matter"),
    "no-yaml": ("title: openauc", "title: [openauc", "front matter is not YAML"),
    "sdk-version-as-number": ('sdk_version: "6.31.0"', "sdk_version: 6.31", "sdk_version: expected str, got 6.31"),
    "python-version-as-number": ('"3.11"', "3.11", "python_version: expected str, got 3.11; quote it"),
    "color": ("colorFrom: purple", "colorFrom: violet", "colorFrom: expected one of blue, gray"),
    "title": ("title: openauc", "title: OpenAUC", "title: expected openauc, got 'OpenAUC'"),
    "license": ("license: apache-2.0", "license: mit", "license: expected apache-2.0, got 'mit'"),
    "no-license": ("license: apache-2.0", "", "license: expected str, got None"),
    "no-emoji": ("emoji: ", "emoji: ' ' # ", "emoji: expected some text, got ' '"),
    "sdk": ("sdk: gradio", "sdk: docker", "sdk: expected gradio, got 'docker'"),
    "app-file": ("app_file: app.py", "app_file: main.py", "app_file: 'main.py' is not in the folder"),
    "tag": ("- metric\n", "", "tags: expected metric among them"),
    "short-description": ("short_description: ", "short_description: " + "x" * 60, "expected at most 60 characters"),
    "pinned": ("pinned: false", "pinned: 'no'", "pinned: expected bool"),
    "old-sdk": ('"6.31.0"', '"5.1.0"', "excludes the card's sdk_version 5.1.0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_card(case: str, folder: Path) -> None:
    before, after, message = WRONG[case]
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8")
    assert before in text
    card.write_text(text.replace(before, after, 1), encoding="utf-8")
    found = list(cards.check_card(folder))
    assert any(message in problem for problem in found), found


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("numpy>=99", "excludes the version it is tested with"),
        ("no-such-package-here>=1", "constraints.txt has no no-such-package-here, so"),
        ("numpy >> 1", "cannot be read"),
    ],
)
def test_wrong_requirements(line: str, message: str, folder: Path) -> None:
    with (folder / "requirements.txt").open("a") as file:
        file.write(f"{line}\n")
    assert any(message in problem for problem in cards.check_card(folder))


def run(*arguments: str, root: Path | None = None) -> tuple[int, str, str]:
    """Run the command: its status, output and errors."""
    output, errors = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["publish.py", *arguments, "--namespace", "someone"]),
        mock.patch.object(publish, "ROOT", root or publish.ROOT),
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        status = publish.main()
    return status, output.getvalue(), errors.getvalue()


def test_all_that_is_missing_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "find_spec", lambda name: None)
    status, output, errors = run("--all", "--dry-run")
    assert (status, output) == (1, "")
    assert errors == (
        "expected openworld-metrics, packaging, scikit-learn, pyyaml to be installed, got none: "
        'pip install ".[spaces,sklearn]"\n'
    )
    guide = (publish.ROOT / "docs" / "guides" / "spaces.md").read_text("utf-8")
    assert f'pip install ".{publish.EXTRAS}"' in guide


class DryRun(NamedTuple):
    """A copy of the project's sources, in a repository of its own, and what a dry run of all metrics printed."""

    project: Path
    printed: tuple[int, str, str]


@pytest.fixture(scope="module")
def dry_run(root: Path, tmp_path_factory: pytest.TempPathFactory) -> DryRun:
    project = tmp_path_factory.mktemp("project")
    for part in ("shared", "metrics", "setup.cfg", "constraints.txt", ".gitignore"):
        copy: Any = shutil.copytree if (root / part).is_dir() else shutil.copy
        copy(root / part, project / part)
    git(project, "init")
    git(project, "add", ".")
    return DryRun(project, run("--all", "--dry-run", root=project))


def test_a_dry_run_writes_the_folders(dry_run: DryRun) -> None:
    project, (status, output, errors) = dry_run
    assert (status, errors) == (0, "")
    package = layout.tracked(project / "shared")
    copied = {f"openworld_metrics/{file}": (project / "shared" / file).read_bytes() for file in package}
    for name in openworld_metrics.METRICS:
        folder = project / "metrics" / name
        ours = {file: (folder / file).read_bytes() for file in layout.tracked(folder)}
        beside_it = {f"{name}.py", "README.md", "thumbnail.jpg", *sync.GENERATED}
        assert {file for file in ours if "/" not in file} == beside_it
        for other in {*siblings(name)} - {name}:  # whose page this one has, too
            beside = project / "metrics" / other
            files = [file for file in layout.tracked(beside) if file == f"{other}.py" or file.startswith("examples/")]
            ours |= {f"metrics/{other}/{file}": (beside / file).read_bytes() for file in files}
        written = files_in(project / "dist" / "spaces" / name)
        address = f"https://huggingface.co/spaces/someone/{name}".encode()
        for filled in (f"{name}.py", "README.md"):  # with where the Space is
            assert address in written[filled]
            ours[filled] = written[filled]
        assert written == {**ours, **copied}
        listed = "".join(f"    {file}\n" for file in sorted(ours))
        assert f"someone/{name}: would upload dist/spaces/{name}\n{listed}" in output
    assert output.count(f"    openworld_metrics/, {len(package)} files\n") == len(openworld_metrics.METRICS)


def test_what_a_dry_run_says_of_changes(dry_run: DryRun) -> None:
    project = dry_run.project
    folder = project / "metrics" / "openauc"
    (folder / "notes.txt").write_text("mine")
    (project / "shared" / "new.py").write_text("")
    said = (
        "openauc: left out: notes.txt, which git does not track\nshared: left out: new.py, which git does not track\n"
    )
    status, _, errors = run("openauc", "--dry-run", root=project)
    assert (status, errors) == (0, said)
    assert not (project / "dist" / "spaces" / "openauc" / "notes.txt").exists()
    kernel = (folder / "_kernel.py").read_text()
    (folder / "_kernel.py").write_text(f"{kernel}# changed\n")
    status, _, errors = run("openauc", "--dry-run", root=project)
    assert (status, "openauc/_kernel.py: differs from its source" in errors) == (1, True)


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_exactly_what_git_tracks(folder: Path, package: Path, tmp_path: Path) -> None:
    """As it is in the working tree, in folders and under any name too; not what is ignored, and not what is new."""
    names = ("examples/a b.csv", "examples/ä.csv", ".hidden")
    (folder / "examples").mkdir(exist_ok=True)
    for name in (*names, "new.txt", "ignored.log"):
        (folder / name).write_text(name)
    (folder / ".gitignore").write_text("*.log\n")
    git(folder, "add", ".gitignore", *names)
    (folder / "README.md").write_text("edited")
    tracked = set(layout.tracked(folder))
    assert set(names) < tracked
    assert layout.untracked(folder) == ["new.txt"]
    (tmp_path / "dist" / "openauc").mkdir(parents=True)
    (tmp_path / "dist" / "openauc" / "old.txt").write_text("of the last time")
    target = layout.write(folder, package, tmp_path / "dist")
    assert set(files_in(target)) == tracked | {"openworld_metrics/__init__.py", "openworld_metrics/room/a.py"}
    assert (target / "README.md").read_text() == "edited"
    assert list(layout.check_contents(folder, package)) == []


def linked(place: Path) -> None:
    place.unlink()
    place.symlink_to("/etc/hostname")


NO_SPACE: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (lambda folder: linked(folder / "app.py"), "openauc/app.py: expected a file, got a link"),
    "deleted": (lambda folder: (folder / "README.md").unlink(), "openauc/README.md: expected a file, got none"),
    "not-tracked": (
        lambda folder: git(folder, "rm", "--cached", "_kernel.py"),
        "openauc/_kernel.py: git does not track it, so the Space would lack it",
    ),
    "credits-not-tracked": (
        lambda folder: git(folder, "rm", "--cached", "examples/CREDITS.md"),
        "openauc/examples/CREDITS.md: git does not track it, so the Space would lack it",
    ),
    "no-repository": (
        lambda folder: shutil.rmtree(folder / ".git"),
        "openauc: expected a git repository, since a Space gets the files that git tracks: fatal: ",
    ),
}


@pytest.mark.parametrize("case", NO_SPACE)
def test_what_is_no_space(case: str, folder: Path, package: Path) -> None:
    spoil, message = NO_SPACE[case]
    spoil(folder)
    (problem,) = layout.check_contents(folder, package)
    assert problem.startswith(message)


def test_upload(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    calls: list[Any] = []

    class Api:
        def create_repo(self, *args: Any, **kwargs: Any) -> None:
            calls.append((args, kwargs))

        def upload_folder(self, **kwargs: Any) -> None:
            calls.append(kwargs)

        def create_tag(self, *args: Any, **kwargs: Any) -> None:
            calls.append((args, kwargs))

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    assert publish.upload(folder, "someone") == "https://huggingface.co/spaces/someone/openauc"
    assert calls[0] == (("someone/openauc",), {"repo_type": "space", "space_sdk": "gradio", "exist_ok": True})
    assert calls[1]["folder_path"] == folder
    version = metadata.version("openworld-metrics")
    assert calls[2] == (
        ("someone/openauc",),
        {"tag": f"openworld-{version}", "repo_type": "space", "exist_ok": True},
    )


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["openauc", "--all"]])
def test_wrong_arguments(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        run(*arguments)


def clean_environment(folder: Path) -> dict[str, str]:
    """Nothing of this run but the paths to programs: no repository, no cache of modules."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    return {**kept, "HF_HOME": str(folder / "hub"), "HF_HUB_OFFLINE": "1", "PYTHONNOUSERSITE": "1"}


def closure(lines: Iterable[str]) -> dict[str, Distribution]:
    """What is installed here of requirements, and of what those require in turn, by name."""
    waiting, done = [Requirement(line) for line in lines if line and not line.startswith("#")], set()
    found: dict[str, Distribution] = {}
    while waiting:
        asked = waiting.pop()
        key = canonicalize_name(asked.name), frozenset(asked.extras)
        if key in done:
            continue
        done.add(key)
        found[key[0]] = installed = distribution(asked.name)
        assert asked.specifier.contains(installed.version, prereleases=True), (asked, installed.version)
        for needed in map(Requirement, installed.requires or ()):
            extras = ("", *asked.extras)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return found


@pytest.fixture(scope="module")
def environment_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], str]:
    """The Python of a fresh environment with what a requirements.txt asks for; one for all that ask for the same.

    The files are linked from the environment of the tests, which has the versions of constraints.txt: to unpack them
    again takes pip a minute. That pip finds them is a test of its own.
    """
    made: dict[bytes, str] = {}

    def make(requirements: Path) -> str:
        asked = requirements.read_bytes()
        if asked not in made:
            venv = tmp_path_factory.mktemp("fresh") / "venv"
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=300)
            (packages,) = venv.glob("lib/python*/site-packages")
            for installed in closure(asked.decode().splitlines()).values():
                for file in installed.files or ():
                    if ".." not in file.parts:  # no scripts
                        target = packages / file
                        target.parent.mkdir(parents=True, exist_ok=True)
                        link_or_copy(Path(str(file.locate())), target)
            made[asked] = str(venv / "bin" / "python")
        return made[asked]

    return make


def link_or_copy(source: Path, target: Path) -> None:
    """Two packages may bring one file, and what is compiled later is not there yet."""
    if not target.exists() and source.exists():
        try:
            os.link(source, target)
        except OSError:  # on another disk
            shutil.copy(source, target)


class Mirror(BaseHTTPRequestHandler):
    """The addresses of the Hub that evaluate asks for, of the Spaces in a folder."""

    spaces: Path
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        place = re.fullmatch(r"/spaces/someone/(\w+)/resolve/([\w.-]+)/(\w+\.py)", self.path)
        path = self.spaces / place[1] / place[3] if place else self.spaces / "none"
        self.asked.append(self.path)
        if self.path.startswith("/api/spaces?filter=metric"):
            content = json.dumps([{"id": f"someone/{space.name}", "likes": 0} for space in self.spaces.iterdir()])
        elif path.is_file() and place and place[2] in ("main", TAG):
            content = path.read_text(encoding="utf-8")
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("ETag", f'"{hash(content)}"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content.encode())

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass


FROM_THE_HUB = """
import importlib.util, json, runpy, sys
import evaluate
assert not [name for name in ("openworld_metrics", "scipy", "array_api_compat") if importlib.util.find_spec(name)]
listed = evaluate.list_evaluation_modules("metric")
for folder in map(__import__("pathlib").Path, sys.argv[2:]):
    name = f"someone/{folder.name}"
    assert name in listed, listed
    metric = evaluate.load(name, module_type="metric", revision=sys.argv[1])
    assert metric.license == "Apache-2.0"
    assert metric.homepage == f"https://huggingface.co/spaces/{name}", metric.homepage
    assert metric.codebase_urls == [f"{metric.homepage}/tree/main"]
    cases = runpy.run_path(str(folder / "tests.py"))["test_cases"]
    assert cases
    for case in cases:
        expected = case.pop("result")
        try:
            assert metric.compute(**case) == expected, (name, case)
        except ImportError as error:  # regions, as the card says
            assert name.endswith("/anomaly_suite") and "pip install scipy" in str(error), name
evaluate.load(name, module_type="metric")
"""


def test_spaces_load_from_the_hub_by_a_tag(
    dry_run: DryRun, environment_of: Callable[[Path], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As a dry run has written them, where evaluate alone is installed, with the cases of tests.py.

    Without a revision, evaluate first asks for the tag "v" + its own version, which a Space of ours never has.
    """
    spaces = dry_run.project / "dist" / "spaces"
    monkeypatch.setattr(Mirror, "spaces", spaces, raising=False)
    (tmp_path / "alone.txt").write_text("evaluate\n")
    folders = [str(spaces / name) for name in openworld_metrics.METRICS]
    with ThreadingHTTPServer(("127.0.0.1", 0), Mirror) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        environment = {**clean_environment(tmp_path), "HF_ENDPOINT": address, "HF_UPDATE_DOWNLOAD_COUNTS": "FALSE"}
        command = [environment_of(tmp_path / "alone.txt"), "-c", FROM_THE_HUB, TAG, *folders]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        server.shutdown()
    assert done.returncode == 0, done.stderr
    assert not re.match("v[0-9]", TAG)
    revisions = [path.split("/")[5] for path in Mirror.asked if path.startswith("/spaces/")]
    own = f"v{metadata.version('evaluate')}"
    assert [*dict.fromkeys(revisions)] == [TAG, own, "main"]


def test_a_space_serves_its_page(
    dry_run: DryRun,
    environment_of: Callable[[Path], str],
    load: Callable[[str], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Over HTTP, in a folder that is called app, where nothing but its requirements is installed.

    Pages differ in what they compute, which is tested with the pages; a Space that requires more than this one, by its
    imports alone, as test_sync.py has it.
    """
    name = "openset_detection"
    space = Path(shutil.copytree(dry_run.project / "dist" / "spaces" / name, tmp_path / "app"))
    drawn, options = cases.draw(name, 5)
    columns = {key: cases.as_lists(value) for key, value in drawn.items()}
    options = {key: np.asarray(value).tolist() for key, value in options.items()}
    environment = clean_environment(tmp_path)
    for key in set(os.environ) - set(environment):
        monkeypatch.delenv(key)
    serving = {key: value for key, value in environment.items() if key.startswith(("HF_", "PYTHON"))}
    python = environment_of(space / "requirements.txt")
    with serve(space / "app.py", tmp_path, python=python, **serving) as address:
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert '"elem_id":"compute"' in answer.read().decode()
        client = connect(address)
        computed = client.predict(columns=columns, options=options, api_name="/compute")
        assert computed == load(name).compute(**columns, **options)
        client.close()
