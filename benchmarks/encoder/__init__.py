"""The packaged encoder: taught to find what was said from a question about it, and measured."""
