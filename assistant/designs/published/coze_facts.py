"""Coze's memory as LongMemEval describes the product: sparse facts about the user.

Wu et al., "LongMemEval" (ICLR 2025), section 3.4, which finds that it records too little. Here the
facts of a session are kept that give a lasting value ("I live in Ghent", "my dog is called Bo"), or
else the one statement that best tells the session from the others.
"""

from collections.abc import Sequence

from assistant.designs.control_points import Choices, ValueKind
from assistant.designs.design import Design
from assistant.designs.value import Value, by_session, of_facts
from memory_store import Fact, Record
from memory_store.language import Rarity, telling_sentences

_MOST = 3


class CozeFacts(Design):
    """At most a few facts of a session, without its rounds."""

    name = "coze-facts"
    paper = "as described in Wu et al. 2025, arXiv:2410.10813"
    choices = Choices(value=ValueKind.FACT)

    async def values(self, records: Sequence[Record], rarity: Rarity) -> list[Value]:
        """The sparse facts of every session, those of a round together."""
        return [
            of_facts(record, facts)
            for session in by_session(records)
            for record, facts in self._sparse(session, rarity)
        ]

    def _sparse(self, session: Sequence[Record], rarity: Rarity) -> list[tuple[Record, list[Fact]]]:
        stated = [(record, fact) for record in session for fact in self.kept_facts(record)]
        held = [(record, fact) for record, fact in stated if fact.superseded_by is None]
        lasting = [(record, fact) for record, fact in held if fact.slot][:_MOST]
        if not lasting:
            best = telling_sentences([fact.text for _, fact in held], rarity, 1)
            lasting = [(record, fact) for record, fact in held if fact.text in best][:1]
        kept: dict[str, tuple[Record, list[Fact]]] = {}
        for record, fact in lasting:
            kept.setdefault(record.id, (record, []))[1].append(fact)
        return list(kept.values())
