"""Data sets of other benchmarks, one module for each published layout."""
