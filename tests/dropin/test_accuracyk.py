"""The calls of accuracyk's card."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from openworld_metrics.dropin import accuracyk

IDS = [[0, 7, 1, 3, 5], [0, 2, 9, 8, 4], [8, 4, 0, 1, 3]]


@pytest.mark.parametrize("convert", [np.asarray, list, np.float64], ids=["arrays", "lists", "floats"])
def test_calls_of_the_card(convert: Any) -> None:
    """Its 0.6 is 2/3; ids remain ids as floats, which AccuracyK would take for scores."""
    assert accuracyk.compute(predictions=convert(IDS), references=convert([3, 5, 0])) == {"accuracy": 2 / 3}
    assert accuracyk.compute(predictions=convert(IDS), references=convert([3, 4, 0])) == {"accuracy": 1.0}


def test_accuracy_at_1() -> None:
    predictions = np.expand_dims(np.asarray([3, 8, 1]), axis=1)
    assert accuracyk.compute(predictions=predictions, references=np.asarray([3, 4, 0])) == {"accuracy": 1 / 3}


def test_the_five_highest_of_logits() -> None:
    """The card has the two arguments swapped."""
    logits, labels = np.random.default_rng(0).normal(size=(50, 20)), np.arange(50) % 20
    top5 = np.argpartition(logits, -5, axis=-1)[:, -5:]
    share = np.mean([label in row for label, row in zip(labels, top5.tolist())])
    assert accuracyk.compute(references=labels, predictions=top5) == {"accuracy": share}
    with pytest.raises(ValueError, match="predictions and references are swapped"):
        accuracyk.compute(references=top5, predictions=labels)


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        (np.full((3, 2), 0.5), [0, 1, 2], "predictions: expected integers, got 0.5"),
        (IDS, [3, 4], "expected columns of one length"),
        (IDS, [3, 4, -1], "references: expected"),
        ([3, 8, 1], [3, 4, 0], "predictions: expected .* got shape"),
    ],
)
def test_what_is_wrong(predictions: Any, references: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        accuracyk.compute(predictions=predictions, references=references)
