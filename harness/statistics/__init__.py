"""How sure a figure is: intervals, paired tests, corrections, power and repeats.

By the standard library alone, so that the harness installs small and starts at once; tests compare
each figure with that of scipy or statsmodels.
"""
