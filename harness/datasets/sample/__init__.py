"""The built-in sample: a small data set in the LongMemEval format, written for this project."""

from harness.datasets.sample.compose import build_sample

__all__ = ["build_sample"]
