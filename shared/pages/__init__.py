"""The Gradio pages of the metrics."""
