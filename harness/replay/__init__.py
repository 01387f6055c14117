"""Replaying histories: blind ids, ingest in order, the barrier, the question."""
