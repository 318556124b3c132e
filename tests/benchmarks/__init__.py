"""The tables of docs/benchmarks.md; each module writes its own, and `make bench` runs those that need no more machines.

python -m tests.benchmarks [WORDS]    ours beside peers, on the same arrays or files, one call after the other
"""
