"""Answers of a metric about one or more models, as data that faces (page, report, terminal, plot) render."""
