"""Scores from logits: how unknown samples look to a classifier, from its (N, C) logits alone.

    from openworld_metrics.scores import energy
    metric.add_batch(predictions=logits, references=labels, open_scores=energy(logits))

Every score is higher for samples that are more unknown. Below, z are the logits of a sample, m is the largest of them,
p = softmax(z), and o = Σ exp(z − m) over all classes but the first largest. Small values are computed from o, not as a
difference from 1, so samples keep their order even if the classifier is so sure that 1 − max p would be 0.

Each function takes logits (N, C): lists, NumPy arrays, tensors on any device. They are widened to float32 or float64;
−inf, for an impossible class, is accepted if another logit of the sample is finite. It returns (N,): a NumPy array, or
a tensor on the accelerator that the logits live on. It raises ValueError for NaN, for +inf, for rows without a finite
logit and for other shapes, and TypeError for anything but numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .arrays.arrays import Array, array_namespace, concatenate, device_of, row_blocks, widen
from .arrays.checks import as_fraction, as_int, as_matrix, as_real, check_no_nan

_SMALLEST, _LARGEST = 1e-30, 1e30  # of options, in float32, too, in which 1e-50 would be 0


def msp(logits: Any) -> Array:
    """One minus the maximum softmax probability, 1 − max p = o / (1 + o), in [0, 1).

    Parameters: logits (N, C). Returns scores (N,), higher is more unknown; see the module's docstring for errors.
    Source: Hendrycks and Gimpel, A Baseline for Detecting Misclassified and Out-of-Distribution Examples, ICLR 2017.

    >>> msp([[0.0, 0.0], [1000.0, 0.0]]).tolist()
    [0.5, 0.0]
    """

    def score(z: Array, m: Array) -> Array:
        o = _sum(_others(z, m))
        return o / (1 + o)

    return _by_rows(logits, score)


def max_logit(logits: Any) -> Array:
    """The negated largest logit, −m.

    Parameters: logits (N, C). Returns scores (N,), higher is more unknown; see the module's docstring for errors.
    Source: Hendrycks et al., Scaling Out-of-Distribution Detection for Real-World Settings, ICML 2022.

    >>> max_logit([[1.0, 3.0], [-2.0, -5.0]]).tolist()
    [-3.0, 2.0]
    """
    return _by_rows(logits, lambda _, m: -m[:, 0])


def energy(logits: Any, temperature: float = 1.0) -> Array:
    """The free energy, −T log Σ exp(z / T) = −(m + T log(1 + o)) with o of the logits z / T.

    Parameters: logits (N, C); temperature T in [1e-30, 1e30]. Returns scores (N,), higher is more unknown; ValueError
    for another temperature, and see the module's docstring. Source: Liu et al., Energy-based Out-of-distribution
    Detection, NeurIPS 2020.

    >>> energy([[10000.0, 0.0], [-10000.0, -20000.0]]).tolist()
    [-10000.0, 10000.0]
    """
    t = as_real(temperature, "temperature")
    if not _SMALLEST <= t <= _LARGEST:
        raise ValueError(f"temperature: expected a number from {_SMALLEST} to {_LARGEST}, got {temperature!r}")

    def score(z: Array, m: Array) -> Array:
        return -(m[:, 0] + t * array_namespace(z).log1p(_sum(_others(z, m, t))))

    return _by_rows(logits, score)


def entropy(logits: Any) -> Array:
    """The entropy of the softmax distribution in nats, −Σ p log p = log(1 + o) + Σ p (m − z), in [0, log C].

    Parameters: logits (N, C). Returns scores (N,), higher is more unknown; see the module's docstring for errors.
    Source: Shannon 1948; as an OOD score, Macêdo et al., Entropic Out-of-Distribution Detection, IJCNN 2021.

    >>> entropy([[0.0, 0.0], [1000.0, 0.0]]).round(6).tolist()
    [0.693147, 0.0]
    """

    def score(z: Array, m: Array) -> Array:
        xp = array_namespace(z)
        others = _others(z, m)
        o = _sum(others)
        below = xp.where(others > 0, m - z, xp.zeros_like(z))  # of p = 0, p log p is 0
        return xp.log1p(o) + _sum(others * below) / (1 + o)

    return _by_rows(logits, score)


def margin(logits: Any) -> Array:
    """One minus the margin of the two largest probabilities, 1 − (p₁ − p₂) = (o + exp(z₂ − m)) / (1 + o), in [0, 1].

    Parameters: logits (N, C) of at least two classes. Returns scores (N,), higher is more unknown; see the module's
    docstring for errors. Source: Scheffer, Decomain and Wrobel, Active Hidden Markov Models for Information
    Extraction, IDA 2001.

    >>> margin([[0.0, 0.0, -1000.0], [1000.0, 0.0, 0.0]]).tolist()
    [1.0, 0.0]
    """

    def score(z: Array, m: Array) -> Array:
        others = _others(z, m)
        o = _sum(others)
        return (o + array_namespace(z).max(others, axis=1)) / (1 + o)

    return _by_rows(logits, score, least=2)


def gen(logits: Any, gamma: float = 0.1, top: int = 100) -> Array:
    """The generalised entropy, Σ p^γ (1 − p)^γ over the `top` largest probabilities.

    Parameters: logits (N, C); gamma, γ in [1e-30, 1]; top, the number of classes that are summed, all if there are
    fewer.
    Returns scores (N,), higher is more unknown; ValueError for other options, and see the module's docstring.
    Source: Liu, Lochman and Zach, GEN: Pushing the Limits of Softmax-Based Out-of-Distribution Detection, CVPR 2023.

    >>> gen([[0.0, 0.0], [1000.0, 0.0]], gamma=0.5).round(6).tolist()
    [1.0, 0.0]
    """
    power, top = as_fraction(gamma, "gamma"), as_int(top, "top", 1)
    if power < _SMALLEST:
        raise ValueError(f"gamma: expected a number from {_SMALLEST} to 1, got {gamma!r}")

    def score(z: Array, m: Array) -> Array:
        xp = array_namespace(z)
        z = xp.flip(xp.sort(z, axis=1), axis=1)
        others = xp.exp(z[:, 1:] - m)
        o = _sum(others)[:, None]
        log_p = z - m - xp.log1p(o)  # p itself may be 0 where p^γ is not
        rest = (1 + (o - others)) / (1 + o)  # 1 − p, of all but the largest
        terms = xp.concat([xp.exp(power * (log_p[:, :1] + _log_of_others(z, m, o))), rest**power], axis=1)
        terms[:, 1:] *= xp.exp(power * log_p[:, 1:])
        return _sum(terms[:, :top])

    return _by_rows(logits, score)


SCORES: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {score.__name__: score for score in (msp, max_logit, energy, entropy, margin, gen)}
)


def score_function(name: str) -> Callable[..., Array]:
    """The function of a score by its name. Returns a function from logits (N, C) to scores (N,); ValueError for others.

    >>> score_function("max_logit")([[1.0, 3.0]]).tolist()
    [-3.0]
    """
    if name not in SCORES:
        raise ValueError(f"scores: expected one of {', '.join(SCORES)}, got {name!r}")
    return SCORES[name]


def _by_rows(logits: Any, score: Callable[[Array, Array], Array], least: int = 1) -> Array:
    """The scores of all rows, by a function of blocks of rows and their largest logits (rows, 1)."""
    logits = as_matrix(logits, "logits")
    if logits.ndim != 2 or logits.shape[1] < least:
        shape = tuple(logits.shape)
        raise ValueError(f"logits: expected shape (N, C) of {least} or more classes, got shape {shape}")
    parts = []
    for rows, block in row_blocks(logits, "logits"):
        # so that sums have one order
        z = np.ascontiguousarray(block) if isinstance(block, np.ndarray) else widen(block)
        m = array_namespace(z).max(z, axis=1, keepdims=True)
        _check(z, m, rows.start)
        with np.errstate(over="ignore"):  # differences of huge logits may be −inf, whose exponential is 0 as it should
            parts.append(score(z, m))
    return concatenate(parts)


def _check(z: Array, m: Array, first: int) -> None:
    xp = array_namespace(z)
    finite = xp.isfinite(m[:, 0])
    if not bool(xp.all(finite)):
        check_no_nan(z, "logits", first)
        row = int(xp.argmin(xp.astype(finite, xp.int8)))
        raise ValueError(f"logits: expected a finite largest logit, got {float(m[row, 0])} in row {row + first}")


def _others(z: Array, m: Array, temperature: float = 1.0) -> Array:
    """exp((z − m) / T) of all classes but the first largest, which gets 0 for its 1."""
    xp = array_namespace(z)
    classes = xp.arange(z.shape[1], device=device_of(z))
    largest = classes[None, :] == xp.argmax(z, axis=1)[:, None]
    return xp.where(largest, xp.zeros_like(z), xp.exp((z - m) / temperature))


def _log_of_others(z: Array, m: Array, o: Array) -> Array:
    """The logarithm of 1 − p of the largest class, (rows, 1), of descending logits; o, Σ exp(z − m) of the others.

    It exists where o is too small for its type.
    """
    xp = array_namespace(z)
    if z.shape[1] < 2:
        return xp.full_like(m, -np.inf)
    second = z[:, 1:2]
    total = _sum(xp.exp(z[:, 1:] - xp.where(xp.isfinite(second), second, m)))[:, None]
    some = total > 0
    log_o = (second - m) + xp.log(xp.where(some, total, xp.ones_like(total)))
    return xp.where(some, log_o, xp.full_like(log_o, -np.inf)) - xp.log1p(o)


def _sum(x: Array) -> Array:
    return array_namespace(x).sum(x, axis=1)
