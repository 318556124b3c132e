"""Rules that fit a threshold to a model's anomaly maps of normal images, each with its guarantee.

    max                 the highest pixel
    fpr:0.001           the lowest threshold that at most a share of the pixels exceeds
    image-fpr:0.05      the same for images, each by its highest pixel
    image-fpr:0.05@0.95 at most this share of new images, with this confidence
    mean+3std           the mean of the pixels and a multiple of their standard deviation

A pixel is anomalous if its score > threshold, and an image if one of its pixels is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..arrays.checks import as_confidence_level, as_open_share, as_written
from ..arrays.exact import Sums
from ..ranking.guarantees import highest_by_rank, threshold_at_fpr
from ..ranking.quantities import most_within, percent

PIXELS, IMAGES = "pixels", "images"
_NUMBER = r"(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)"
_RATE = re.compile(rf"(image-)?fpr:{_NUMBER}(?:@{_NUMBER})?")
_DEVIATIONS = re.compile(rf"mean\+{_NUMBER}std")

Maps = Iterable[np.ndarray]  # can be iterated several times


class Rule(NamedTuple):
    """A way to fit a threshold to maps of normal images.

    of: the kinds of scores that the threshold applies to
    promise: the guarantee, as a sentence
    fit: computes the threshold from maps
    """

    of: tuple[str, ...]
    promise: str
    fit: Callable[[Maps], float]


def parse_rule(text: str) -> Rule:
    """Parse a rule; see above. Raises ValueError for any other text, and for a number out of range.

    >>> parse_rule("mean+3std").fit([np.asarray([0.0, 0.0, 1.0, 1.0])])
    2.0
    """
    if text == "max":
        return Rule(
            (PIXELS, IMAGES), "No pixel of these images exceeds the threshold.", lambda maps: max(_maxima(maps))
        )
    if match := _RATE.fullmatch(text):
        of_images, fpr, confidence = match[1], as_open_share(float(match[2]), "fpr"), match[3]
        if of_images:
            return _image_rate(fpr, None if confidence is None else as_confidence_level(float(confidence)))
        if confidence is None:
            return _pixel_rate(fpr)
        raise ValueError(
            f"rule: expected {text.partition('@')[0]}, or image-{text}, got {text!r}: pixels of an image are not "
            "independent, so there is no guarantee for new ones"
        )
    if match := _DEVIATIONS.fullmatch(text):
        return _mean_and_deviations(float(match[1]))
    raise ValueError(
        "rule: expected max, or with any numbers fpr:0.001, image-fpr:0.05, image-fpr:0.05@0.95 or mean+3std, "
        f"got {text!r}"
    )


def _pixel_rate(fpr: float) -> Rule:
    promise = f"At most {percent(fpr)} % of the pixels of these images exceed the threshold."
    return Rule((PIXELS,), promise, lambda maps: highest_by_rank(maps, lambda total: most_within(fpr, total)))


def _image_rate(fpr: float, confidence_level: float | None) -> Rule:
    images, certain = "these", ""
    if confidence_level is not None:
        images, certain = "new normal", f", with {percent(confidence_level)} % confidence"
    promise = f"At most {percent(fpr)} % of {images} images have a pixel that exceeds the threshold{certain}."
    return Rule((PIXELS, IMAGES), promise, lambda maps: threshold_at_fpr([*_maxima(maps)], fpr, confidence_level))


def _mean_and_deviations(deviations: float) -> Rule:
    def fit(maps: Maps) -> float:
        sums = Sums()
        for score_map in maps:
            if not np.isfinite(score_map).all():
                raise ValueError("expected finite scores, which have a mean, got inf")
            sums = sums.plus(score_map)
        mean = sums.total / sums.number
        return float(mean + as_written(deviations) * _root(sums.squares / sums.number - mean**2))

    promise = f"It is the mean of the pixels of these images and {deviations:g} standard deviations; it bounds no rate."
    return Rule((PIXELS,), promise, fit)


def _maxima(maps: Maps) -> Iterable[float]:
    return (float(score_map.max()) + 0.0 for score_map in maps)  # 0.0 for −0.0


def _root(square: Fraction) -> Fraction:
    """A square root to at least 128 bits; float64 keeps 53 of them."""
    shift = max(0, 256 - square.numerator.bit_length() + square.denominator.bit_length())
    shift += shift % 2
    return Fraction(math.isqrt((square.numerator << shift) // square.denominator), 1 << (shift // 2))
