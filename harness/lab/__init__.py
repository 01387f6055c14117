"""What stands on top of a benchmark's runs: experiments, cases of a memory's life, fresh questions,
new histories, agreement with labels, a leaderboard, answers and verdicts given elsewhere. Nothing
below knows it.
"""
