"""How sure a figure is: intervals, paired tests, corrections, power and repeats, by scipy and
statsmodels.

Both take over a second to import, so that functions import them when they are called.
"""
