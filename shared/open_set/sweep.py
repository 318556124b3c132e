"""One sweep over samples in the order of their open-set scores, with the sums that F-scores need after each sample.

Macro averages are sums of ratios over classes, of which one changes at a time. Floating-point sums would depend on the
order of the changes, and lose digits of small ratios. So each ratio, rounded to float64, is cut into enough pieces of b
bits to hold it exactly: p = Σⱼ pieceⱼ · 2^(−b·j). The sums of a piece over all classes are integers below 2^53, which
float64 adds exactly in every order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace
from ..arrays.checks import are_ids_below, check_class_ids, check_not_negative
from ..arrays.exact import ratio_of
from ..arrays.threads import in_threads, parts_of, threads_for, worth_compiling

_SWEPT = 1 << 15  # samples
_SWEPT_ON_DEVICE = 1 << 26
_TINY = 2.0**-500  # less than any sum that is not 0: those are at least 2^-52/samples


class Sweep(NamedTuple):
    """The state of a sweep after each of some samples, (N,) each."""

    first: Array  # with second: the two numbers that F is computed from
    second: Array
    value: Array  # F, or a multiple of it, nearly: what is compared


def macro_sweep(
    outcomes: Array, totals: Array, occurring: int, sizes: Array | None = None, within: slice = slice(None)
) -> Iterator[Sweep]:
    """Sums over classes of TP/(TP + FP) and of TP/(TP + FN) after each sample, in score order; within 2 roundings.

    The value is P·R/(P + R) of these sums P and R, which is proportional to F.

    An outcome is twice the predicted class, plus one if it is the true one; `totals` are the samples of each class that
    is predicted. `occurring` is the number of known classes that occur: no other adds to a sum. `sizes` are how many
    equal samples each entry stands for, by default one; `within`, the samples after which sums are wanted. Sums come
    block by block, and are overwritten by the next.
    """
    xp = array_namespace(outcomes)
    samples = outcomes.shape[0] if sizes is None else int(xp.sum(sizes))
    bits = 53 - occurring.bit_length()
    num_pieces = -(-(52 + samples.bit_length()) // bits)  # a ratio is a multiple of 2^-52 times at least 1/samples
    start, stop, _ = within.indices(outcomes.shape[0])
    hits, accepted = _counts_before(start, outcomes, totals, sizes)
    before = ratio_of(hits, xp.clip(accepted, 1, None)), ratio_of(hits, xp.clip(totals, 1, None))
    pieces = [_pieces(ratios, bits, num_pieces) for ratios in before]
    running = np.asarray([[float(xp.sum(piece)) for piece in of_ratios] for of_ratios in pieces])  # the sums so far
    loop = worth_compiling(sweep_loop, 8 * outcomes.shape[0], outcomes)
    sweep: Any = _sweep_block
    if loop is not None:
        sweep = partial(loop, np.stack([np.stack(of_ratios, axis=-1) for of_ratios in pieces], axis=1))
    blocks = [slice(start + block.start, min(start + block.stop, stop)) for block in blocks_of(outcomes[start:stop])]
    longest = outcomes[blocks[0]]
    ones = xp.ones_like(longest, dtype=xp.int64)
    columns = [xp.empty_like(longest, dtype=xp.float64) for _ in Sweep._fields]
    for block in blocks:
        part = outcomes[block]
        here = ones[: part.shape[0]] if sizes is None else sizes[block]
        after = Sweep(*(column[: part.shape[0]] for column in columns))
        sweep(part, here, (hits, accepted, totals), bits, running, (*after,))
        yield after


def _counts_before(start: int, outcomes: Array, totals: Array, sizes: Array | None) -> tuple[Array, Array]:
    """The numbers of right samples and of all samples before one, by predicted class."""
    xp = array_namespace(outcomes)
    before = xp.concat([xp.zeros_like(totals)] * 2)  # of each outcome
    earlier, counts = outcomes[:start], None if sizes is None else sizes[:start]
    for block in blocks_of(earlier):
        before += count_ids(earlier[block], before.shape[0], None if counts is None else counts[block])
    accepted = before[::2] + before[1::2]
    return accepted - before[::2], accepted


def _pieces(ratios: Array, bits: int, number: int) -> list[Array]:
    """The pieces of each ratio, the highest first."""
    pieces = []
    for _ in range(number):
        ratios = ratios * 2.0**bits
        pieces.append(array_namespace(ratios).floor(ratios))
        ratios = ratios - pieces[-1]
    return pieces


def count_ids(ids: Array, length: int, counts: Array | None) -> Array:
    """The number of samples of each id."""
    xp = array_namespace(ids)
    if counts is None:
        return xp.bincount(ids, minlength=length)
    # float64 holds the sums of up to 2^53 samples
    return xp.astype(xp.bincount(ids, weights=xp.astype(counts, xp.float64), minlength=length), xp.int64)


def micro_sweep(
    correct: Array, sizes: Array | None = None, within: slice = slice(None)
) -> Iterator[tuple[Array, Array]]:
    """The numbers of correct and of all accepted samples after each sample, in score order, block by block."""
    xp = array_namespace(correct)
    start, stop, _ = within.indices(correct.shape[0])
    hits, accepted = int(xp.count_nonzero(correct[:start])), start
    if sizes is not None:
        hits, accepted = int(xp.sum(sizes[:start] * (correct[:start] != 0))), int(xp.sum(sizes[:start]))
    for block in blocks_of(correct[start:stop]):
        right = xp.astype(correct[start:stop][block], xp.int64)
        here = xp.ones_like(right) if sizes is None else sizes[start:stop][block]
        after = hits + xp.cumulative_sum(right * here), accepted + xp.cumulative_sum(here)
        hits, accepted = int(after[0][-1]), int(after[1][-1])
        yield after


def blocks_of(samples: Array) -> list[slice]:
    """Blocks of samples, small enough that their sums fit the cache."""
    length = _SWEPT if isinstance(samples, np.ndarray) else _SWEPT_ON_DEVICE
    return [slice(start, start + length) for start in range(0, samples.shape[0], length)]


def _sweep_block(outcomes: Array, sizes: Array, counts: Sequence[Array], bits: int, running: Array, after: Any) -> None:
    """As `sweep_loop`, with array operations."""
    xp, (hits, accepted, totals) = array_namespace(outcomes), counts
    ids = outcomes >> 1
    order = xp.argsort(ids, stable=True)
    groups, entering = ids[order], sizes[order]
    right = xp.astype(outcomes[order] & 1, xp.int64) * entering
    first = xp.searchsorted(groups, groups, side="left")
    before, entered = (xp.cumulative_sum(column, include_initial=True) for column in (right, entering))
    hits_after = hits[groups] + before[1:] - before[first]
    accepted_after = accepted[groups] + entered[1:] - entered[first]
    of_class = xp.clip(totals[groups], 1, None)
    divisors = ((accepted_after, xp.clip(accepted_after - entering, 1, None)), (of_class, of_class))
    precision, recall, value = after
    for sums, so_far, (later, earlier) in zip((precision, recall), running, divisors):
        new, old = ratio_of(hits_after, later), ratio_of(hits_after - right, earlier)
        pieces = []
        for j in range(len(so_far)):
            new, old = new * 2.0**bits, old * 2.0**bits
            change = xp.empty_like(new)
            change[order] = xp.floor(new) - xp.floor(old)
            new, old = new - xp.floor(new), old - xp.floor(old)
            pieces.append(xp.cumulative_sum(change) + float(so_far[j]))
            so_far[j] = float(pieces[j][-1])
        sums[...] = sum(pieces[j] * 2.0 ** (-bits * (j + 1)) for j in reversed(range(len(pieces))))
    value[...] = precision * recall / xp.clip(precision + recall, _TINY, None)
    last = xp.searchsorted(groups, groups, side="right") - 1
    hits[groups], accepted[groups] = hits_after[last], accepted_after[last]


def sweep_loop(pieces: Any, outcomes: Any, sizes: Any, counts: Any, bits: int, running: Any, after: Any) -> None:
    """Accept entry by entry: the sums over classes of precision and of recall after each, and P·R/(P + R).

    `counts` are right, accepted and all samples by class, `pieces` (C, 2, J) those of precision and recall of each
    class, and `running` holds their sums over the classes; all before and after.
    """
    hits, accepted, totals = counts
    precision, recall, value = after
    scale = 2.0**bits
    units = scale ** -np.arange(1.0, running.shape[1] + 1)
    for i in range(len(outcomes)):
        c = outcomes[i] >> 1
        accepted[c] += sizes[i]
        if outcomes[i] & 1:  # else the recall of no class changes
            hits[c] += sizes[i]
            r = hits[c] / max(totals[c], 1)
            for j in range(running.shape[1]):
                r *= scale
                whole = np.floor(r)
                running[1, j] += whole - pieces[c, 1, j]
                pieces[c, 1, j] = whole
                r -= whole
        p = hits[c] / accepted[c]
        for j in range(running.shape[1]):
            p *= scale
            whole = np.floor(p)
            running[0, j] += whole - pieces[c, 0, j]
            pieces[c, 0, j] = whole
            p -= whole
        p, r = 0.0, 0.0
        for j in range(running.shape[1] - 1, -1, -1):
            p += running[0, j] * units[j]
            r += running[1, j] * units[j]
        precision[i], recall[i], value[i] = p, r, p * r / max(p + r, _TINY)


_COUNTED = 1 << 16  # classes of which each thread has counts of its own; of more, one thread counts all


def outcomes_of(ids: Array, correct: Array, most: int) -> Array:
    """Encode outcomes as twice the predicted class, below `most`, plus one if it is the true class."""
    if not isinstance(ids, np.ndarray) or 2 * most > 1 << 32:
        return 2 * ids + correct
    outcomes = ids.astype(_type_of(most))
    outcomes <<= 1
    outcomes |= correct
    return outcomes


def counted_outcomes(predicted: Array, classes: Array, num_classes: int, counts: Array | None) -> tuple[Array, Array]:
    """The outcome of each sample, and the number of known samples of each class.

    Parameters: predicted (N,), int64, and classes (N,), negative for unknown samples; num_classes C; counts (N,), how
    many equal samples each entry stands for, by default one. Raises ValueError as `check_ids` does.
    """
    loop = worth_compiling(count_outcomes, predicted.shape[0], predicted, classes) if counts is None else None
    if loop is None or 2 * num_classes > 1 << 32:
        check_ids(predicted, classes, num_classes)
        xp = array_namespace(classes)
        totals = sum(
            count_ids(
                xp.clip(classes[block], -1, None) + 1, num_classes + 1, None if counts is None else counts[block]
            )[1:]
            for block in blocks_of(classes)
        )
        return outcomes_of(predicted, predicted == classes, num_classes), totals
    parts = parts_of(len(predicted), threads_for(len(predicted)) if num_classes <= _COUNTED else 1)
    outcomes = np.empty(len(predicted), _type_of(num_classes))
    totals = np.zeros((len(parts), 1 + num_classes), np.int64)  # each thread counts in a row of its own
    pieces = [partial(loop, predicted[part], classes[part], outcomes[part], row) for part, row in zip(parts, totals)]
    if not all(in_threads(pieces, len(parts))):
        check_ids(predicted, classes, num_classes)
    return outcomes, totals.sum(axis=0)[1:]


def check_ids(predicted: Array, classes: Array, num_classes: int) -> None:
    """Raise ValueError for predicted ids, int64, outside [0, C) and for true ones of at least C."""
    if not are_ids_below(predicted, num_classes):
        check_class_ids(predicted, "predicted", num_classes)
        check_not_negative(predicted, "predicted")
    check_class_ids(classes, "classes", num_classes)


def _type_of(most: int) -> Any:
    return np.uint16 if 2 * most <= 1 << 16 else np.uint32


def count_outcomes(predicted: Any, classes: Any, outcomes: Any, totals: Any) -> bool:
    """Fill the outcomes of samples, and count the samples of each true class plus one; whether all ids are in range."""
    for i in range(len(predicted)):
        ours, theirs = predicted[i], classes[i]
        if not (0 <= ours < len(totals) - 1 and theirs < len(totals) - 1):
            return False
        outcomes[i] = 2 * ours + (ours == theirs)
        totals[max(theirs, -1) + 1] += 1
    return True
