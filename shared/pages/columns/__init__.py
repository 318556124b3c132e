"""Kinds of columns: how each is guessed, offered, checked and taken from arrays."""
