"""Which statements are quoted, and in which order; what our own answers left is not."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from assistant.reading.question_kind import question_kind
from assistant.reading.quoting.passages import is_in_passage
from assistant.reading.quoting.wording import ADMITTED, NOTED, OURS, POLITE
from assistant.reading.statements import Statement, parts_gone, told_first
from memory_store import (
    FactLink,
    Kind,
    Recalled,
    Round,
    Speaker,
    kind_of,
    read_sentences,
    wants_answer,
)

# A quote much farther from the question than the best one is noise beside it.
_NEAR_THE_BEST = 0.6
# What introduces another's words, or sets them apart.
_NOT_TYPED = frozenset('\n:："“„«「`>')


# So many characters of one line are typed; more may well be pasted.
_TYPED = 400
_TELLING = (Kind.TELLS, Kind.CORRECTS, Kind.SMALL_TALK)


def as_typed(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, those of a message that looks typed as the user's: one line that tells
    something and introduces nothing. Casual talk is often taken for another's, which replaces
    nothing, but is what the user said."""
    return [
        replace(one, speaker=Speaker.USER)
        if one.speaker is Speaker.QUOTED and _is_typed(one.source.record.round.user_text.strip())
        else one
        for one in statements
    ]


def _is_typed(message: str) -> bool:
    return (
        len(message) <= _TYPED and _NOT_TYPED.isdisjoint(message) and kind_of(message) in _TELLING
    )


def near_the_best(statements: Sequence[Statement]) -> list[Statement]:
    """Those that are not much farther from the question than the first."""
    enough = statements[0].closeness * _NEAR_THE_BEST
    return [statement for statement in statements if statement.closeness >= enough]


def with_newer(quotes: Sequence[Statement], near: Sequence[Statement]) -> list[Statement]:
    """The quotes, and for each that no longer holds what was said instead, as far as it was
    recalled: the newest statement may be farther from the question than the old one."""
    every = list(quotes)
    for quote in every:  # which grows: what replaced it may have been replaced itself
        links = [quote.superseded_by, *(part.superseded_by for part in parts_gone(quote))]
        newer = [s for s in near for link in links if link and _holds(s, link)]
        every += [statement for statement in newer if statement not in every]
    return every


def holding_first(quotes: Sequence[Statement]) -> list[Statement]:
    """The quotes in their order, but what no longer holds after what was said instead, and last
    what was quoted from others."""
    ordered: list[Statement] = []
    for quote in sorted(quotes, key=lambda quote: quote.speaker is Speaker.QUOTED):
        links = [quote.superseded_by, *(part.superseded_by for part in parts_gone(quote))]
        newer = [q for q in quotes if q not in ordered and any(_holds(q, n) for n in links if n)]
        ordered += [one for one in (*newer, quote) if one not in ordered]
    return ordered


def in_order(quotes: Sequence[Statement]) -> list[Statement]:
    """The newest first, and last what was quoted from others; of one day what holds before what it
    replaced, and as they were given."""

    def place(statement: Statement) -> tuple[bool, date, bool]:
        is_own = statement.speaker is not Speaker.QUOTED
        return is_own, statement.said_on, statement.superseded_by is None

    return sorted(distinct(quotes), key=place, reverse=True)


def _holds(statement: Statement, link: FactLink) -> bool:
    said = statement.speaker is Speaker.USER and statement.source.record.id == link.round_id
    return said and link.text in statement.text


def distinct(quotes: Sequence[Statement]) -> list[Statement]:
    """Each statement of a day once; one that is quoted with another is in that one."""
    leads = {(quote.source.record.id, quote.lead) for quote in quotes}
    once = {(q.said_on, q.speaker, q.said_by, q.text): q for q in quotes}
    kept: list[Statement] = []
    for statement in once.values():
        within = any(is_in_passage(statement, other) for other in kept)
        if statement.key not in leads and not within:
            kept.append(statement)
    return kept


def without_ours(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Rounds without our own earlier quotes, which would only be quoted again."""
    return [_without_our_reply(found) for found in recalled]


def without_admissions(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Rounds without the questions that we could not answer: to ask for something is not to tell
    it, as other sentences beside the question do."""
    return [_without_admission(found) for found in recalled]


def _without_admission(found: Recalled) -> Recalled:
    said = found.record.round
    if not said.assistant_text.startswith(ADMITTED):
        return found
    return _telling(found, lambda sentence: question_kind(sentence).asks)


def _without_our_reply(found: Recalled) -> Recalled:
    said = found.record.round
    if any(said.assistant_text.startswith(polite) for polite in POLITE):
        # What we answered so told nothing: a greeting, thanks.
        return _saying(found, replace(said, user_text="", assistant_text=""))
    if said.assistant_text == NOTED:
        return _saying(found, replace(said, assistant_text=""))
    if not any(ours in said.assistant_text for ours in OURS):
        return found
    # What we answered with quotes was asked: its sentences tell something only where that is sure.
    return _telling(found, lambda sentence: "?" in sentence or wants_answer(sentence))


def _telling(found: Recalled, asks: Callable[[str], bool]) -> Recalled:
    """The round with what its user told alone, also where a question begins with it."""
    said, facts = found.record.round, [fact.text for fact in found.record.facts]
    told = (
        told_first(sentence, facts) if asks(sentence) else sentence
        for sentence in read_sentences(said.user_text)
    )
    # What a question begins with has no full stop.
    text = " ".join(filter(None, told))
    return _saying(found, replace(said, user_text=text, assistant_text=""))


def _saying(found: Recalled, round: Round) -> Recalled:
    return replace(found, record=replace(found.record, round=round))
