"""Tools on top of a benchmark's runs: experiments, cases of a memory's life, fresh questions, new
histories, agreement with labels, a leaderboard, answers and verdicts given elsewhere. No other
package of the harness imports them, except the command line.
"""
