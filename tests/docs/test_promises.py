"""Each name that the guides and the changelog's latest version promise exists: flags, modules, functions, options."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from openworld_metrics.command.commands import cli
from openworld_metrics.loading import METRICS, metric_class

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "shared"
GUIDES = sorted((ROOT / "docs/guides").glob("*.md"))
NOT_OURS = {  # names of others, and whose they are
    "persistent()": "torchmetrics",
    "enable_normalization": "anomalib",
    "NO_COLOR": "terminals",
    "huggingface_hub.metadata_update()": "huggingface_hub",
    "--dataset": "the script validate.py of the benchmark",
    ".group_by()": "Polars",
    "--nproc-per-node": "torchrun",
    "load(cache_dir=)": "evaluate",
    "--extra-index-url": "pip",
    "--all": "spaces/publish.py",
    "--dry-run": "spaces/publish.py",
    "--namespace": "spaces/publish.py",
    "EarlyStopping()": "Lightning and Keras",
    "metric_for_best_model": "transformers",
    "batch_eval_metrics": "transformers",
    "num_sanity_val_steps": "Lightning",
    "report_to": "transformers",
    "wandb.log()": "Weights & Biases",
    "sep": "Excel",
}


def latest_version() -> str:
    """What the changelog says of the latest version and of what comes, without what is gone."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:3]
    kept = [part for section in sections for part in re.split(r"^### ", section, flags=re.MULTILINE)]
    return "\n".join(part for part in kept if not part.startswith(("Removed", "Deprecated")))


TEXTS = {"CHANGELOG.md": latest_version(), **{path.name: path.read_text(encoding="utf-8") for path in GUIDES}}


@cache
def flags() -> set[str]:
    """All flags of all commands."""
    every = {"--help"}
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        context = click.Context(command, info_name=name)
        for parameter in command.get_params(context):
            every |= {*parameter.opts, *parameter.secondary_opts}
    for metric in METRICS:
        every |= {f"--{option.replace('_', '-')}" for option in metric_class(metric).options}
        every |= {f"--{column.replace('_', '-')}" for column in metric_class(metric).columns}
    return every


@cache
def names() -> dict[str, set[str]]:
    """Each function and class of the package, with the names of its parameters and fields."""
    found: dict[str, set[str]] = {}
    for path in SHARED.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                found.setdefault(node.name, set()).update(each.arg for each in every)
                if node.args.kwarg:
                    found[node.name].add("**")
            if isinstance(node, ast.ClassDef):
                fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
                found.setdefault(node.name, set()).update(ast.unparse(each.target) for each in fields)
    return found


@cache
def keys() -> set[str]:
    """The words in the package's strings, among them the names of all results, such as Precision(Known)."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SHARED.rglob("*.py"))
    constants = (node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {word.strip(".,;:") for text in constants if isinstance(text, str) for word in text.split()}


def spans(text: str) -> Iterator[str]:
    """The code spans of a text, without its blocks."""
    yield from re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def missing(text: str) -> Iterator[str]:
    """What is promised, and does not exist."""
    for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+(?![\w-])", text):
        if flag not in flags():
            yield flag
    every = {parameter for parameters in names().values() for parameter in parameters}
    for span in spans(text):
        if re.fullmatch(r"openworld_metrics(\.\w+)+", span) and not exists(span):
            yield span
        call = re.fullmatch(r"([\w.]+)\((.*)\)", span)
        if call and (own := call[1].split(".")[-1]) in names():
            keywords = re.findall(r"(?<![\w.])(\w+)=(?!=)", call[2])
            parameters = names()[own]
            yield from (f"{own}({key}=)" for key in keywords if key not in parameters | every)
            yield from (f"{own}({key}=)" for key in keywords if key not in parameters and "**" not in parameters)
        elif call and span not in keys() and not hasattr(builtins, call[1]):
            yield f"{call[1]}()"
        option = re.fullmatch(r"(\w+)=\S+", span)
        if option and option[1] not in every:
            yield option[1]


def exists(dotted: str) -> bool:
    module, rest = dotted, list[str]()
    while module:
        try:
            thing = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
    for name in rest:
        if not hasattr(thing, name):
            return False
        thing = getattr(thing, name)
    return True


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_promised_exists(name: str) -> None:
    assert sorted({each for each in missing(TEXTS[name]) if each not in NOT_OURS}) == []


def test_what_does_not_exist_is_noticed() -> None:
    text = "`--flips` `openworld_metrics.plots` `flat(plains=True)` `as_torch()` `matchings=None` `auroc(positives=1)`"
    expected = ["--flips", "as_torch()", "flat(plains=)", "matchings", "openworld_metrics.plots"]
    assert sorted({*missing(text)}) == expected
    assert {each for text in TEXTS.values() for each in missing(text)} >= NOT_OURS.keys()  # none is out of date
