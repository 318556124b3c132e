"""What every metric stands on: arrays and columns, the verbs of a metric, sorting, counts and curves."""
