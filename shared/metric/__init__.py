"""A metric's verbs: batches, groups, joining, resampling, processes."""
