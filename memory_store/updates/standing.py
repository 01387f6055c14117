"""What of the recorded updates holds, seen from a day: links that lead nowhere, or to what was
said later, are left out. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from memory_store.types import Fact, FactLink, Record


def link_targets(records: Iterable[Record]) -> set[str]:
    """Ids of the rounds that the facts of the records are linked to."""
    return {
        link.round_id
        for record in records
        for fact in record.facts
        for link in (*fact.supersedes, *fact.contradicts, *filter(None, (fact.superseded_by,)))
    }


def standing(record: Record, linked: Mapping[str, Record], until: date | None) -> Record:
    """The record with the links that hold on that day.

    `linked` are the records its links lead to, by id. A round that was forgotten or written
    differently takes its links with it.
    """
    if not link_targets([record]):
        return record

    texts: dict[str, set[str]] = {}

    def holds(link: FactLink | None) -> bool:
        if link is None or link.round_id not in linked:
            return False
        if link.round_id not in texts:
            texts[link.round_id] = {fact.text for fact in linked[link.round_id].facts}
        seen = until is None or link.said_at.date() <= until
        return seen and link.text in texts[link.round_id]

    facts = tuple(
        replace(
            fact,
            superseded_by=fact.superseded_by if holds(fact.superseded_by) else None,
            supersedes=tuple(filter(holds, fact.supersedes)),
            contradicts=tuple(filter(holds, fact.contradicts)),
        )
        for fact in record.facts
    )
    return replace(record, facts=facts)


def superseded_parts(text: str, facts: Sequence[Fact]) -> list[Fact]:
    """What no longer holds of a sentence that states several things, among the facts of its
    record."""
    return [fact for fact in facts if fact.superseded_by and fact.text in text != fact.text]
