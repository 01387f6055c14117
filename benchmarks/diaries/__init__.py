"""Diaries as people type them, questions about them, and how well these are answered."""
