"""LD-Agent: summaries of sessions, found by meaning and shared topics, weighed by their age.

Li et al., "Hello Again! LLM-powered Personalized Agent for Long-term Dialogue" (NAACL 2025).

Its event memory scores a summary by its cosine and by the topics (nouns) that it shares with the
question, both multiplied with exp(-t / T), t the time since the session. All words that are no stop
words count as nouns here. The personas that the paper extracts are left out: they change how the
agent speaks.
"""

import math

from assistant.designs.control_points import Choices, KeySource, ValueKind
from assistant.designs.design import Design
from assistant.designs.value import Value, ViewQuestion
from memory_store.language import shared_words

# The days in which a weight falls to a third. The paper's is about ten days of a chat of weeks;
# memories here reach over months, and answers lie in the old ones, too.
_DAYS = 180.0
# Shared topics add at most this to a cosine.
_TOPICS = 0.5


class LdAgent(Design):
    """Session summaries by meaning, topic and age."""

    name = "ld-agent"
    paper = "Li et al. 2025, arXiv:2406.05925"
    choices = Choices(value=ValueKind.SUMMARY, keys=(KeySource.VALUE, KeySource.KEYPHRASE))

    def weigh(self, value: Value, similarity: float, asked: ViewQuestion) -> float:
        """The cosine and the shared topics, less the older the session is."""
        near = similarity + _TOPICS * shared_words(asked.text, value.text)
        if asked.on is None:
            return near
        age = max(0, (asked.on - value.said_at.date()).days)
        return near * math.exp(-age / _DAYS)
