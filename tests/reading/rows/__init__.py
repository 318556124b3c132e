"""Tests of tables and arrays as columns of a metric."""
