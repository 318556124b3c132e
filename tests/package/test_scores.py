"""Scores from logits: against SciPy, which also says which are higher, laws, large logits, and errors."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import entropy as scipy_entropy

import openworld_metrics as om
from openworld_metrics.scores import SCORES, energy, entropy, gen, margin, max_logit, msp, score_function
from tests.conftest import Run, without_position

Z = np.random.default_rng(0).normal(size=(60, 7)) * 4
NAMES = list(SCORES)


def scipy_margin(z: np.ndarray) -> np.ndarray:
    p = np.sort(softmax(z, axis=1), axis=1)
    return 1 - (p[:, -1] - p[:, -2])


def scipy_gen(z: np.ndarray, gamma: float = 0.1, top: int = 100) -> np.ndarray:
    p = np.sort(softmax(z, axis=1), axis=1)[:, -top:]
    return (p**gamma * (1 - p) ** gamma).sum(axis=1)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (msp, lambda z: 1 - softmax(z, axis=1).max(axis=1)),
        (max_logit, lambda z: -z.max(axis=1)),
        (energy, lambda z: -logsumexp(z, axis=1)),
        (lambda z: energy(z, temperature=2.5), lambda z: -2.5 * logsumexp(z / 2.5, axis=1)),
        (entropy, lambda z: scipy_entropy(softmax(z, axis=1), axis=1)),
        (margin, scipy_margin),
        (lambda z: gen(z, gamma=0.2, top=3), lambda z: scipy_gen(z, 0.2, 3)),
        (gen, scipy_gen),
        (lambda z: gen(np.repeat(z, 20, axis=1)), lambda z: scipy_gen(np.repeat(z, 20, axis=1))),
    ],
    ids=["msp", "max_logit", "energy", "energy, T 2.5", "entropy", "margin", "gen of 3", "gen", "gen of 140 classes"],
)
def test_as_scipy(ours: Callable[..., Any], theirs: Callable[..., Any]) -> None:
    np.testing.assert_allclose(ours(Z), theirs(Z), rtol=1e-12, atol=1e-15)


def test_worked_by_hand() -> None:
    """Logits log 1, log 2, log 5: probabilities 1/8, 2/8, 5/8."""
    z = [[0.0, math.log(2), math.log(5)]]
    p = [Fraction(1, 8), Fraction(2, 8), Fraction(5, 8)]
    assert msp(z)[0] == pytest.approx(3 / 8, rel=1e-15)
    assert margin(z)[0] == pytest.approx(5 / 8, rel=1e-15)
    assert max_logit(z)[0] == -math.log(5)
    assert energy(z)[0] == pytest.approx(-math.log(8), rel=1e-15)
    assert entropy(z)[0] == pytest.approx(-sum(float(x) * math.log(x) for x in p), rel=1e-15)
    assert gen(z, gamma=1, top=2)[0] == pytest.approx(float(p[2] * (1 - p[2]) + p[1] * (1 - p[1])), rel=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_large_logits(name: str) -> None:
    with np.errstate(all="raise", under="ignore"):
        scores = SCORES[name](
            np.asarray([[1e4, 0, -1e4], [1e4, 1e4, 0], [-1e4, -1e4, -np.inf], [3e38, -3e38, 0]], "f4")
        )
    assert np.isfinite(scores).all()
    assert scores.dtype == np.float32


def test_samples_that_a_classifier_is_sure_of_keep_their_order() -> None:
    z = np.asarray([[40.0, 0.0], [45.0, 0.0], [50.0, 0.0]], np.float32)
    assert (1 - softmax(z, axis=1).max(axis=1)).tolist() == [0, 0, 0]
    for name in ("msp", "entropy", "margin", "gen"):
        first, second, third = SCORES[name](z)
        assert first > second > third > 0, name


def test_gen_of_probabilities_too_small_for_their_type() -> None:
    """1 − p of the largest class is exp(−103) and less, whose power is not."""
    z = [[0.0, -103.0, -np.inf], [0.0, -104.0, -104.0], [0.0, -746.0, -746.0], [0.0, -np.inf, -np.inf]]
    for gamma in (0.1, 0.01):
        expected = []
        for row in z:
            below = [Decimal(x) for x in row[1:] if math.isfinite(x)]
            others = [x.exp() for x in below]
            p = [1 / (1 + sum(others, Decimal(0))), *(x / (1 + sum(others, Decimal(0))) for x in others)]
            rest = [sum(p[1:], Decimal(0)), *(1 - x for x in p[1:])]
            power = Decimal(str(gamma))
            expected.append(float(sum((a**power * b**power for a, b in zip(p, rest) if a and b), Decimal(0))))
        for dtype, error in ((np.float32, 1e-5), (np.float64, 1e-12)):
            np.testing.assert_allclose(gen(np.asarray(z, dtype), gamma=gamma), expected, rtol=error)


@pytest.mark.parametrize("name", NAMES)
def test_a_class_that_cannot_be(name: str) -> None:
    with_it = np.concatenate([Z, np.full((len(Z), 1), -np.inf)], axis=1)
    np.testing.assert_allclose(SCORES[name](with_it), SCORES[name](Z), rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_any_layout_type_and_batch(name: str) -> None:
    torch = pytest.importorskip("torch")
    score, narrow = SCORES[name], Z.astype(np.float16)
    expected = score(Z)
    for other in (np.asfortranarray(Z), Z.tolist(), torch.tensor(Z, requires_grad=True)):
        assert np.array_equal(score(other), expected)
    assert np.array_equal(np.concatenate([score(Z[:1]), score(Z[1:20]), score(Z[20:])]), expected)
    assert np.array_equal(score(narrow), score(narrow.astype(np.float32)))
    half = torch.tensor(Z).to(torch.bfloat16)
    assert np.array_equal(score(half), score(half.float()))
    assert score(np.zeros((0, 3))).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
def test_on_the_callers_device(name: str) -> None:
    torch = pytest.importorskip("torch")
    from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

    with EmulatedCuda():
        scores = SCORES[name](EmulatedCudaTensor(torch.tensor(Z)))
        assert str(scores.device) == "cuda:0"
        np.testing.assert_allclose(scores.cpu().numpy(), SCORES[name](Z), rtol=1e-12, atol=1e-15)


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_on_a_gpu(name: str) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    scores = SCORES[name](torch.tensor(Z, device="cuda"))
    assert scores.device.type == "cuda"
    np.testing.assert_allclose(scores.cpu().numpy(), SCORES[name](Z), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_errors(name: str) -> None:
    score = SCORES[name]
    with pytest.raises(ValueError, match=r"logits: expected no NaN, got NaN at position \(1, 0\)"):
        score([[0.0, 1.0], [math.nan, 1.0]])
    with pytest.raises(ValueError, match="logits: expected a finite largest logit, got inf in row 1"):
        score([[0.0, 1.0], [math.inf, 1.0]])
    with pytest.raises(ValueError, match="got -inf in row 0"):
        score([[-math.inf, -math.inf]])
    for shape in ((3,), (3, 0), (3, 2, 2)):
        with pytest.raises(ValueError, match=r"logits: expected shape \(N, C\)"):
            score(np.zeros(shape))
    with pytest.raises(TypeError, match="logits: expected"):
        score([["a", "b"]])


def test_errors_of_options() -> None:
    with pytest.raises(ValueError, match="of 2 or more classes"):
        margin([[1.0]])
    logits = np.asarray([[1.0, 1.0, -np.inf], [2.0, -1e38, 0.0]], np.float32)
    for temperature in (1e-30, 1e30):  # numbers in float32, too
        assert np.isfinite(energy(logits, temperature=temperature)).all()
    for temperature in (0, 1e-50, 1e308):
        with pytest.raises(
            ValueError, match=rf"temperature: expected a number from 1e-30 to 1e\+30, got {re.escape(str(temperature))}"
        ):
            energy(logits, temperature=temperature)
    assert np.isfinite(gen(logits, gamma=1e-30)).all()
    with pytest.raises(ValueError, match="gamma: expected a number from 1e-30 to 1, got 5e-324"):
        gen(logits, gamma=5e-324)
    with pytest.raises(TypeError, match="temperature: expected a number"):
        energy(Z, temperature="warm")
    with pytest.raises(ValueError, match="gamma: expected a number in"):
        gen(Z, gamma=2)
    with pytest.raises(ValueError, match="top: expected an int of at least 1"):
        gen(Z, top=0)
    with pytest.raises(
        ValueError, match="scores: expected one of msp, max_logit, energy, entropy, margin, gen, got 'm"
    ):
        score_function("max")


@pytest.mark.parametrize("ending", ["npy", "parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_on_the_command_line(name: str, ending: str, run: Run) -> None:
    labels = np.where(np.arange(60) % 3 == 0, -1, Z.argmax(axis=1))
    np.save("labels.npy", labels)
    np.save("logits.npy", Z)
    table = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(table.table({"logits": Z.tolist()}), "logits.parquet")
    places = ("--predictions", f"logits.{ending}", "--references", "labels.npy", "--open-scores", name)
    code, output, errors = run("compute", "openauc", *places)
    assert (code, without_position(errors)) == (0, "")
    assert json.loads(output) == om.OpenAUC().compute(predictions=Z, references=labels, open_scores=SCORES[name](Z))


def test_errors_on_the_command_line(run: Run) -> None:
    np.save("ids.npy", np.asarray([0, 1]))
    places = ("--predictions", "ids.npy", "--references", "ids.npy", "--open-scores")
    wrong = "ids.npy: logits: expected shape (N, C) of 1 or more classes, got shape (2,)"
    assert run("compute", "openauc", *places, "msp") == (2, "", f"openworld-metrics: {wrong}\n")
    code, _, errors = run("compute", "openauc", "--references", "ids.npy", "--open-scores", "msp")
    assert code == 2
    assert "expected --predictions with --open-scores msp, which is computed from them" in errors
    for word, end in (("max-logit", "got max-logit; did you mean 'max_logit'?\n"), ("yak", "gen, got yak\n")):
        errors = run("compute", "openauc", *places, word)[2]
        assert errors.startswith("openworld-metrics: --open-scores: expected a file, or one of msp, max_logit, energy,")
        assert errors.endswith(end)


def test_comparing_scores_of_one_models_logits(run: Run) -> None:
    labels = np.where(np.arange(60) % 3 == 0, -1, Z.argmax(axis=1))
    np.save("labels.npy", labels)
    np.save("logits.npy", Z)
    both = [part for which in ("first", "second") for part in (f"--{which}-predictions", "logits.npy")]
    call = ["compare", "openauc", *both, "--references", "labels.npy", "--n-resamples", "39"]  # the fewest with ends
    code, output, errors = run(*call, "--first-open-scores", "msp", "--second-open-scores", "energy")
    assert (code, errors) == (0, "")
    models = ({"predictions": Z, "open_scores": SCORES[name](Z)} for name in ("msp", "energy"))
    assert json.loads(output) == om.compare("openauc", *models, references=labels, n_resamples=39)
    wrong = run(*call, "--first-open-scores", "msp", "--second-open-scores", "enrgy")[2]
    assert wrong.startswith("openworld-metrics: --second-open-scores: expected a file, or one of msp,")
    assert wrong.endswith("got enrgy; did you mean 'energy'?\n")
    call[call.index("--second-predictions") + 1] = "labels.npy"
    wrong = run(*call, "--first-open-scores", "msp", "--second-open-scores", "msp")[2]
    assert wrong.startswith("openworld-metrics: labels.npy: logits: expected shape (N, C)")
