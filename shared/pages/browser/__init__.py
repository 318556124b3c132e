"""How the pages look and move: theme, style sheets and JavaScript."""
