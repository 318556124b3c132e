"""Kinds of columns: how each is guessed, offered, checked and read from arrays."""
