"""The Gradio pages, in a browser and through their API."""
