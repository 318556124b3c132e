"""Theme, style sheets and JavaScript of the pages."""
