"""A run and its directory: manifest, journals, what they hold together, and the order of stages."""
