"""Prompts that are answered elsewhere, by people, other machines or batches: out, and back in."""
