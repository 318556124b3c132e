"""The README and the pages of docs/ run as they stand: each block in order, as a reader would, in a folder of its own.

(test_detection_guide.py runs the guide to detection, on the demo's files; test_real_files.py the page of files of
fields, against scikit-learn; test_notebooks.py the notebooks;
tests/cluster/test_engines.py the guide to many machines, on more rows.)
"""

from __future__ import annotations

import codeop
import configparser
import glob
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.requirements import Requirement

from tests.command.terminal import on_terminal
from tests.conftest import without_position
from tests.docs.blocks import CARDS, FENCE, PAGES, ROOT, Step, commands, modules, steps
from tests.docs.test_doctests import run_examples
from tests.served import free_port

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
OWN_TEST = {"docs/guides/detection.md", "docs/guides/machines.md", "docs/guides/training.md", "docs/real-files.md"}
RUN = [page for page in PAGES if page not in OWN_TEST and steps(page)]
NO_THREAD_LEFT = f"""
import sys

sys.path.insert(0, {str(ROOT)!r})
from tests.integrations.gloo import check_no_thread_of_gloo_is_left

check_no_thread_of_gloo_is_left()
"""
NEEDED = {"make", "pip", "torchrun", "cd"}  # what a reader types that is no command of the package


def test_commands_fit_the_column() -> None:
    """A longer line would be broken in the middle of an option."""
    for page in PAGES:
        for block in re.findall(r"^```sh\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE):
            wide = [line for line in block.splitlines() if len(line.partition("  # ")[0]) > 84]
            assert not wide, page


@pytest.mark.parametrize("page", [*PAGES, *CARDS])
def test_blocks_can_be_pasted(page: str) -> None:
    """Into a prompt of Python, which ends a loop by an empty line: examples of each block without their prompts."""
    for language, text in FENCE.findall({**PAGES, **CARDS}[page].read_text(encoding="utf-8")):
        if language == "python" and (">>>" in text or page in ("README.md", "docs/get-started.md", *CARDS)):
            typed = [line[4:] for line in text.splitlines() if line[:3] in (">>>", "...")]
            lines: list[str] = []
            for line in typed or text.splitlines():
                lines.append(line)
                if codeop.compile_command("\n".join(lines)) is not None:  # raises SyntaxError
                    lines = []


def score_files(folder: Path) -> None:
    """Files of scores, as the guides name them."""
    rng = np.random.default_rng(0)
    for name in ("scores", "validation", "test"):
        rows = [
            f"{score + label},{score + label + noise},{label},{'ab'[i % 3 % 2]}"
            for i, (label, score, noise) in enumerate(_rows(rng))
        ]
        (folder / f"{name}.csv").write_text("\n".join(["score,other,label,set", *rows]) + "\n")
    (folder / "known.csv").write_text("\n".join(["score", *map(str, rng.random(100))]) + "\n")
    np.save(folder / "logits.npy", rng.random((40, 3)))
    (folder / "labels.csv").write_text("references\n" + "\n".join(str(i % 4 - 1) for i in range(40)) + "\n")


def _rows(rng: np.random.Generator) -> list[tuple[int, float, float]]:
    return [(i % 2, float(rng.random()), float(rng.random()) / 2) for i in range(40)]


def command_files(folder: Path) -> None:
    """The files of the guide to the command line."""
    torch = pytest.importorskip("torch")
    import pyarrow as pa
    import pyarrow.parquet as pq

    score_files(folder)
    pq.write_table(pa.table({"msp": np.random.default_rng(1).random(40)}), folder / "scores.parquet")
    torch.save(torch.rand(40, 4), folder / "logits.pt")
    np.save(folder / "labels.npy", np.arange(40) % 4)


def suite_files(folder: Path) -> None:
    """Scores of OOD sets as OpenOOD has them."""
    score_files(folder)
    rng = np.random.default_rng(0)
    (folder / "s0").mkdir()
    for name in ("cifar10", "tin", "svhn", "cinic10"):
        known = name in ("cifar10", "cinic10")
        labels = np.full(30, 0 if known else -1)
        np.savez(folder / "s0" / f"{name}.npz", conf=rng.random(30) + known, pred=np.zeros(30, int), label=labels)


def anomaly_files(folder: Path) -> None:
    """A data set as MVTec AD lies on disk, and two models' maps; one as MVTec LOCO AD does."""
    from tests.reading.maps.trees import write_tree

    write_tree("mvtec-ad", folder)
    (folder / "maps").rename(folder / "patches")
    (folder / "maps").mkdir()
    (folder / "patches").rename(folder / "maps" / "patches")
    write_tree("mvtec-ad", folder / "other", seed=1)
    (folder / "other" / "maps").rename(folder / "maps" / "contrast")
    write_tree("mvtec-loco", folder / "third")
    (folder / "third" / "data").rename(folder / "loco")
    (folder / "third" / "maps").rename(folder / "maps" / "loco")


# what a page takes to be there
FILES: Mapping[str, Callable[[Path], None]] = {
    "README.md": score_files,
    "docs/guides/errors.md": score_files,
    "docs/guides/groups.md": score_files,
    "docs/guides/thresholds.md": score_files,
    "docs/guides/ood-suites.md": suite_files,
    "docs/guides/command-line.md": command_files,
    "docs/guides/anomaly-folders.md": anomaly_files,
}


@pytest.mark.parametrize("page", RUN)
def test_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any, run: Any) -> None:
    for module in sorted(set().union(*map(modules, steps(page)))):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "metrics").symlink_to(ROOT / "metrics")
    if page in FILES:
        FILES[page](tmp_path)
    examples = []
    for number, step in enumerate(steps(page)):
        if step.kind == "script":
            _run_script(step, tmp_path / f"script{number}.py", capfd)
        elif step.kind == "commands":
            _run_commands(step, tmp_path, run)
        else:
            examples.append(step.text)
    assert run_examples("\n".join(examples), page) or not examples


def _run_script(step: Step, script: Path, capfd: Any) -> None:
    capfd.readouterr()
    if "dist.init_process_group" in step.text:
        script.write_text(step.text + NO_THREAD_LEFT)
        # the only process of its group; tests/integrations/test_torchrun.py has several
        group = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        ended = subprocess.run([sys.executable, str(script)], env={**os.environ, **group}, timeout=300, check=False)
        assert ended.returncode == 0, "".join(capfd.readouterr())
    else:
        script.write_text(step.text)
        runpy.run_path(str(script), run_name="__main__")
    output = capfd.readouterr().out
    printed = [line for line in output.splitlines() if re.match(r"[\d.]+|\{'auroc", line)]
    shown = re.findall(r"^ *print\(.*\n *# (.*)$", step.text, re.MULTILINE)
    assert shown == output.splitlines() if shown else len(printed) >= step.text.count("\nprint("), output


def _run_commands(step: Step, folder: Path, run: Any) -> None:
    for command in commands(step.text):
        program, *arguments = shlex.split(command)
        if "|" in arguments:
            for call in _through_a_shell(command, folder):
                assert run(*call)[0] == 0
            continue
        if arguments[:1] == ["serve"]:  # tests/command/test_serve.py serves a page
            continue
        if program != "openworld-metrics":
            assert program in NEEDED, command
            continue
        arguments = [found for word in arguments for found in (sorted(glob.glob(word)) if "?" in word else [word])]
        if step.printed:
            lines = on_terminal(arguments, folder, NO_COLOR="1")
            assert not [line for line in step.printed.splitlines() if line.strip() not in lines], lines
        else:
            code, _, errors = run(*arguments)
            notes = re.findall(r"^openworld-metrics: note: conf of .*\n", errors, re.MULTILINE)  # of OpenOOD's files
            assert (code, without_position(errors)) == (0, "".join(notes)), errors


def _through_a_shell(command: str, folder: Path) -> list[list[str]]:
    """Run a command by bash; the calls of the package that xargs would start are returned, to be run in process."""
    place, calls = Path(sys.executable).parent, folder / "calls"
    calls.write_text("")
    if "xargs" in command:
        place = folder / "bin"
        place.mkdir()
        (place / "openworld-metrics").write_text('#!/bin/sh\nprintf "%s\\n" "$@" "" >> calls\n')
        (place / "openworld-metrics").chmod(0o755)
    path = os.pathsep.join([str(place), os.environ["PATH"]])
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], check=True, env={**os.environ, "PATH": path})
    return [call.splitlines() for call in calls.read_text().split("\n\n") if call]


def test_the_guides_show_all_ways_of_training() -> None:
    scripts = [step.text for page in PAGES for step in steps(page) if step.kind == "script"]
    for name in ("Trainer(", "as_torchmetrics(", "evaluator(", "dist.init", "Accelerator(", "compute_parquet("):
        assert any(name in script for script in scripts), name


def test_the_readme_is_a_front_page() -> None:
    text = PAGES["README.md"].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 130
    assert "make demo " in text
    assert "make test " in text


def test_the_description_on_the_package_index_has_no_dead_links(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str] = {}
    monkeypatch.setattr("setuptools.setup", given.update)
    runpy.run_path(str(ROOT / "setup.py"))
    assert not re.findall(r"\]\((?!https?:)", given["long_description"])
    assert len(given["long_description"]) > 0.7 * len(PAGES["README.md"].read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str) -> None:
    """Files that are linked, targets of the Makefile, extras of the package."""
    text = PAGES[page].read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", re.sub(r"`[^`\n]*`", "", text)):
        assert _source(PAGES[page].parent / target).exists(), target
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    config = configparser.ConfigParser(interpolation=None)
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    listed = [*re.findall(r"\bpip install [^\n]*\[([\w,-]+)\]", text), *re.findall(r"\bextras? `([\w-]+)`", text)]
    for extras in listed:
        assert set(extras.split(",")) <= set(config["options.extras_require"]), extras


@pytest.mark.parametrize("page", [page for page in RUN + sorted(OWN_TEST) if "upstream" not in page])
def test_the_extras_of_a_page_are_enough(page: str) -> None:
    """What its blocks import comes with the extras that it names, or else with those of get-started.md."""
    text, blocks = PAGES[page].read_text(encoding="utf-8"), steps(page)
    named = {*re.findall(r"`([\w-]+)`", " ".join(re.findall(r"\bextras? ((?:`[\w-]+`(?:, | and )?)+)", text)))}
    named.update(*(extras.split(",") for extras in re.findall(r"\bpip install [^\n]*\[([\w,-]+)\]", text)))
    brought = _installed_with(named or {"cli", "evaluate"})
    imported = set().union(*map(modules, blocks)) - {"openworld_metrics"}
    if any(re.search(r"\bload\(", block.text) for block in blocks if block.kind != "commands"):
        imported.add("evaluate")
    distributions = packages_distributions()
    for module in sorted(imported & set(distributions)):  # of others, no metadata say what brings them
        names = {_normal(name) for name in distributions[module]}
        assert names & brought or any(f"`{name}`" in text or f"pip install {name}`" in text for name in names), module


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _installed_with(extras: Iterable[str]) -> set[str]:
    """The distributions that pip installs with extras of this package, by the metadata of those that are here."""
    brought, waiting = set(), {("openworld-metrics", extra) for extra in ("", *extras)}
    while waiting:
        brought.add(one := waiting.pop())
        try:
            needed = map(Requirement, requires(one[0]) or [])
        except PackageNotFoundError:
            continue
        for each in needed:
            if each.marker is None or each.marker.evaluate({"extra": one[1]}):
                waiting |= {(_normal(each.name), extra) for extra in ("", *each.extras)} - brought
    return {name for name, _ in brought}


def _source(target: Path) -> Path:
    """What a page of the site is made of."""
    target = Path(os.path.normpath(target))
    if target.parent == ROOT / "docs" / "metrics" and target.stem != "index":
        return ROOT / "metrics" / target.stem / "README.md"
    if target.parent == ROOT / "docs" / "notebooks":
        return target.with_suffix(".ipynb")
    if target.parent == ROOT / "docs" / "api" and target.stem != "index":
        return ROOT / "docs" / "building" / "api.py"
    return target
