"""Messages that are another's words or the user's own, and what becomes of earlier statements."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_store import Extraction, Fact, FactLink, Record, Round, Speaker, rule_facts
from memory_store._changes.extraction import enriched
from memory_store._changes.links import linked

FOLDER = Path(__file__).parents[2] / "tests" / "memory_store" / "language" / "whose_words"
_BEGINS = re.compile(r"^@@@ ", re.M)
_LONG_AGO = datetime(2023, 1, 10, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ChangeOfMind:
    """What a user said of themselves, a later message, and what that says instead."""

    language: str
    style: str
    before: str
    says: str
    text: str

    @property
    def rounds(self) -> tuple[Round, Round]:
        """Both messages, a month apart."""
        later = _LONG_AGO + timedelta(days=30)
        return (
            Round("ann", "then", 0, _LONG_AGO, self.before),
            Round("ann", "now", 0, later, self.text),
        )


def cases(name: str) -> list[ChangeOfMind]:
    """The cases of a file: pasted or genuine, dev, held or fresh."""
    blocks = _BEGINS.split((FOLDER / f"{name}.txt").read_text("utf-8"))[1:]
    return list(map(_read, blocks))


def _read(block: str) -> ChangeOfMind:
    head, _, text = block.partition("\n")
    language, style, before, says = (part.strip() for part in head.split(" | "))
    return ChangeOfMind(language, style, before, says, text.strip())


def by_rules(case: ChangeOfMind) -> list[Record]:
    """Both rounds with what the rules find in them, linked."""
    records = [Record(round, rule_facts(round)) for round in case.rounds]
    slots = {fact.slot for record in records for fact in record.facts if fact.slot}
    return linked(records, slots)


def is_replaced_by_rules(case: ChangeOfMind) -> bool:
    """Whether anything that was said before no longer holds."""
    before, _ = by_rules(case)
    return any(fact.superseded_by for fact in before.facts)


def is_in_reach(case: ChangeOfMind) -> bool:
    """Whether the rules would replace it if all of the message were surely the user's own."""
    records = [
        replace(record, facts=tuple(_surely_own(record.facts)))
        for record in (Record(round, rule_facts(round)) for round in case.rounds)
    ]
    slots = {fact.slot for record in records for fact in record.facts if fact.slot}
    return any(fact.superseded_by for fact in linked(records, slots)[0].facts)


def is_replaced_by_a_model(case: ChangeOfMind) -> bool:
    """Whether a model that takes the statement for the user's own is believed."""
    before, now = case.rounds
    older = FactLink(before.id, case.before, before.session_date, "a model")
    fact = Fact(case.says, Speaker.USER, "a model", supersedes=(older,))
    record = enriched(Record(now), Extraction("a model", (fact,)))
    return any(fact.supersedes for fact in record.facts)


def speakers(case: ChangeOfMind) -> set[Speaker]:
    """Who is taken to have said what the message says, where the rules find it at all."""
    _, now = by_rules(case)
    said = case.says.lower()
    return {fact.speaker for fact in now.facts if said in " ".join(fact.text.lower().split())}


def _surely_own(facts: Sequence[Fact]) -> Iterator[Fact]:
    return (replace(fact, speaker=Speaker.USER, in_doubt=False) for fact in facts)
