"""Which statements are quoted, and in which order.

What answers best stands first; of what may have changed since, what was said last. What a user put
right in a later message ("Sorry, I got that wrong, it leaves on Friday.") holds no longer. Frames
of statements recognise few such messages, so the model of kinds tells which message corrects. The
corrected statement is one made just before it, or else the one that shares most words with it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from heapq import nlargest
from itertools import islice

from assistant.answering.passages import is_in_passage, passages
from assistant.answering.statements import ASKS, ONLY_ASKS, Statement, parts_gone, superseded
from memory_store import (
    CONDITION,
    FactLink,
    MemoryReader,
    Record,
    Round,
    Speaker,
    is_anothers,
    reading_of,
)
from memory_store.language import Asked, Kind, shared_words, terms, wording

# A quote much farther from the question than the best one is noise beside it.
_NEAR_THE_BEST = 0.6
# A word in at most this many rounds is rare; this many later statements that share one are shown.
_RARE, _LATER = 2, 1
# Marks that set another's words apart.
_NOT_TYPED = frozenset('"“„«「`>')
# People type up to this many characters; a longer text may be pasted.
_TYPED = 400
_TELLS, _MAY_BE_WORK = 0.5, 0.4
# The source of a fact where the user has said whose words it is.
_BY_USER = "user"


def as_typed(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, where those of messages that look typed become the user's own. Such a message
    is a short paragraph that tells or asks something and introduces nothing. Casual talk is often
    classed as quoted, and quotes replace nothing, but it is what the user said."""
    return [
        one._replace(speaker=Speaker.USER)
        if one.speaker is Speaker.QUOTED and _is_typed(one.source.record)
        else one
        for one in statements
    ]


def _is_typed(one: Record) -> bool:
    round = one.round
    message = round.user_text.strip()
    if any(fact.source == _BY_USER for fact in one.facts):
        return False
    return (
        len(message) <= _TYPED
        and _NOT_TYPED.isdisjoint(message)
        and "\n\n" not in message
        and reading_of(round).telling + reading_of(round).asking >= _TELLS
        and reading_of(round).kinds[Kind.TASK] < _MAY_BE_WORK
    )


def near_the_best(statements: Sequence[Statement]) -> list[Statement]:
    """The first, and those that are not much farther from the question than it."""
    enough = _from(statements[0].closeness, _NEAR_THE_BEST)
    return [statement for statement in statements if statement.closeness >= enough]


def _from(best: float, share: float) -> float:
    """The least value that may stand beside the best: a share of it, or itself if below zero."""
    return min(best, best * share)


def with_newer(quotes: Sequence[Statement], near: Sequence[Statement]) -> list[Statement]:
    """The quotes, and for each that no longer holds what was said instead, as far as it was
    recalled: the newest statement may be farther from the question than the old one."""
    every = list(quotes)
    for quote in every:  # which grows: what replaced it may have been replaced itself
        links = _replaced_by(quote)
        newer = [s for s in near for link in links if _holds(s, link)]
        every += [statement for statement in newer if statement not in every]
    return every


def holding_first(quotes: Sequence[Statement]) -> list[Statement]:
    """The quotes in their order, but what no longer holds after what was said instead, and last
    what was quoted from others."""
    ordered: list[Statement] = []
    for quote in sorted(quotes, key=lambda quote: quote.speaker is Speaker.QUOTED):
        links = _replaced_by(quote)
        newer = [q for q in quotes if q not in ordered and any(_holds(q, n) for n in links)]
        ordered += [one for one in (*newer, quote) if one not in ordered]
    return ordered


def _replaced_by(quote: Statement) -> list[FactLink]:
    """What was said instead of it, or of a part of it; nothing where it ended by itself."""
    links = [quote.superseded_by, *(part.superseded_by for part in parts_gone(quote))]
    return [link for link in links if link and link.by != CONDITION]


def with_later(
    quotes: Sequence[Statement], near: Sequence[Statement], question: str
) -> list[Statement]:
    """The quotes, and behind the first of them what the user said later that shares a rare word
    with it, which the question does not have: "ridgeback got nicked" behind "i ride the old
    ridgeback"."""
    best = quotes[0]
    if best.speaker is not Speaker.USER:
        return list(quotes)
    own = [s for s in near if s.speaker is Speaker.USER and s.asking < ASKS]
    words = {s.key: frozenset(terms(s.text)) for s in (*own, best)}
    said_in = Counter(term for one in _by_round(own, words) for term in one)
    rare = {term for term in words[best.key] if said_in[term] <= _RARE} - set(terms(question))
    later = [s for s in own if _said_at(s) > _said_at(best) and not rare.isdisjoint(words[s.key])]
    newest = sorted(later, key=_said_at, reverse=True)[:_LATER]
    return [best, *(s for s in newest if s not in quotes), *quotes[1:]]


def _by_round(
    own: Sequence[Statement], words: Mapping[tuple[str, str], frozenset[int]]
) -> Iterator[frozenset[int]]:
    """The words of each round of the statements."""
    rounds: dict[str, frozenset[int]] = {}
    for one in own:
        round_id = one.source.record.id
        rounds[round_id] = rounds.get(round_id, frozenset()) | words[one.key]
    yield from rounds.values()


def without_questions(quotes: Sequence[Statement]) -> list[Statement]:
    """The quotes without what surely only asks; all of them where nothing else was said."""
    return [quote for quote in quotes if quote.asking < ONLY_ASKS] or list(quotes)


def askers_first(quotes: Sequence[Statement], question: str) -> list[Statement]:
    """The quotes in their order; but where a member of a shared space asks about themselves, their
    own quotes that are near enough to the question come first."""
    others = [one for one in quotes if is_anothers(one.source.record.round)]
    if not others or not wording("asked.who_asks").search(question):
        return list(quotes)
    enough = _from(max(one.closeness for one in quotes), _NEAR_THE_BEST)
    return sorted(quotes, key=lambda one: one in others or one.closeness < enough)


def reply_to(near: Sequence[Statement], best: Statement) -> list[Statement]:
    """The first statement of the reply to the nearest statement, where that is the user's: a reply
    that is asked for may have no word of the question."""
    if best.speaker is not Speaker.USER:
        return []
    round_id = best.source.record.id
    same = (s for s in near if s.source.record.id == round_id and s.speaker is Speaker.ASSISTANT)
    return list(islice(same, 1))


def in_order(quotes: Sequence[Statement]) -> list[Statement]:
    """The quotes, newest first, and those quoted from others last. On one day what holds comes
    before what no longer holds; otherwise the given order stays."""

    def place(statement: Statement) -> tuple[bool, date, bool]:
        is_own = statement.speaker is not Speaker.QUOTED
        return is_own, statement.said_on, statement.superseded_by is None

    return sorted(distinct(quotes), key=place, reverse=True)


def _holds(statement: Statement, link: FactLink) -> bool:
    said = statement.speaker is Speaker.USER and statement.source.record.id == link.round_id
    return said and link.text in statement.text


def distinct(quotes: Sequence[Statement]) -> list[Statement]:
    """Each statement of a day once, without those that are part of another quote."""
    leads = {(quote.source.record.id, quote.lead) for quote in quotes}
    once = {(q.said_on, q.speaker, q.said_by, q.text): q for q in quotes}
    kept: list[Statement] = []
    for statement in once.values():
        within = any(is_in_passage(statement, other) for other in kept)
        if statement.key not in leads and not within:
            kept.append(statement)
    return kept


# The weights of the closeness of a sentence and of its round, where that of its passage counts in
# full. Chosen on diaries (benchmarks/LOG.md).
_SENTENCE, _ROUND = 0.5, 0.25
# Facts about people come from themselves, unless the reply is what is asked for. What the other
# speaker said has to be nearer by this much; the second number is for speakers with names.
_OTHER_SPEAKER, _OTHER_PERSON = 0.4, 0.2
# How much weight a statement loses that surely only asks.
_ASKING = 0.3
# A quote much farther from the question than the best one is noise beside it.
_ENOUGH = 0.35
# How many of the nearest statements are put into passages and weighed.
_LOOKED_AT = 32
# Passages with at least this share of the best one's weight may tell of the same thing.
_SAME_THING = 0.65
_DIGITS = 2
# Statements put in order of time are at least this close to the best one, and at least this many.
_ALIKE, _PAIR = 0.43, 2


async def ranked(
    store: MemoryReader, question: str, near: Sequence[Statement], kind: Asked
) -> list[Statement]:
    """The passages of these statements, the best for the question first, without those that are
    much farther from it."""
    found = passages(near[:_LOOKED_AT], store.language, replies=kind.about_replies)
    # What was weighed by itself is not weighed again.
    known = {one.quotable: one.closeness for one in near if not one.said_by}
    new = [one.quotable for one in found if one.quotable not in known]
    known |= zip(new, await store.closeness(question, new), strict=True)
    weighed = [one._replace(weight=_weight(one, known[one.quotable], kind)) for one in found]
    # Of equally good statements the newest comes first, and a question after whatever tells.
    weighed.sort(key=lambda one: (round(one.weight, _DIGITS), *_said_at(one)), reverse=True)
    if not kind.about_replies:
        weighed.sort(key=lambda one: one.asking >= ASKS)
    enough = _from(weighed[0].weight, _ENOUGH) if weighed else 0.0
    return [one for one in weighed if one.weight >= enough]


async def by_time(store: MemoryReader, question: str, best: Sequence[Statement]) -> list[Statement]:
    """The statements; first, in order of time, those that may tell of the same thing as the best:
    newest first, or oldest first where the question is how things were before."""
    told = [one for one in best if one.speaker is Speaker.USER and one.asking < ASKS]
    own = [one for one in told if not one.is_of_people]
    is_former = wording("answers.former").search(question) is not None
    if len(own) < _PAIR or (not is_former and wording("answers.past").search(question)):
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


def _said_at(statement: Statement) -> tuple[datetime, int]:
    round = statement.source.record.round
    return round.session_date, round.round_index


def _weight(statement: Statement, around: float, kind: Asked) -> float:
    replied = statement.speaker is Speaker.ASSISTANT
    other = _OTHER_PERSON if statement.is_of_people else _OTHER_SPEAKER
    handicap = 0.0 if replied is kind.about_replies else other
    if not kind.about_replies:
        handicap += _ASKING * statement.asking
    return (
        around + _SENTENCE * statement.closeness + _ROUND * statement.source.similarity - handicap
    )


# A correction holds this share of the earlier statement's words, unless that was said just before.
_SHARED = 0.5
# A correction may mean any of this many latest statements.
_CORRECTABLE = 100
# How sure a message has to be that it puts something right.
_CORRECTS = 0.5


def put_right(statements: Sequence[Statement]) -> list[Statement]:
    """The statements, in their order; each that its user corrected links to the correction."""
    own = [s for s in statements if s.speaker is Speaker.USER]
    links: dict[tuple[str, str], FactLink] = {}
    for correction in _corrections(own):
        if corrected := _corrected(correction, own):
            round = correction.source.record.round
            links[corrected.key] = FactLink(round.id, correction.text, round.session_date)
    return superseded(statements, links)


def _corrections(own: Sequence[Statement]) -> Iterator[Statement]:
    """The first statement of each message that corrects."""
    firsts: dict[str, Statement] = {}
    for statement in own:
        first = firsts.setdefault(statement.source.record.id, statement)
        if _place(statement) < _place(first):
            firsts[statement.source.record.id] = statement
    for first in firsts.values():
        if reading_of(first.source.record.round).corrects >= _CORRECTS:
            yield first


def _corrected(correction: Statement, own: Sequence[Statement]) -> Statement | None:
    said = correction.source.record.round
    earlier = [s for s in own if s.said_by == correction.said_by and _is_before(s, said)]
    if not earlier:
        return None
    just_before = [s for s in earlier if _is_just_before(s, said)]
    looked_at = just_before or nlargest(_CORRECTABLE, earlier, key=_said_at)
    shared = {s.key: shared_words(s.text, said.user_text) for s in looked_at}
    best = max(looked_at, key=lambda s: shared[s.key])
    if just_before:
        refers = shared[best.key] > 0 or wording("answers.points").search(said.user_text)
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
