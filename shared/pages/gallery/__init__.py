"""All pages as one, behind a page that helps to choose."""
