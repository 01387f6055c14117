"""Judges compare a hypothesis with the reference answer; one module for each kind."""
