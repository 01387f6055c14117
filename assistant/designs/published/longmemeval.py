"""The design that LongMemEval itself proposes: rounds, found by themselves and their facts in one
key, filtered by the time that the question names, read with notes over JSON.

Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory" (ICLR 2025),
section 5. Rules read the time, unless there is a query model.
"""

from assistant.answering.plan import Mode
from assistant.designs.control_points import Choices, KeySource
from assistant.designs.design import Design
from memory_store import TimeUse


class LongMemEval(Design):
    """Every control point as the paper recommends it."""

    name = "longmemeval"
    paper = "Wu et al. 2025, arXiv:2410.10813"
    choices = Choices(
        keys=(KeySource.VALUE, KeySource.FACT),
        merged=True,
        time=TimeUse.FILTER,
        mode=Mode.CHAIN_OF_NOTE,
    )
