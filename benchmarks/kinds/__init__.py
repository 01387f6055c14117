"""Labelled messages, and the model of their kinds that is trained on them."""
