"""Tests of rows of tables: joins, roles, names, and the columns of each model."""
