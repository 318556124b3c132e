"""Open-set recognition of scikit-learn's 1,797 handwritten digits: 0 to 5 are known, 6 to 9 unknown.

A logistic regression is trained on half of the known digits; the other half and all unknown digits are the test set.
The open-set score is the negative of the largest logit: a digit with low logits for all classes is likely unknown.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split

NUM_KNOWN = 6
_SEED = 0
_MAX_GREY = 16
_REJECTED_SHARE = 0.05


class Digits(NamedTuple):
    """The test digits, and the classifier's outputs.

    model: the classifier
    rejection: the threshold above which a digit is called unknown; 95 % of the training digits score at most that
    images: (N, 8, 8) grey values 0 to 16; digits: (N,) 0 to 9
    logits: (N, 6) scores of the known classes; open_scores: (N,), higher is more unknown
    num_training: the number of training digits
    """

    model: Any
    rejection: float
    images: np.ndarray
    digits: np.ndarray
    logits: np.ndarray
    open_scores: np.ndarray
    num_training: int

    @property
    def is_unknown(self) -> np.ndarray:
        """(N,) 1 for unknown digits, 0 for known ones."""
        return np.where(self.digits >= NUM_KNOWN, 1, 0)

    @property
    def references(self) -> np.ndarray:
        """(N,) true classes, −1 for unknown digits."""
        return np.where(self.digits >= NUM_KNOWN, -1, self.digits)


def recognise_digits() -> Digits:
    """Train the classifier and score the test digits."""
    data = load_digits()
    known = data.target < NUM_KNOWN
    train_images, known_images, train_labels, known_labels = train_test_split(
        data.images[known], data.target[known], test_size=0.5, stratify=data.target[known], random_state=_SEED
    )
    images = np.concatenate([known_images, data.images[~known]])
    digits = np.concatenate([known_labels, data.target[~known]])
    # a weak classifier, for scikit-learn: at the default C = 1 every true class is among the two best
    model = LogisticRegression(C=0.1, max_iter=1000, random_state=_SEED)
    # out-of-fold scores, since scores by the fitted model would be too low
    held_out = cross_val_predict(model, _pixels(train_images), train_labels, cv=5, method="decision_function")
    rejection = float(np.quantile(open_set_scores(held_out), 1 - _REJECTED_SHARE))
    model.fit(_pixels(train_images), train_labels)
    logits = class_logits(model, images)
    return Digits(model, rejection, images, digits, logits, open_set_scores(logits), len(train_images))


def class_logits(model: Any, images: np.ndarray) -> np.ndarray:
    """Scores (N, 6) of the known classes for images (N, 8, 8) of grey values 0 to 16."""
    return np.asarray(model.decision_function(_pixels(images)))


def open_set_scores(logits: np.ndarray) -> np.ndarray:
    """Negative maximum logit, (N,): higher is more unknown."""
    return -np.max(logits, axis=1)


def _pixels(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1) / _MAX_GREY
