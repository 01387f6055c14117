"""ChatGPT's memory as LongMemEval describes the product: short facts, which newer ones overwrite.

Wu et al., "LongMemEval" (ICLR 2025), section 3.4: nothing is read but the facts, and what was
overwritten is lost. The product asks its model what to keep; here the facts are those that were
extracted, by a model where there is one.
"""

from assistant.designs.control_points import Choices, ValueKind
from assistant.designs.design import Design
from memory_store import Fact, Record


class ChatGptFacts(Design):
    """Facts without their rounds, only those that hold."""

    name = "chatgpt-facts"
    paper = "as described in Wu et al. 2025, arXiv:2410.10813"
    choices = Choices(value=ValueKind.FACT)

    def kept_facts(self, record: Record) -> list[Fact]:
        """Facts that the user stated and nothing has replaced."""
        return [fact for fact in super().kept_facts(record) if fact.superseded_by is None]
