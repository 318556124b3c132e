"""The command openworld-metrics."""
