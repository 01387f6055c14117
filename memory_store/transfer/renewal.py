"""What indexing anew makes again of a record, and what it must leave as it is. Pure.

The rules' facts, and the links that rules made, follow from the texts. The value, the facts that a
model found and the links that it chose do not: they are kept.
"""

from dataclasses import replace

from memory_store.changes.chains import RULE, without_rule_links
from memory_store.changes.correction import GIVEN, given_facts
from memory_store.facts import rule_facts, slot_of
from memory_store.language import ENGLISH, Language
from memory_store.transfer.records import to_line
from memory_store.types import Fact, Record, Speaker


def renewed(record: Record, language: Language = ENGLISH) -> Record:
    """The record with the facts that today's rules find, without the links of rules. Facts that
    the user gave, or said who said them, are all there is."""
    if given := given_facts(record):
        facts = [replace(without_rule_links(f), slot=language.slot_of(f.text)) for f in given]
        return replace(record, facts=tuple(facts))
    kept = {fact.text: without_rule_links(fact) for fact in record.facts if _is_kept(fact)}
    facts = []
    for fact in rule_facts(record.round, language):
        known = kept.pop(fact.text, fact)
        facts.append(
            replace(
                known,
                speaker=fact.speaker,
                event_dates=fact.event_dates,
                slot=fact.slot,
                in_doubt=fact.in_doubt,
            )
        )
    said = record.round.user_text
    facts += [replace(fact, slot=slot_of(fact.text, said, language)) for fact in kept.values()]
    return replace(record, facts=tuple(facts))


def lasting(record: Record) -> bytes:
    """What must be the same in every index of the record."""
    kept = [without_rule_links(fact) for fact in record.facts if _is_kept(fact)]
    plain = [replace(fact, slot=None, event_dates=(), in_doubt=False) for fact in kept]
    told = [replace(fact, speaker=Speaker.USER) if _is_read(fact) else fact for fact in plain]
    ordered = tuple(sorted(told, key=lambda fact: fact.text))
    return to_line(replace(record, facts=ordered)).encode()


def _is_read(fact: Fact) -> bool:
    """Whether its speaker follows from the text, as today's rules read it."""
    return fact.source != GIVEN and fact.speaker is not Speaker.ASSISTANT


def _is_kept(fact: Fact) -> bool:
    chosen = without_rule_links(fact)
    return fact.source != RULE or bool(chosen.superseded_by or chosen.supersedes)
