"""In which order passages are quoted: what answers best stands first, and of what may have changed
since, what was said last."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from assistant.reading.question_kind import QuestionKind
from assistant.reading.quoting.passages import passages
from assistant.reading.statements import Statement
from memory_store import MemoryStore, Speaker

# Closeness of a sentence, and of its round, beside that of its passage. Chosen on diaries
# (docs/reading.md).
_SENTENCE, _ROUND = 0.5, 0.25
# Facts about people come from themselves, unless the reply is what is asked for: by so much nearer
# has to be what the other one said.
_OTHER_SPEAKER, _OTHER_PERSON = 0.4, 0.2
# What seems to be another's words, in a message of one's own.
_QUOTED = 0.1
# A quote much farther from the question than the best one is noise beside it; a short message
# costs little to read, and a diary's least: there, less of what comes near is of something else.
_NEAR_THE_BEST, _SHORT_NEAR, _DIARY_NEAR, _FEW_WORDS = 0.65, 0.55, 0.35, 25
# Of how many statements, the nearest first, the passages are looked at.
_LOOKED_AT = 32
# Passages so near to the best one may well tell of the same thing.
_SAME_THING = 0.7
_DIGITS = 2
# How near to it they are at least, and how many make an order.
_ALIKE, _PAIR = 0.45, 2
# "Has she seen it?" asks what happened, "does she have it?" how things are.
_PAST = re.compile(
    r"\b(?:did|didn['’]?t|was|wasn['’]?t|were|weren['’]?t|had|hadn['’]?t)\b"
    r"|\b(?:has|have)(?!\s+(?:to|an?|the|my|any)\b)\s+\w+\s+\w+",
    re.I,
)
_FORMER = re.compile(r"\b(?:before|used to|original(?:ly)?|previous(?:ly)?|former(?:ly)?)\b", re.I)


async def ranked(
    store: MemoryStore, question: str, near: Sequence[Statement], kind: QuestionKind
) -> list[Statement]:
    """The passages of these statements, the best for the question first, without those that are
    much farther from it."""
    found = passages(near[:_LOOKED_AT], store.language, replies=kind.about_replies)
    closeness = await store.closeness(question, [one.quotable for one in found])
    weighed = [
        replace(one, weight=_weight(one, around, kind))
        for one, around in zip(found, closeness, strict=True)
    ]
    # Of what is as good, the newest.
    weighed.sort(key=lambda one: (round(one.weight, _DIGITS), *_said_at(one)), reverse=True)
    if not weighed:
        return []
    best = weighed[0].weight
    return [one for one in weighed if one.weight >= best * _enough(one)]


async def by_time(store: MemoryStore, question: str, best: Sequence[Statement]) -> list[Statement]:
    """Of those that may tell of the same thing as the best the newest first, where the question is
    how things are, and the oldest, where it is how they were before; the others behind them."""
    own = [one for one in best if one.speaker is Speaker.USER and not _is_named(one)]
    is_former = _FORMER.search(question) is not None
    if len(own) < _PAIR or (not is_former and _PAST.search(question)):
        return list(best)
    enough = own[0].weight * _SAME_THING
    near = await store.closeness(own[0].quotable, [one.quotable for one in own])
    same = [
        one
        for one, closeness in zip(own, near, strict=True)
        if one is own[0] or (one.weight >= enough and closeness >= _ALIKE)
    ]
    same.sort(key=_said_at, reverse=not is_former)
    return [*same, *(one for one in best if one not in same)]


def _is_named(statement: Statement) -> bool:
    """Whether it is of a conversation whose speakers have names: nobody's diary."""
    return bool(statement.source.record.round.user_name)


def _said_at(statement: Statement) -> tuple[datetime, int]:
    round = statement.source.record.round
    return round.session_date, round.round_index


def _enough(statement: Statement) -> float:
    """The share of the best one's weight that a quote needs: a short one costs little to read."""
    is_short = len(statement.quotable.split()) <= _FEW_WORDS
    if not is_short or statement.speaker is Speaker.ASSISTANT:
        return _NEAR_THE_BEST
    return _SHORT_NEAR if _is_named(statement) else _DIARY_NEAR


def _weight(statement: Statement, around: float, kind: QuestionKind) -> float:
    replied = statement.speaker is Speaker.ASSISTANT
    other = _OTHER_PERSON if _is_named(statement) else _OTHER_SPEAKER
    handicap = 0.0 if replied is kind.about_replies else other
    if statement.speaker is Speaker.QUOTED:
        handicap += _QUOTED
    return (
        around + _SENTENCE * statement.closeness + _ROUND * statement.source.similarity - handicap
    )
