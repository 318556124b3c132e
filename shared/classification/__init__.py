"""Top-k metrics: accuracyk and autkc."""
