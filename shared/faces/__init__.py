"""Faces of an answer: page, report, terminal and plot. Each renders it, and decides nothing else."""
