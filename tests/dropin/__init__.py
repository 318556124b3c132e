"""The calls of other libraries, with one import changed."""
