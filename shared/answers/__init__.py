"""Answers: what a metric says of one or more models, as data that faces (page, report, terminal, plot) render."""
