"""Measures how well memory finds: strict recall on LongMemEval-format histories, without a language
model.

Every history is replayed into the store, and its question is recalled once with all signals of all
rounds. A variant (dense keys alone, ours without time) is another weighting of these signals, so
all variants see the same data in the same run.
"""
