"""An option has its default in one place: a field of the metric, or what this field and a function read alike."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from openworld_metrics import METRICS, Metric
from openworld_metrics.loading import metric_class
from tests.package.rooms import MODULES

# where an argument that is called as an option of a metric is another, with a default of its own
OTHERS = {
    "answers.answer.Group.thresholds",  # texts by level
    "answers.answer.Number.threshold",  # a text
    "answers.answers.answers_of.points",  # of a curve, at most
    "answers.computing.Computation.metrics",  # the metrics that compute, by model
    "answers.computing.compute_models.points",
    "answers.decisions.binary_decisions.points",
    "answers.decisions.decisions_of.points",
    "answers.subject.Computed.points",
    "comparison.compare.confidence_level",  # the option's default is to have no intervals
    "dropin.oodeel.bench_metrics.step",  # oodeel's; the option's default is every score
    "dropin.oodeel.get_curve.step",
    "dropin.ow_dln.mark_low_confidence_as_unknown.conf_threshold",  # OW-DLN's; the option's default drops nothing
    "faces.terminal.results_text.thresholds",  # texts
    "dropin.xcurve.AUTKC.k_list",
    "dropin.xcurve.TopkAcc.k_list",  # XCurve's; the option's default is plain accuracy
    "integrations.evaluators._ScoreRows._compute_confidence_interval.confidence_level",  # a signature of evaluate
    "integrations.evaluators._ScoreRows._compute_confidence_interval.n_resamples",
    "open_set.open_f.open_f_curve.average",  # of classes; the option is one of the top-k metrics
    "ranking.delong.delong.confidence_level",
    "ranking.guarantees.guaranteed_coverage.confidence_level",
    "ranking.delong.proportion_interval.confidence_level",
    "leaderboard.undecided.undecided.confidence_level",
}
OFF = (None, False)  # an argument that is left out: no value that could differ from the option's


class Default(NamedTuple):
    """The default of an argument or of a field: of what, by its dotted name, and the expression."""

    name: str
    value: ast.expr


def arguments(node: ast.FunctionDef, name: str) -> Iterator[Default]:
    arguments = [*node.args.posonlyargs, *node.args.args]
    defaults = [None] * (len(arguments) - len(node.args.defaults)) + node.args.defaults
    pairs = [*zip(arguments, defaults), *zip(node.args.kwonlyargs, node.args.kw_defaults)]
    yield from (Default(f"{name}.{argument.arg}", value) for argument, value in pairs if value is not None)


def defaults(node: ast.AST, name: str) -> Iterator[Default]:
    """Those of all functions and fields in a part of a module."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield from arguments(child, f"{name}.{child.name}")
        if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name) and isinstance(node, ast.ClassDef):
            yield from [] if child.value is None else [Default(f"{name}.{child.target.id}", child.value)]
        named = isinstance(child, (ast.FunctionDef, ast.ClassDef))
        yield from defaults(child, f"{name}.{child.name}" if named else name)  # type: ignore[attr-defined]


def own_value(value: ast.expr) -> bool:
    """Whether an expression is a value, rather than the name of one, and says more than that nothing is there."""
    names = (ast.Name, ast.Attribute, ast.Lambda)
    return not isinstance(value, names) and not (isinstance(value, ast.Constant) and value.value in OFF)


def test_defaults_are_in_the_fields_of_metrics_alone() -> None:
    """Elsewhere an argument of an option's name is required, reads the default, or is off."""
    options = {option for name in METRICS for option in metric_class(name).options}
    fields = {
        f"{kind.__module__.partition('.')[2]}.{kind.__name__}.{option}"
        for name in METRICS
        for kind in metric_class(name).__mro__
        if issubclass(kind, Metric)
        for option in options
    }
    elsewhere = {
        default.name
        for module, file in MODULES.items()
        for default in defaults(ast.parse(file.read_text(encoding="utf-8")), module)
        if default.name.rpartition(".")[2] in options and own_value(default.value)
    }
    assert elsewhere - fields == OTHERS
