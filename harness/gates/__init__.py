"""Whether a finished run is good enough: thresholds, regressions, and JUnit for CI."""
