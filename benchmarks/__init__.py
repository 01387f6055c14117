"""Benchmarks: ratios to baselines that are measured in the same run, since machines are noisy."""
