"""Runs compared over the same questions: paired statistics, and questions whose verdicts differ."""
