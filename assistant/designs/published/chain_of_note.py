"""Chain-of-Note: the rounds nearest to the question, with notes on each before the answer.

Yu et al., "Chain-of-Note: Enhancing Robustness in Retrieval-Augmented Language Models"
(EMNLP 2024).
"""

from assistant.answering.plan import Mode
from assistant.designs.control_points import Choices
from assistant.designs.design import Design


class ChainOfNote(Design):
    """Plain retrieval, read with notes: what it changes lies in the reading alone."""

    name = "chain-of-note"
    paper = "Yu et al. 2024, arXiv:2311.09210"
    choices = Choices(mode=Mode.CHAIN_OF_NOTE)
