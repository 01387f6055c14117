"""Qdrant Edge: the engine inside this process."""
