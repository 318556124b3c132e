"""The signature of a number: the metric, the options that move it and differ from their defaults, and the version.

    openset_detection|known_classes:0,1|protocol:owod|v0.2.0

Results with equal signatures can be compared, whatever the order of their samples, their batches and their device.
Source: Post, A Call for Clarity in Reporting BLEU Scores, WMT 2018.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..arrays.checks import plain_value

VERSION = "0.2.0"
_NO_DEFAULT = object()  # the default of an option that has none


def plain_option(value: Any) -> Any:
    """The value of an option for JSON: arrays and tuples as lists, functions as text."""
    value = plain_value(value)
    if isinstance(value, Mapping):
        return {str(name): plain_option(each) for name, each in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain_option(each) for each in value]
    return function_text(value) if callable(value) else value


def function_text(function: Any) -> str:
    """The name of a function, with its module unless it is scikit-learn's, and with the arguments of a partial.

    >>> from functools import partial
    >>> function_text(partial(round, ndigits=2))
    'builtins.round(ndigits=2)'
    """
    inner = getattr(function, "func", function)
    name, module = getattr(inner, "__name__", str(inner)), str(getattr(inner, "__module__", ""))
    name = name if module.partition(".")[0] == "sklearn" else f"{module}.{name}"
    if inner is function:
        return name
    by_name = (f"{key}={option_text(value)}" for key, value in sorted(function.keywords.items()))
    return f"{name}({','.join((*map(option_text, function.args), *by_name))})"


def option_text(value: Any) -> str:
    """The value of an option as text, the same for equal values.

    >>> option_text((1.0, 0.5)), option_text(True), option_text({"can": 1}), option_text("owod")
    ('1,0.5', 'true', 'can=1', 'owod')
    """
    value = plain_option(value)
    if isinstance(value, Mapping):
        return ",".join(f"{name}={option_text(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ",".join(map(option_text, value))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def signed(metric: Any, options: Mapping[str, Any], *, overlapping: bool = False) -> dict[str, Any]:
    """The `signature` of a metric with these options, and the `options` that differ from its defaults, for JSON.

    An option without a default always differs. In the signature are those of `Metric.moving`, always those that a
    config_name of evaluate sets, and "groups:overlapping" if there are samples of several groups.
    """
    named = {name for config in metric.configs.values() for name in config}
    changed = {name: plain_option(value) for name, value in options.items() if _differs(metric, name, value)}
    moving = metric.moving(options)
    signing = [name for name, value in moving.items() if name in named or _differs(metric, name, value)]
    parts = [metric.name, *(f"{name}:{option_text(moving[name])}" for name in signing)]
    parts += ["groups:overlapping"] * overlapping + [f"v{VERSION}"]
    return {"signature": "|".join(parts), "options": changed}


def _differs(metric: Any, name: str, value: Any) -> bool:
    default = metric.options.get(name, _NO_DEFAULT)
    return value is not default and (default is _NO_DEFAULT or differ(value, default))


def differ(first: Any, second: Any) -> bool:
    """Whether two values of an option are not equal."""
    return option_text(first) != option_text(second)


def differing(first: str, second: str) -> list[str]:
    """The names of the options by which two signatures differ, with "metric" and "version".

    >>> differing("openauc|ood_cost:0.5|v0.1.0", "openauc|v0.2.0")
    ['ood_cost', 'version']
    """
    one, other = map(_values_by_option, (first, second))
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def _values_by_option(signature: str) -> dict[str, str]:
    metric, *options, version = signature.split("|")
    return {"metric": metric, **dict(option.split(":", 1) for option in options), "version": version}
