"""What a user puts right in a later message: "Sorry, I got that wrong, it leaves on Friday."

Frames of statements know few such messages. The model of kinds tells that a message corrects; what
it corrects is what was said just before it, or else what has most of its words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assistant.reading.statements import Statement
from memory_store import FactLink, Kind, Round, Speaker, kind_of, shared_words

# Of the earlier statement's words, so many are in the correction, unless it was said just before.
_SHARED = 0.5
_POINTS_BACK = re.compile(r"\b(?:it|he|she|they|that|this|those|these|mine|ours)\b", re.I)


def put_right(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, in their order; each that the same user corrected later knows by what."""
    own = [s for s in statements if s.speaker is Speaker.USER]
    links: dict[tuple[str, str], FactLink] = {}
    for correction in _corrections(own):
        if corrected := _corrected(correction, own):
            round = correction.source.record.round
            links[corrected.key] = FactLink(round.id, correction.text, round.session_date)
    return [replace(s, superseded_by=s.superseded_by or links.get(s.key)) for s in statements]


def _corrections(own: Sequence[Statement]) -> Iterator[Statement]:
    """The first statement of each message that corrects."""
    firsts: dict[str, Statement] = {}
    for statement in own:
        first = firsts.setdefault(statement.source.record.id, statement)
        if _place(statement) < _place(first):
            firsts[statement.source.record.id] = statement
    for first in firsts.values():
        if kind_of(first.source.record.round.user_text) is Kind.CORRECTS:
            yield first


def _corrected(correction: Statement, own: Sequence[Statement]) -> Statement | None:
    said = correction.source.record.round
    earlier = [s for s in own if s.said_by == correction.said_by and _is_before(s, said)]
    if not earlier:
        return None
    shared = {s.key: shared_words(s.text, said.user_text) for s in earlier}
    just_before = [s for s in earlier if _is_just_before(s, said)]
    best = max(just_before or earlier, key=lambda s: shared[s.key])
    if just_before:
        refers = shared[best.key] > 0 or _POINTS_BACK.search(said.user_text)
        return best if refers else None
    return best if shared[best.key] >= _SHARED else None


def _is_before(statement: Statement, said: Round) -> bool:
    round = statement.source.record.round
    return (round.session_date, round.round_index) < (said.session_date, said.round_index)


def _is_just_before(statement: Statement, said: Round) -> bool:
    round = statement.source.record.round
    return (round.session_id, round.round_index) == (said.session_id, said.round_index - 1)


def _place(statement: Statement) -> int:
    return statement.source.record.round.user_text.find(statement.text)
