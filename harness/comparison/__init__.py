"""Runs side by side: the same questions, paired statistics, and what flipped."""
