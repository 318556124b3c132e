"""More machines than there are here: states of a million rows each, merged in a tree and in a chain.

python -m tests.benchmarks.merging            print the table and write it into docs/benchmarks.md
python -m tests.benchmarks.merging --smoke    the same with few states of few rows; nothing is written

Every state is reduced anew, of scores as tests/benchmarks/scale.py makes them, and travels as bytes: a merge unpacks
two, merges and packs one. One process does it all; seconds are those of the processor, so that the time along the
longest path of the tree is what as many idle machines as states would wait, without their network.
"""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

import numpy as np

from openworld_metrics import OODBench
from openworld_metrics.cluster import pack, reduce_batches, unpack
from tests.benchmarks.scale import Run, batches
from tests.benchmarks.table import write

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


class Merged(NamedTuple):
    """What merging the states took: seconds, and bytes."""

    sizes: list[int]
    reducing: float
    tree: float
    path: float
    chain: float
    last: int
    top: float
    results: dict[str, Any]


def merge(first: bytes, second: bytes, bits: int) -> tuple[bytes, float]:
    """Two states as one, in bytes, and how long it took."""
    start = time.process_time()
    metric = OODBench(significant_bits=bits)
    for data in (first, second):
        metric.merge(unpack(data))
    metric.states()  # equal rows are counted
    return pack(metric.state()), time.process_time() - start


def simulated(bits: int, states: int, rows: int) -> Merged:
    """Reduce and merge that many states; the tree is that of a binary counter, so that few of its nodes are kept."""
    made = batches(Run("ood_bench", "float32", bits, states * rows, rows))
    open_nodes: list[Node] = []
    chain, chain_seconds, tree_seconds, reducing, sizes, top = b"", 0.0, 0.0, 0.0, [], 0.0
    while True:
        columns = next(made, None)
        last = columns is None
        if columns is not None:
            start = time.process_time()
            data = pack(reduce_batches("ood_bench", [columns], significant_bits=bits))
            took = time.process_time() - start
            reducing += took
            sizes.append(len(data))
            chain, seconds = (data, 0.0) if not chain else merge(chain, data, bits)
            chain_seconds += seconds
            open_nodes.append(Node(data, 0, took))
        while len(open_nodes) > 1 and (last or open_nodes[-1].depth == open_nodes[-2].depth):
            right, left = open_nodes.pop(), open_nodes.pop()
            data, top = merge(left.data, right.data, bits)
            tree_seconds += top
            path = max(left.seconds, right.seconds) + top
            open_nodes.append(Node(data, max(left.depth, right.depth) + 1, path))
        if last:
            break
    (root,) = open_nodes
    results = []
    for data in (root.data, chain):
        metric = OODBench(significant_bits=bits)
        metric.merge(unpack(data))
        assert len(metric) == states * rows
        results.append(metric.compute())
    assert results[0] == results[1], "a tree and a chain differ"
    return Merged(sizes, reducing / states, tree_seconds, root.seconds, chain_seconds, len(root.data), top, results[0])


def line(bits: int, states: int, rows: int, found: Merged) -> str:
    """The row of the table.

    10¹² rows are taken to lie on as many machines as there are states: each reduces its rows in batches of this size,
    and merges what they come to, each time in what the last merge took; then the states are merged in the tree.
    """
    own = TRILLION / states / rows * (found.reducing + found.top)
    hours, travels = own * states / 3600, states * found.last / 1e9
    text = f"{hours:.0f} h of a core, {own + found.path:.0f} s on {states:,}; {travels:.1f} GB"
    cells = [
        str(bits),
        f"{np.mean(found.sizes) / 1e6:.2f} MB",
        f"{sum(found.sizes) / 1e6:,.0f} MB",
        f"{1e3 * found.reducing:.0f} ms",
        f"{found.tree:.1f} s",
        f"{found.path:.2f} s",
        f"{found.chain:.1f} s",
        f"{found.last / 1e6:.2f} MB, AUROC ± {found.results['auroc_error']:.0e}",
        text,
    ]
    return f"| {' | '.join(cells)} |"


def main(*, smoke: bool = False) -> list[str]:
    """Simulate, print the table, and write it unless it is of few states. Returns its lines."""
    states, rows = (5, 1000) if smoke else (1000, 10**6)
    lines = list(HEADER)
    for bits in BITS[:1] if smoke else BITS:
        lines.append(line(bits, states, rows, simulated(bits, states, rows)))
        print(lines[-1], flush=True)
    if not smoke:
        write("merging", lines)
    return lines


if __name__ == "__main__":
    main(smoke=sys.argv[1:] == ["--smoke"])
