"""How well memory finds: strict recall on LongMemEval-format histories, no language model anywhere.

Every history is replayed into the store and its question recalled once, with all signals of all
rounds. A variant (dense keys alone, ours without time) is another weighting of these signals, so
all variants see the same data in the same run.
"""
