"""More machines than there are here: states of a million rows each, merged in a tree and in a chain.

python -m tests.benchmarks.merging    print the table and write it into docs/benchmarks.md

Every state is reduced anew, of scores as tests/benchmarks/scale.py makes them, and travels as bytes: a merge unpacks
two, merges and packs one. One process does it all; seconds are those of the processor, so that the time along the
longest path of the tree is what as many idle machines as states would wait, without their network.
"""

from __future__ import annotations

import itertools
import time
from typing import NamedTuple

import numpy as np

from openworld_metrics import OODBench
from openworld_metrics.cluster import pack, reduce_batches, unpack
from tests.benchmarks.measure import timed, write
from tests.benchmarks.scale import Run, batches

CLOCK = time.process_time
BITS = (8, 12, 16)
TRILLION = 10**12
HEADER = [
    "| bits | one state | all states | reducing one | the tree: all merges | its longest path | the chain |"
    " the last state | 10¹² rows, **extrapolated** |",
    "|---|---|---|---|---|---|---|---|---|",
]


class Node(NamedTuple):
    """A state in bytes, how deep the tree below it is, and the seconds along the longest path to it."""

    data: bytes
    depth: int
    seconds: float


def merge(first: bytes, second: bytes, bits: int) -> tuple[bytes, float]:
    """Two states as one, in bytes, and how long it took."""

    def merged() -> bytes:
        metric = OODBench(significant_bits=bits)
        for data in (first, second):
            metric.merge(unpack(data))
        metric.states()  # equal rows are counted
        return pack(metric.state())

    seconds, data = timed(merged, CLOCK)
    return data, seconds


def simulated(bits: int, states: int = 1000, rows: int = 10**6) -> str:
    """Reduce and merge that many states, and the row of the table.

    The tree is that of a binary counter, so that few of its nodes are kept. 10¹² rows are taken to lie on as many
    machines as there are states: each reduces its rows in batches of this size, and merges what they come to, each time
    in what the last merge took; then the states are merged in the tree.
    """
    open_nodes: list[Node] = []
    chain, chain_seconds, tree_seconds, reducing, sizes, top = b"", 0.0, 0.0, 0.0, [], 0.0
    for columns in itertools.chain(batches(Run("ood_bench", "float32", bits, states * rows, rows)), [None]):
        if columns is not None:
            took, data = timed(lambda: pack(reduce_batches("ood_bench", [columns], significant_bits=bits)), CLOCK)  # noqa: B023
            reducing += took / states
            sizes.append(len(data))
            chain, seconds = merge(chain, data, bits) if chain else (data, 0.0)
            chain_seconds += seconds
            open_nodes.append(Node(data, 0, took))
        while len(open_nodes) > 1 and (columns is None or open_nodes[-1].depth == open_nodes[-2].depth):
            right, left = open_nodes.pop(), open_nodes.pop()
            data, top = merge(left.data, right.data, bits)
            tree_seconds += top
            open_nodes.append(Node(data, max(left.depth, right.depth) + 1, max(left.seconds, right.seconds) + top))
    (root,) = open_nodes
    results = []
    for data in (root.data, chain):
        metric = OODBench(significant_bits=bits)
        metric.merge(unpack(data))
        assert len(metric) == states * rows
        results.append(metric.compute())
    assert results[0] == results[1], "a tree and a chain differ"
    own, last = TRILLION / states / rows * (reducing + top), len(root.data)
    hours, wait = own * states / 3600, own + root.seconds
    cells = [
        str(bits),
        f"{np.mean(sizes) / 1e6:.2f} MB",
        f"{sum(sizes) / 1e6:,.0f} MB",
        f"{1e3 * reducing:.0f} ms",
        f"{tree_seconds:.1f} s",
        f"{root.seconds:.2f} s",
        f"{chain_seconds:.1f} s",
        f"{last / 1e6:.2f} MB, AUROC ± {results[0]['auroc_error']:.0e}",
        f"{hours:.0f} h of a core, {wait:.0f} s on {states:,}; {states * last / 1e9:.1f} GB",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Simulate, print the table, and write it."""
    lines = [*HEADER]
    for bits in BITS:
        lines.append(simulated(bits))
        print(lines[-1], flush=True)
    write("merging", lines)


if __name__ == "__main__":
    main()
