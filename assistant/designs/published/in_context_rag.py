"""In-context retrieval: the rounds nearest to the question, read at once.

Ram et al., "In-Context Retrieval-Augmented Language Models" (TACL 2023); the plain retrieval of
LongMemEval (2025), Table 2.
"""

from assistant.designs.control_points import Choices
from assistant.designs.design import Design


class InContextRag(Design):
    """The design that the others are measured against."""

    name = "in-context-rag"
    paper = "Ram et al. 2023, arXiv:2302.00083"
    choices = Choices()
