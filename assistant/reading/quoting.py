"""The reader without a language model: it answers with dated quotes, or says it does not know."""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import pairwise

from assistant.dates import print_day
from assistant.reading.conclusions import Concluder
from assistant.reading.excerpt import shortened
from assistant.reading.passages import is_in_passage, passages
from assistant.reading.question_kind import QuestionKind, question_kind
from assistant.reading.reader import AnswerPiece, Question, Trace
from assistant.reading.statements import (
    Statement,
    nearest_statements,
    superseded_among_others,
)
from assistant.reading.task_reply import task_reply
from assistant.reading.unheard import unheard
from assistant.reading.unsaid import unsaid
from memory_store import (
    Days,
    Fact,
    FactLink,
    MemoryStore,
    Recalled,
    Round,
    Speaker,
    asked_slot,
    sentences,
    stated,
)

NO_MEMORY = (
    "I have no language model to answer with (set chat_model), and memory is off for this message."
)
NOTED = "Noted."
_ADMITTED = "I don't know:"
UNKNOWN = f"{_ADMITTED} I found nothing about that in what we talked about."
_NOTHING_THEN = f"{_ADMITTED} I found nothing of that time in what we talked about."
_OPENING = "From what we talked about:"
_CLOSEST = "The closest that I find:"
# What our own answers hold; they are never quoted again.
_OURS = (_OPENING, _CLOSEST, UNKNOWN, _NOTHING_THEN)
_ROUNDS = 8
# Names are looked for in more rounds than are quoted: a wrong "never" is worse than none.
_ROUNDS_FOR_NAMES = 20
_QUOTES = 4
# To count, or to fit advice to somebody, a few quotes are too few.
_MANY_QUOTES = 8
_LONGEST_QUOTE = 400
_OF_ONESELF = re.compile(r"\b(?:i|my|me|we|us|our)\b", re.I)
# An exclamation that tells what happened, and nothing else of it.
_FEW_WORDS = 4
# A quote much farther from the question than the best one is noise beside it.
_NEAR_THE_BEST = 0.6
# What a sentence of the speaker who is not asked for has to be nearer, to come first.
_OTHER_SPEAKER = 0.1


class QuotingReader:
    """Quotes the sentences nearest to the question, newest first, under what follows from them."""

    name = "quotes"
    reads_conversation = False
    most_rounds = _ROUNDS_FOR_NAMES

    def __init__(self, store: MemoryStore, *, floor: float) -> None:
        self._store = store
        self._floor = floor

    async def read(self, question: Question) -> AsyncGenerator[AnswerPiece, None]:
        """See `Reader.read`. The answer comes in one piece."""
        if question.recalled is None:
            yield AnswerPiece(_without_memory(question), Trace())
            return
        kind = question_kind(question.text)
        if not kind.asks:
            yield AnswerPiece(NOTED, Trace())
            return
        answer, quoted = await self._answer(question, kind, question.recalled)
        read = tuple(dict.fromkeys(quote.source.record.id for quote in quoted))
        yield AnswerPiece(answer, Trace(context=read, quoted=read))

    async def _answer(
        self, question: Question, kind: QuestionKind, recalled: Sequence[Recalled]
    ) -> tuple[str, list[Statement]]:
        if kind.about_user:
            return await self._told(question, kind, recalled, _is_of_oneself, UNKNOWN)
        if question.days is not None:
            then = partial(_is_of, question.days)
            return await self._told(question, kind, recalled, then, _NOTHING_THEN)
        slot = asked_slot(question.text)
        farther = (found for found in recalled[_ROUNDS:] if slot in _slots(found))
        best = _without_ours([*recalled[:_ROUNDS], *farther])
        near = superseded_among_others(
            await nearest_statements(
                self._store, question.text, best, about_replies=kind.about_replies
            )
        )
        # "I moved to Ghent" tells where somebody lives, however unlike the question it is.
        telling = [s for s in near if _tells(s, slot)]
        if not near or await self._closest(question, kind, best, near) < self._floor:
            near = telling
        if not near:
            return UNKNOWN, []
        near.sort(key=lambda s: s.nearness - _handicap(s, kind), reverse=True)
        told = _without_admissions(recalled[:_ROUNDS_FOR_NAMES])
        # What the assistant said was said in "our conversation", which nobody mentioned in it.
        if strangers := unheard(question.text, told, things=not kind.about_replies):
            closest = _near(near)[:_QUOTES]
            return f"{_never_came_up(strangers)}\n{_print(closest, kind, _CLOSEST)}", closest
        if name := unsaid(question.text, near):
            closest = sorted(near, key=lambda s: -s.closeness)[:_QUOTES]
            return f"{_only_from_others(name)}\n{_print(closest, kind, _CLOSEST)}", closest
        if kind.wants_suggestion and not kind.about_replies:
            near = [s for s in near if s.speaker is Speaker.USER] or near
        broad = kind.counts or kind.wants_suggestion
        most = _MANY_QUOTES if broad else _QUOTES
        concluder = Concluder(self._store, question.text, question.asked_at.date())
        conclusion, grounds = await concluder.conclude(kind, near, _near(near)[:most])
        ordered = kind.orders and bool(grounds)
        quotes = passages(_near(near), most) if kind.about_replies else _near(near)[:most]
        quotes = _with_next(_with_newer([*telling, *quotes], near), near)
        shown = grounds if ordered else _in_order([*grounds, *quotes])
        quoted = _print(shown, kind)
        return f"{conclusion}\n{quoted}" if conclusion else quoted, shown

    async def _told(
        self,
        question: Question,
        kind: QuestionKind,
        recalled: Sequence[Recalled],
        wanted: Callable[[Statement], bool],
        nothing: str,
    ) -> tuple[str, list[Statement]]:
        """The user's statements that are wanted, however near: none is like a question for all of
        them."""
        near = superseded_among_others(
            await nearest_statements(self._store, question.text, recalled, replies=False)
        )
        told = [statement for statement in near if wanted(statement)][:_MANY_QUOTES]
        if not told:
            return nothing, []
        shown = _in_order(_with_newer(told, near))
        return _print(shown, kind), shown

    async def _closest(
        self,
        question: Question,
        kind: QuestionKind,
        best: Sequence[Recalled],
        near: Sequence[Statement],
    ) -> float:
        """How close the closest sentence is, or the request whose reply is asked for."""
        closest = max(statement.closeness for statement in near)
        if kind.about_replies:
            request = best[0].record.round.user_text
            closest = max(closest, *await self._store.closeness(question.text, [request]))
        return closest


def _slots(found: Recalled) -> dict[str | None, str]:
    """The statements of a round that give a value and still hold, by what they give it for."""
    holding = [fact for fact in found.record.facts if fact.superseded_by is None]
    return {fact.slot: fact.text for fact in holding if fact.slot}


def _tells(statement: Statement, slot: str | None) -> bool:
    """Whether it is, or holds, what its round says to give the value of the slot."""
    told = _slots(statement.source).get(slot)
    return told is not None and told in statement.text


def _is_of_oneself(statement: Statement) -> bool:
    return _OF_ONESELF.search(statement.quotable) is not None


def _is_of(days: Days, statement: Statement) -> bool:
    """Whether it was said on one of the days, or talks about one."""
    told = (*statement.event_dates, Days(statement.said_on, statement.said_on))
    return any(days.within(one) for one in told)


def _without_memory(question: Question) -> str:
    if question.is_task:
        return task_reply(question.text, question.conversation)
    # An excuse is no answer to be remembered.
    return NOTED if question.is_kept else NO_MEMORY


def _without_ours(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Rounds without our own earlier quotes, which would only be quoted again."""
    return [_without_our_reply(found) for found in recalled]


def _without_admissions(recalled: Sequence[Recalled]) -> list[Recalled]:
    """Rounds without the questions that we could not answer: to ask for something is not to tell
    it, as other sentences beside the question do."""
    return [_without_admission(found) for found in recalled]


def _without_admission(found: Recalled) -> Recalled:
    said = found.record.round
    if not said.assistant_text.startswith(_ADMITTED):
        return found
    told = " ".join(s for s in sentences(said.user_text) if not question_kind(s).asks)
    return _saying(found, replace(said, user_text=told, assistant_text=""))


def _saying(found: Recalled, round: Round) -> Recalled:
    return replace(found, record=replace(found.record, round=round))


def _without_our_reply(found: Recalled) -> Recalled:
    said = found.record.round
    if said.assistant_text != NOTED and not any(ours in said.assistant_text for ours in _OURS):
        return found
    return _saying(found, replace(said, assistant_text=""))


def _near(statements: Sequence[Statement]) -> list[Statement]:
    """Those that are not much farther from the question than the first."""
    enough = statements[0].closeness * _NEAR_THE_BEST
    return [statement for statement in statements if statement.closeness >= enough]


def _with_newer(quotes: Sequence[Statement], near: Sequence[Statement]) -> list[Statement]:
    """The quotes, and for each that no longer holds what was said instead, as far as it was
    recalled: the newest statement may be farther from the question than the old one."""
    every = list(quotes)
    for quote in every:  # which grows: what replaced it may have been replaced itself
        links = [quote.superseded_by, *(part.superseded_by for part in _parts_gone(quote))]
        newer = [s for s in near for link in links if link and _holds(s, link)]
        every += [statement for statement in newer if statement not in every]
    return every


def _holds(statement: Statement, link: FactLink) -> bool:
    return statement.source.record.id == link.round_id and link.text in statement.text


def _parts_gone(quote: Statement) -> list[Fact]:
    """What no longer holds of a sentence that states several things."""
    facts = quote.source.record.facts
    return [f for f in facts if f.superseded_by and f.text != quote.text and f.text in quote.text]


def _with_next(quotes: Sequence[Statement], near: Sequence[Statement]) -> list[Statement]:
    """The quotes; after one of a few words ("We moved!") or of what is over ("I no longer work at
    Acme.") the sentence that tells the rest."""
    by_key = {statement.key: statement for statement in near}
    every: list[Statement] = []
    for quote in quotes:
        every.append(quote)
        known = stated(quote.text)
        if len(quote.text.split()) <= _FEW_WORDS or (known is not None and not known.holds):
            id, text = quote.key
            after = dict(pairwise(sentences(quote.source.record.round.user_text))).get(text, "")
            every += [by_key[id, after]] if (id, after) in by_key else []
    return every


def _in_order(quotes: Sequence[Statement]) -> list[Statement]:
    """The newest first; of one day what holds before what it replaced, and as they were given."""
    return sorted(
        _distinct(quotes), key=lambda s: (s.said_on, s.superseded_by is None), reverse=True
    )


def _distinct(quotes: Sequence[Statement]) -> list[Statement]:
    """Each statement of a day once; one that is quoted with another is in that one."""
    leads = {(quote.source.record.id, quote.lead) for quote in quotes}
    once = {(q.said_on, q.speaker, q.said_by, q.text): q for q in quotes}
    return [
        statement
        for statement in once.values()
        if statement.key not in leads
        and not any(is_in_passage(statement, q) for q in once.values() if q is not statement)
    ]


def _handicap(statement: Statement, kind: QuestionKind) -> float:
    """Facts about people come from themselves, unless the reply is what is asked for."""
    asked = Speaker.ASSISTANT if kind.about_replies else Speaker.USER
    return 0.0 if statement.speaker is asked else _OTHER_SPEAKER


def _never_came_up(names: Sequence[str]) -> str:
    return f"{_ADMITTED} {' and '.join(names)} never came up in what we talked about."


def _only_from_others(name: str) -> str:
    return f"{_ADMITTED} I find nothing of that from {name}, only from others."


def _print(quotes: Sequence[Statement], kind: QuestionKind, opening: str = _OPENING) -> str:
    lines = [opening]
    for quote in quotes:
        who = quote.said_by or ("you" if quote.speaker is Speaker.USER else "I")
        day = print_day(quote.source.record.round.session_date)
        when = _day_meant(quote) if kind.about_time else ""
        said = shortened(quote.quotable, _LONGEST_QUOTE)
        lines.append(f"- On {day} {who} said: “{said}”{when}{_until(quote)}")
    return "\n".join(lines)


def _day_meant(quote: Statement) -> str:
    """Says which day "yesterday" or "12 June next year" was meant to be."""
    day = quote.quoted_day
    if day is None or day == quote.said_on or _names(quote.quotable, day):
        return ""
    return f" (that is {day:%a %Y-%m-%d})"


def _names(text: str, day: date) -> bool:
    """Whether the text says the date itself; that of "next year" is still to be worked out."""
    dated = re.search(rf"\b(?:{day:%B}|{day:%b})\b|\d[-/]\d", text, re.I)
    return dated is not None and not re.search(r"\byear\b", text, re.I)


def _until(quote: Statement) -> str:
    """Says of what no longer holds since when it does not."""
    if newer := quote.superseded_by:
        return f" (no longer: see {print_day(newer.said_at)})"
    gone = {part.text.rstrip("."): part.superseded_by for part in _parts_gone(quote)}
    seen = (f"“{text}”: see {print_day(link.said_at)}" for text, link in gone.items() if link)
    return f" (no longer {', '.join(seen)})" if gone else ""
