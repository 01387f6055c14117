"""Prompts of the modes that lay a history into the prompt."""
