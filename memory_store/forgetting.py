"""What goes when rounds are forgotten: how much, and which texts no cache may still know. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memory_store.facts import sentences
from memory_store.keys import KeyDesign, keys_of
from memory_store.lengths import LONGEST_QUERY
from memory_store.recall.statement import as_statement
from memory_store.types import Record
from memory_store.words import terms


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was forgotten, or would be: rounds, their facts, and sessions gone whole."""

    rounds: int = 0
    facts: int = 0
    sessions: int = 0
    answers: int = 0
    """Answers of other rounds that repeated them, and are withdrawn."""
    changed_sessions: frozenset[str] = frozenset()
    """The sessions of these other rounds."""

    def __bool__(self) -> bool:
        return self.rounds > 0


def forgotten(
    gone: Sequence[Record], left: Collection[str], withdrawn: Sequence[Record]
) -> Forgotten:
    """The count of these rounds; `left` are the sessions of which other rounds stay."""
    sessions = {record.round.session_id for record in gone}
    facts = sum(len(record.facts) for record in gone)
    return Forgotten(
        rounds=len(gone),
        facts=facts,
        sessions=len(sessions - set(left)),
        answers=len(withdrawn),
        changed_sessions=frozenset(record.round.session_id for record in withdrawn),
    )


def embedded_texts(record: Record, design: KeyDesign) -> set[str]:
    """Every text of a round that may have been embedded: as a key, as the question that it was, or
    as a sentence that was weighed against one, alone or with the one before it."""
    user, assistant = record.round.user_text, record.round.assistant_text
    texts = {key.text for key in keys_of(record, design)} | {fact.text for fact in record.facts}
    texts |= {user, user[:LONGEST_QUERY], as_statement(user[:LONGEST_QUERY])}
    told = sentences(user)
    return texts | {*told, *map(" ".join, pairwise(told)), *sentences(assistant)}


def new_terms(record: Record) -> set[int]:
    """The terms of an answer that what the user said beside it has not."""
    round = record.round
    return set(terms(round.assistant_text)) - set(terms(round.user_text))


def told_in(record: Record) -> set[str]:
    """The sentences of both sides of a round."""
    return {*sentences(record.round.user_text), *sentences(record.round.assistant_text)}


def quotes(record: Record, told: Iterable[str]) -> bool:
    """Whether the answer has one of these whole sentences in it."""
    answer = record.round.assistant_text
    return any(sentence in answer for sentence in told)
