"""What a run is measured by: accuracy, retrieval, effort, and the official metrics."""
