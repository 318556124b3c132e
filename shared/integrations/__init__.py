"""Other libraries of evaluation: combining metrics of evaluate, and its evaluators."""
