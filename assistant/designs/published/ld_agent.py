"""LD-Agent: summaries of sessions and what the user stated, found by meaning and shared topics,
weighed by their age.

Li et al., "Hello Again! LLM-powered Personalized Agent for Long-term Dialogue" (NAACL 2025); as
LongMemEval places it, its values are summaries and facts, found by themselves, and key phrases of
the question are searched for.

Topics that a question and a memory share are counted as the authors do: the mean of their shares of
both. All words that are no stop words are topics here; theirs are the nouns. Time makes all of it
count less, by exp(-t / T).
"""

import math
from collections.abc import Sequence
from typing import Any

from assistant.designs.control_points import Choices, QueryKind, ValueKind, fading, with_values
from assistant.designs.design import Design
from assistant.designs.value import Value, ViewQuestion, of_facts
from memory_store import Record
from memory_store.language import Rarity, terms

# The authors' ten million seconds, in days.
_DAYS = 1e7 / 86_400


class LdAgent(Design):
    """Summaries and facts by meaning, topic and age."""

    name = "ld-agent"
    paper = "Li et al. 2025, arXiv:2406.05925"
    choices = Choices(value=ValueKind.SUMMARY, query=QueryKind.KEYPHRASES)

    def described(self) -> dict[str, Any]:
        """Facts are read beside the values, and time makes both fade."""
        value = with_values(self.chosen.value, ValueKind.FACT)
        return super().described() | {"value": value, "time": fading(self.chosen.time)}

    async def values(self, records: Sequence[Record], rarity: Rarity) -> list[Value]:
        """The values chosen, and what the user stated in each round."""
        values = await super().values(records, rarity)
        if self.chosen.value is ValueKind.FACT:
            return values
        stated = ((record, self.kept_facts(record)) for record in records)
        return [*values, *(of_facts(record, facts) for record, facts in stated if facts)]

    def weigh(self, value: Value, similarity: float, asked: ViewQuestion) -> float:
        """The cosine and the shared topics, less the older the memory is."""
        near = similarity + _shared_topics(asked.text, value.text)
        if asked.on is None:
            return near
        age = max(0, (asked.on - value.said_at.date()).days)
        return near * math.exp(-age / _DAYS)


def _shared_topics(question: str, text: str) -> float:
    """The mean of the share of shared terms in the question and that in the text, 0 to 1."""
    wanted, held = set(terms(question)), set(terms(text))
    if not (wanted and held):
        return 0.0
    shared = len(wanted & held)
    return (shared / len(wanted) + shared / len(held)) / 2
