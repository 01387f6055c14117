"""How sure a figure is: intervals, paired tests, corrections, power and repeats.

The modules use the standard library alone, so that the harness installs small and starts at once.
Tests compare each figure with scipy's or statsmodels'.
"""
