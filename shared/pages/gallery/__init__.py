"""A front page that helps to choose a metric, and the pages of all of them."""
