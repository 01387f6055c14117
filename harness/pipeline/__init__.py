"""The stages of a run: each alone, in order, resumable."""
