"""How sure a figure is: intervals, paired tests, corrections, power and repeats, by scipy.

It takes over a second to import, so that functions import it when they are called.
"""
