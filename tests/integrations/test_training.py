"""compute_metrics for transformers.Trainer: both modes, evaluations in a row and after an aborted one, columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics.integrations import compute_metrics
from openworld_metrics.scores import SCORES
from openworld_metrics.written.results import flat

Load = Callable[..., Any]
CLASSES = 3
RNG = np.random.default_rng(4)
LOGITS = RNG.normal(size=(22, CLASSES)).astype(np.float32)
LABELS = RNG.integers(-1, CLASSES, 22)
LABELS[LABELS < 0] = -100
SPEAKERS = np.arange(22) // 3 * 2**33


def prediction(rows: slice = slice(None)) -> Any:
    return SimpleNamespace(predictions=LOGITS[rows], label_ids=LABELS[rows])


def direct(logits: Any, labels: Any, score: str = "msp") -> dict[str, float]:
    """Four metrics of the columns that a user would give them."""
    scores, labels = np.asarray(SCORES[score](logits)), np.asarray(labels)
    columns = dict(predictions=logits, references=labels)
    return {
        **flat(om.OpenAUC().compute(**columns, open_scores=scores)),
        **flat(om.MacroOpenF().compute(**columns, open_scores=scores)),
        **flat(om.AccuracyK(k_list=(1, 2), ignore_unknown=True).compute(**columns)),
        **flat(om.OODBench().compute(predictions=scores, references=(labels < 0).astype(int))),
    }


def drawn() -> list[Any]:
    options: dict[str, Any] = dict(confidence_level=0.9, n_resamples=15)
    return [om.OpenAUC(**options), om.AccuracyK(ignore_unknown=True, **options), om.OODBench(**options)]


def direct_by_speaker() -> dict[str, float]:
    """Three metrics whose intervals draw speakers."""
    openauc, accuracyk, ood_bench = drawn()
    scores, columns = np.asarray(SCORES["msp"](LOGITS)), dict(references=LABELS, clusters=SPEAKERS)
    unknown = (LABELS < 0).astype(int)
    return {
        **flat(openauc.compute(predictions=LOGITS, open_scores=scores, **columns)),
        **flat(accuracyk.compute(predictions=LOGITS, **columns)),
        **flat(ood_bench.compute(predictions=scores, references=unknown, clusters=SPEAKERS)),
    }


def four(load: Load | None = None) -> list[Any]:
    """Two by their names, two with options, as classes or as metrics of evaluate."""
    if load is None:
        return ["openauc", om.MacroOpenF(), om.AccuracyK(k_list=(1, 2), ignore_unknown=True), "ood_bench"]
    return ["openauc", load("macro_open_f"), load("accuracyk", k_list=(1, 2), ignore_unknown=True), load("ood_bench")]


@pytest.mark.parametrize("score", SCORES)
def test_all_at_once_is_as_direct(score: str) -> None:
    compute = compute_metrics(four(), scores=score)
    expected = direct(LOGITS, LABELS, score)
    assert compute(prediction()) == compute(prediction()) == expected
    assert all(type(value) in (int, float) for value in expected.values())


@pytest.mark.parametrize("form", ["classes", "evaluate"])
def test_by_batches_is_as_direct(form: str, load: Load) -> None:
    compute = compute_metrics(four(load if form == "evaluate" else None))
    for _ in range(2):
        assert compute(prediction(slice(0, 8)), compute_result=False) == {}
        assert compute(prediction(slice(8, 16)), compute_result=False) == {}
        assert compute(prediction(slice(16, 22)), compute_result=True) == direct(LOGITS, LABELS)


@pytest.mark.parametrize("score", SCORES)
def test_a_few_numbers_of_each_sample_are_enough(score: str) -> None:
    torch = pytest.importorskip("torch")
    compute = compute_metrics(four(), scores=score)
    for dtype in (torch.float32, torch.bfloat16):
        logits = torch.tensor(LOGITS, dtype=dtype)
        kept = compute.preprocess_logits((logits, "hidden"), torch.tensor(LABELS))
        assert {tuple(numbers.shape) for numbers in kept.values()} == {(len(LABELS),)}
        arrays = {name: numbers.float().numpy() for name, numbers in kept.items()}
        results = compute(SimpleNamespace(predictions=arrays, label_ids=LABELS))
        assert results == compute(SimpleNamespace(predictions=logits, label_ids=torch.tensor(LABELS)))
    with pytest.raises(ValueError, match="expected one number of classes, got 3, 4"):
        compute(SimpleNamespace(predictions={**arrays, "num_classes": np.arange(22) % 2 + 3}, label_ids=LABELS))


@pytest.mark.parametrize("num_classes", [None, 2, 9])
def test_classes_that_no_logit_is_highest_of_are_counted(num_classes: int | None) -> None:
    """Of preprocessed logits, too, the number of classes is that of the columns, and another one is refused."""
    torch = pytest.importorskip("torch")
    labels = np.where(LABELS == CLASSES - 1, 0, LABELS)
    logits = LOGITS - np.eye(CLASSES, dtype=np.float32)[-1] * 99
    found = []
    for whole in (True, False):
        compute = compute_metrics([om.MacroOpenF(num_classes=num_classes), "micro_open_f", "openauc"])
        kept: Any = compute.preprocess_logits(torch.tensor(logits), torch.tensor(labels)) if whole else logits
        try:
            found.append(compute(SimpleNamespace(predictions=kept, label_ids=labels)))
        except ValueError as error:
            found.append({"error": str(error)})
    assert found[0] == found[1]
    assert ("error" in found[0]) == (num_classes is not None)


@pytest.mark.parametrize("preprocessed", [False, True])
@pytest.mark.parametrize("by_batches", [False, True])
def test_clusters_beside_the_labels(preprocessed: bool, by_batches: bool) -> None:
    """As of label_names=["labels", "speaker"], where each utterance has the number of its speaker."""
    torch = pytest.importorskip("torch")
    compute, expected = compute_metrics(drawn(), clusters=True), direct_by_speaker()
    for rows in (slice(0, 9), slice(9, 22)) if by_batches else (slice(None),):
        logits, labels = LOGITS[rows], (LABELS[rows], SPEAKERS[rows])
        kept: Any = logits
        if preprocessed:
            tensors = torch.tensor(logits), tuple(map(torch.tensor, labels))
            kept = {name: numbers.numpy() for name, numbers in compute.preprocess_logits(*tensors).items()}
        batch = SimpleNamespace(predictions=kept, label_ids=labels)
        results = compute(batch, compute_result=rows.stop == 22) if by_batches else compute(batch)
    assert results == expected
    lists = SimpleNamespace(
        predictions=[LOGITS[:9], LOGITS[9:]], label_ids=[(LABELS[:9], SPEAKERS[:9]), (LABELS[9:], SPEAKERS[9:])]
    )
    assert compute(lists) == expected
    with pytest.raises(TypeError, match="label_ids: expected labels and clusters, as of two label_names, got 1"):
        compute(prediction())


@pytest.mark.parametrize("preprocessed", [False, True])
def test_batches_on_an_accelerator_are_as_on_the_cpu(preprocessed: bool) -> None:
    torch = pytest.importorskip("torch")
    from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

    compute = compute_metrics(four())
    with EmulatedCuda():
        for rows in (slice(0, 8), slice(8, 22)):
            logits, labels = (EmulatedCudaTensor(torch.from_numpy(numbers[rows])) for numbers in (LOGITS, LABELS))
            kept = compute.preprocess_logits(logits, labels) if preprocessed else logits
            batch = SimpleNamespace(predictions=kept, label_ids=labels)
            results = compute(batch, compute_result=rows.start > 0)
    assert results == direct(LOGITS, LABELS)


def test_batches_that_were_not_concatenated_and_models_of_more_outputs() -> None:
    parts = [slice(0, 8), slice(8, 22)]
    batches = SimpleNamespace(predictions=[(LOGITS[i], "hidden") for i in parts], label_ids=[LABELS[i] for i in parts])
    arrays = SimpleNamespace(predictions=[LOGITS[i] for i in parts], label_ids=[LABELS[i] for i in parts])
    whole = SimpleNamespace(predictions=(LOGITS, "hidden"), label_ids=LABELS)
    compute = compute_metrics(four())
    assert compute(batches) == compute(arrays) == compute(whole) == direct(LOGITS, LABELS)


@pytest.mark.parametrize("options", [{"in_value": "rest", "out_value": -1}, {"in_value": 7, "out_value": "rest"}])
def test_ood_bench_with_other_labels(options: dict[str, Any]) -> None:
    metric = om.OODBench(metrics="auroc", ignore_value=3, **options)
    assert compute_metrics(metric)(prediction()) == {"auroc": direct(LOGITS, LABELS)["auroc"]}


def test_by_hand() -> None:
    logits = [[4.0, 0.0], [0.0, 3.0], [2.0, 0.0], [1.0, 0.0]]  # msp ranks them in this order
    given = SimpleNamespace(predictions=logits, label_ids=[0, 0, -100, -1])
    top = om.AccuracyK(k_list=1, ignore_unknown=True)
    assert compute_metrics(["ood_bench", top])(given) == {"auroc": 1.0, "fpr95tpr": 0.0, "accuracy@1": 0.5}
    assert compute_metrics("openauc", scores=lambda rows: [0.0, 1.0, 2.0, -1.0])(given)["openauc"] == 0.25


def test_a_call_that_raises_ends_the_round() -> None:
    compute = compute_metrics(four())
    compute(prediction(slice(0, 8)), compute_result=False)
    bad = SimpleNamespace(predictions=np.full((2, CLASSES), np.nan), label_ids=[0, 1])
    with pytest.raises(ValueError, match="NaN"):
        compute(bad, compute_result=False)
    assert [len(metric) for metric in compute.metrics.values()] == [0] * 4
    with pytest.raises(ValueError, match=r"^openauc: references: expected samples of both .*; without_class="):
        compute(SimpleNamespace(predictions=LOGITS[:2], label_ids=[0, 1]))  # no unknown sample
    assert compute(prediction()) == direct(LOGITS, LABELS)


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize("preprocessed", [False, True])
@pytest.mark.parametrize("lacks", ["unknown", "known"])
def test_an_evaluation_that_lacks_a_class(lacks: str, preprocessed: bool, batches: bool) -> None:
    """NaN for metrics that need it, by the names that they have otherwise; the others keep their numbers."""
    labels = np.where(LABELS < 0, 1, LABELS) if lacks == "unknown" else np.full(len(LABELS), -100)
    compute = compute_metrics(["openauc", "accuracyk", "macro_open_f", "ood_bench"], without_class="nan")
    logits: Any = LOGITS
    if preprocessed:
        torch = pytest.importorskip("torch")
        logits = compute.preprocess_logits(torch.as_tensor(LOGITS), torch.as_tensor(labels))
    evaluation = SimpleNamespace(predictions=logits, label_ids=labels)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        results = [compute(evaluation, **({"compute_result": True} if batches else {})) for _ in range(2)]
    without = {str(warning.message).partition(":")[0] for warning in said}
    assert len(said) == len(without)
    assert without == {"openauc", "ood_bench"} | ({"accuracyk"} if lacks == "known" else set())
    every = compute(prediction())
    assert every == compute_metrics(["openauc", "accuracyk", "macro_open_f", "ood_bench"])(prediction())
    for numbers in results:
        assert list(numbers) == list(every)
        lost = {key for key in numbers if np.isnan(numbers[key])}
        assert {key for key in every if not key.startswith(("macro", "accuracy", "closed_set"))} <= lost
        kept = ["macro_open_f", *(["accuracyk"] if lacks == "unknown" else [])]
        expected = compute_metrics(kept)(SimpleNamespace(predictions=LOGITS, label_ids=labels))
        if lacks == "unknown":
            expected["closed_set_accuracy"] = float(np.mean(LOGITS.argmax(axis=1) == labels))
        assert expected == {key: value for key, value in numbers.items() if key not in lost}
    with pytest.raises(ValueError, match="NaN"):  # any other error remains one
        compute(SimpleNamespace(predictions=np.full((2, CLASSES), np.nan), label_ids=[0, 1]))


def test_what_was_left_does_not_count() -> None:
    compute = compute_metrics(four())
    compute(prediction(slice(0, 8)), compute_result=False)
    assert compute(prediction()) == direct(LOGITS, LABELS)
    compute(prediction(slice(0, 8)), compute_result=False)
    compute.reset()
    assert compute(prediction(), compute_result=True) == direct(LOGITS, LABELS)


def test_names_of_results() -> None:
    strict = om.AccuracyK(k_list=1, ignore_unknown=True)
    assert list(compute_metrics({"a": strict, "b": om.OODBench(metrics="auroc")})(prediction())) == [
        "a/accuracy@1",
        "b/auroc",
    ]
    assert set(compute_metrics(["autkc", "accuracyk"])(prediction())) >= set(compute_metrics("autkc")(prediction()))
    both = om.OODBench(metrics="auroc"), om.OODBench(metrics="fpr95tpr")
    with pytest.raises(ValueError, match="expected each once, got ood_bench, ood_bench; give a mapping"):
        compute_metrics(both)
    assert list(compute_metrics(dict(zip("xy", both)))(prediction())) == ["x/auroc", "y/fpr95tpr"]


@pytest.mark.parametrize(
    ("metrics", "scores", "error", "message"),
    [
        ("auroc", "msp", ValueError, "name: expected one of accuracyk, .*, got 'auroc'"),
        ("anomaly_suite", "msp", TypeError, r"expected metrics of classifiers \(accuracyk, .*\), got 'anomaly_suite'"),
        ([om.OpenSetDetection()], "msp", TypeError, "expected metrics of classifiers .*, got 'openset_detection'"),
        ([max], "msp", TypeError, "expected metrics of classifiers .*, got <built-in function max>"),
        ([], "msp", ValueError, "metrics: expected at least one, got none"),
        ({}, "msp", ValueError, "metrics: expected at least one, got none"),
        ("openauc", "softmax", ValueError, "scores: expected one of msp, .*, got 'softmax'"),
        ("openauc", 3, TypeError, "scores: expected the name of a score or a function of logits, got 3"),
    ],
)
def test_errors(metrics: Any, scores: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compute_metrics(metrics, scores=scores)
    with pytest.raises(ValueError, match="without_class: expected one of 'raise', 'nan', got 'skip'"):
        compute_metrics("openauc", without_class="skip")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("speakers", ["", "with speakers"])
@pytest.mark.parametrize("mode", ["at once", "at once, preprocessed", "by batches", "by batches, one loader"])
def test_trainer(mode: str, speakers: str, load: Load, tmp_path: Path) -> None:
    """Two evaluations, one that is aborted in its third batch, twice, and one more: all as direct."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    pytest.importorskip("accelerate")

    class Model(torch.nn.Module):  # type: ignore[name-defined]
        """Gives the first numbers of a sample as logits; fails where it is told to."""

        calls, fails = 0, 0

        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(1))

        def forward(self, rows: Any, labels: Any = None, speaker: Any = None) -> Any:
            assert (speaker is not None) == bool(speakers)
            self.calls += 1
            if self.calls == self.fails:
                raise RuntimeError("out of memory")
            logits = self.scale * rows
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    options = dict(dataloader_persistent_workers=True, dataloader_num_workers=1) if "loader" in mode else {}
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path),
        per_device_eval_batch_size=4,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
        label_names=["labels", "speaker"] if speakers else ["labels"],
        batch_eval_metrics="batches" in mode,
        **options,
    )
    data = [{"rows": torch.from_numpy(row), "labels": int(label)} for row, label in zip(LOGITS, LABELS)]
    if speakers:
        data = [{**sample, "speaker": int(speaker)} for sample, speaker in zip(data, SPEAKERS)]
    model = Model()
    compute = compute_metrics(drawn(), clusters=True) if speakers else compute_metrics(four(load))
    kept = {"preprocess_logits_for_metrics": compute.preprocess_logits} if "preprocessed" in mode else {}
    trainer = transformers.Trainer(model, arguments, eval_dataset=data, compute_metrics=compute, **kept)
    results = direct_by_speaker() if speakers else direct(LOGITS, LABELS)
    expected = {f"eval_{name}": value for name, value in results.items()}

    def evaluated() -> dict[str, float]:
        results = trainer.evaluate()
        return {name: results[name] for name in expected}

    assert evaluated() == evaluated() == expected
    for _ in range(2):
        model.fails = model.calls + 3
        with pytest.raises(RuntimeError, match="out of memory"):
            trainer.evaluate()
        assert any(map(len, compute.metrics.values())) == ("batches" in mode)
    assert evaluated() == evaluated() == expected


def check_cure(compute: Any, outputs: Any, message: str) -> None:
    """The function in a message, a way to pick the logits, is applied to the outputs, and gives what they give."""
    source = message[message.index("lambda") : message.index(" picks them")]
    picked = eval(source)(outputs, LABELS)
    assert compute(SimpleNamespace(predictions=picked, label_ids=LABELS)) == direct(LOGITS, LABELS)


@pytest.mark.parametrize("wrap", [np.asarray, lambda array: pytest.importorskip("torch").as_tensor(array)])
def test_outputs_without_logits_in_their_place(wrap: Callable[[Any], Any]) -> None:
    """Row 32 of reports: the loss first, a dict, classes; with and without preprocess_logits. The cures are applied."""
    compute, logits = compute_metrics(four()), wrap(LOGITS)
    loss, hidden = wrap(np.float32(0.5)), wrap(np.zeros((22, 4, 5)))
    for outputs, error, message in (
        (
            (loss, logits),
            ValueError,
            r"as the first output, got outputs of shapes \(\), \(22, 3\); .*outputs\[1\] picks them",
        ),
        ((hidden, logits), ValueError, r"outputs of shapes \(22, 4, 5\), \(22, 3\); .*outputs\[1\] picks them"),
        (
            {"hidden": hidden, "logits": logits},
            TypeError,
            r"got a dict of hidden, logits; .*outputs\['logits'\] picks them",
        ),
        ({"scores": logits}, TypeError, r"got a dict of scores; .*outputs\['scores'\] picks them"),
    ):
        calls: list[Callable[[], Any]] = [
            partial(compute, SimpleNamespace(predictions=outputs, label_ids=LABELS)),
            partial(compute, SimpleNamespace(predictions=[outputs], label_ids=[LABELS])),
            partial(compute.preprocess_logits, outputs, LABELS),
        ]
        for call in calls:
            with pytest.raises(error, match=message) as raised:
                call()
            check_cure(compute, outputs, str(raised.value))
    with pytest.raises(
        ValueError, match=r"predictions: expected logits \(N, C\), got shape \(22,\); these may be predicted"
    ):
        compute(SimpleNamespace(predictions=LOGITS.argmax(1), label_ids=LABELS))


def test_several_columns_of_labels() -> None:
    compute = compute_metrics(four())
    for predictions, labels in ((LOGITS, (LABELS, LABELS)), ([LOGITS], [(LABELS, LABELS)])):
        with pytest.raises(
            TypeError, match=r"label_ids: expected labels \(N,\), got a tuple of 2 columns; label_names="
        ):
            compute(SimpleNamespace(predictions=predictions, label_ids=labels))
    assert compute(prediction()) == direct(LOGITS, LABELS)
