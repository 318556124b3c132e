"""The events of a page: the components that each reads, and those that it changes."""
