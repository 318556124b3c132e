"""Tests of columns: words, labels, types, and guesses of which array is which column."""
