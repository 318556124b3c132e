"""The pages of the metrics, in plain Gradio."""
