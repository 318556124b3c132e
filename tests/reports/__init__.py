"""Tables, pictures and HTML."""
