"""Fuzzing: every reader, and columns, options and states of the metrics.

    a target ─ make(rng) ─→ a valid input ─ damage(rng) ─→ an input ─ run ─→ nothing, or a finding

The rule: what is wrong with an input is a ValueError or a TypeError; the metric's state, the input and the files are as
they were; time and memory stay within bounds. Every sixteenth input is not damaged, and has to be taken: of files with
columns, and of states in parts, test_fuzz.py takes some, since their results are known. An input follows from its
target and a number alone:

    python -m tests.fuzz --minutes 10         all targets in turn, other inputs each time (--first says from where)
    python -m tests.fuzz TARGET NUMBER        one input again, with its traceback; it lies in tests/fuzz/found/

Targets (table.py) run in a process of their own (worker.py), whose memory is bounded and which is started anew when it
dies or hangs. A disk that fails, and processes that die, for tests/cluster/test_faults.py: disk.py and rounds.py.
"""
