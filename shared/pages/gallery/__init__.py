"""All pages as tabs of one page, with a first tab that helps to choose."""
