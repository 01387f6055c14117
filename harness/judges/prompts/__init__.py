"""Prompts of the model judges, one file each; `harness.judges.rubrics` reads them."""
