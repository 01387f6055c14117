"""Texts to vectors: encoders (one module each) and the batching, caching embedder in front."""
