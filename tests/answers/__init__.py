"""Answers: figures, decisions and pictures as data."""
