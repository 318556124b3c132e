"""From files or a model to results."""
