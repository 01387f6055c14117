"""The measures of a run: accuracy, retrieval, effort, and the official metrics."""
