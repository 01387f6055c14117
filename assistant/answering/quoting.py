"""The reader without a language model: it answers with dated quotes, or says it does not know."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from operator import not_
from typing import NamedTuple

from assistant.answering.conclusions import Concluder, names_topic, overview, unheard, unsaid
from assistant.answering.passages import passages
from assistant.answering.phrases import (
    CLOSEST,
    NO_MEMORY,
    NOTED,
    NOTHING_THEN,
    ONLY_ASKED,
    OPENING,
    OVERVIEW,
    PARTLY,
    UNKNOWN,
    UNSURE,
    left_out,
    never_came_up,
    only_from_others,
)
from assistant.answering.profile import profile
from assistant.answering.reader import AnswerPiece, Outcome, Question, Trace, as_read
from assistant.answering.selection import (
    as_typed,
    askers_first,
    by_time,
    distinct,
    holding_first,
    in_order,
    near_the_best,
    put_right,
    ranked,
    reply_to,
    with_later,
    with_newer,
    without_questions,
)
from assistant.answering.statements import (
    ASKS,
    Statement,
    nearest_statements,
    superseded_among_others,
    with_days,
)
from assistant.answering.wording import print_quotes, task_reply
from memory_store import Days, MemoryReader, Recalled, Speaker, reading_of
from memory_store.language import Asked
from memory_store.scheduler import aside

_ROUNDS = 14
_TELLS = 0.2
# Names are looked for in more rounds than are quoted: a wrong "never" is worse than none.
_ROUNDS_FOR_NAMES = 20
_ROUNDS_FOR_OVERVIEW = 60
# Rounds of people who speak by name are short, so fewer of them are quoted.
_QUOTES, _QUOTES_OF_PEOPLE = 5, 4
# Beside "I don't know" stand at most so many statements; below this share of the floor, one.
_CLOSEST, _MAY_BE_MEANT = 5, 0.6
# If a quote is at least as near as the first number, no thing is denied for not having come up. A
# quote at the second, times the floor, is shown without doubt. Chosen on plain messages.
_SURELY_NEAR, _SURE_FROM = 0.5, 1.2
# Up to this many times the floor, a thing of which the whole memory has no word is denied.
_NEW_FROM = 1.2
# A count, or advice that fits somebody, needs more than a few quotes.
_MANY_QUOTES = 8
# Replies count as nearer by this much where they are asked for.
_REPLIES = 0.1
# For `aside`: this many characters are searched for words while rules read one.
_READ_FAST = 16


class Answer(NamedTuple):
    """The text of an answer, the statements it quotes, and what became of the question."""

    text: str
    quotes: Sequence[Statement] = ()
    outcome: Outcome = Outcome.QUOTED
    may_be_it: bool = False
    """Whether it is not sure that the quotes answer the question."""

    @property
    def is_sure(self) -> bool:
        """Whether it neither denies nor doubts."""
        return self.outcome is Outcome.QUOTED and not self.may_be_it


class QuotingReader:
    """Quotes the sentences nearest to the question, newest first, under what follows from them."""

    name = "quotes"
    reads_conversation = False

    def __init__(self, store: MemoryReader, *, floor: float) -> None:
        self._store = store
        self._floor = floor

    def most_rounds(self, asked: Asked) -> int:
        """See `Reader.most_rounds`."""
        wide = self._store.language.has_rules and asked.overview
        return _ROUNDS_FOR_OVERVIEW if wide else _ROUNDS_FOR_NAMES

    def over(self, memory: MemoryReader) -> "QuotingReader":
        """See `Reader.over`."""
        return QuotingReader(memory, floor=self._floor)

    async def read(self, question: Question) -> AsyncGenerator[AnswerPiece, None]:
        """See `Reader.read`. The answer comes in one piece."""
        recalled = question.recalled
        if recalled is None:
            yield AnswerPiece(_without_memory(question), Trace())
            return
        question = as_read(question)
        answering = self._answer if self._store.language.has_rules else self._nearest
        answer = await answering(question, question.asked, recalled)
        if question.tells and not answer.is_sure:
            # Beside the acknowledgement of what was told, no answer is better than an unsure one.
            yield AnswerPiece("", Trace(), outcome=Outcome.UNKNOWN)
            return
        read = tuple(dict.fromkeys(quote.source.record.id for quote in answer.quotes))
        text = "\n".join(filter(None, (answer.text, left_out(question.left_out or {}))))
        yield AnswerPiece(text, Trace(context=read, quoted=read), outcome=answer.outcome)

    async def _nearest(
        self, question: Question, asked: Asked, recalled: Sequence[Recalled]
    ) -> Answer:
        """The nearest statements alone, for a language without rules."""
        best = recalled[:_ROUNDS]
        near = await nearest_statements(self._store, question.text, best)
        near = [one for one in near if one.asking < ASKS] or near
        if not near or max(s.closeness for s in near) < self._floor:
            return Answer(UNKNOWN, outcome=Outcome.UNKNOWN)
        shown = in_order(near_the_best(near)[:_QUOTES])
        return Answer(print_quotes(shown, asked), shown)

    async def _answer(
        self, question: Question, asked: Asked, recalled: Sequence[Recalled]
    ) -> Answer:
        if listed := await self._listed(question, asked, recalled):
            return listed
        near = await self._near(question, asked, recalled)
        if not near:
            return Answer(UNKNOWN, outcome=Outcome.UNKNOWN)
        # "I moved to Ghent" tells where somebody lives, however unlike the question it is.
        telling = [s for s in near if _tells(s, asked.slot)]
        nearness = await self._closest(question, asked, recalled, near)
        if not telling and (denial := await self._denial(question, recalled, near, nearness)):
            return denial
        if asked.wants_advice:
            near = [s for s in near if s.speaker is Speaker.USER] or near
        if asked.about_time:
            size = sum(len(s.text) for s in near)
            near = await aside(size, with_days, near, self._store.language)
        is_sure = bool(telling) or nearness >= self._floor * _SURE_FROM
        return await self._quoted(question, asked, near, telling, is_sure=is_sure)

    async def _near(
        self, question: Question, asked: Asked, recalled: Sequence[Recalled]
    ) -> list[Statement]:
        """Statements of the rounds, nearest first, each linked to what replaced it."""
        telling = [reading_of(one.record.round).telling >= _TELLS for one in recalled]
        told = [*compress(recalled, telling)]
        others = [*compress(recalled, map(not_, telling))]
        # A reply stands in the round of its request, which only asks: such rounds keep their place.
        first = recalled if asked.about_replies else [*told, *others]
        farther = [one for one in first[_ROUNDS:] if asked.slot in _slots(one)]
        best = [*first[:_ROUNDS], *farther]
        language = self._store.language
        found = await nearest_statements(
            self._store, question.text, best, about_replies=asked.about_replies
        )
        near = superseded_among_others(as_typed(found), language)
        near = await aside(sum(len(s.text) for s in near) // _READ_FAST, put_right, near)
        if question.left_out is not None:
            near = [s for s in near if s.superseded_by is None]
        if asked.about_replies:
            # Of statements that are as near, replies come first.
            replies = {Speaker.ASSISTANT: _REPLIES}
            return sorted(near, key=lambda s: -s.nearness - replies.get(s.speaker, 0.0))
        # A question is quoted only where little else is near.
        return sorted(near, key=lambda s: (s.asking >= ASKS, s.asking - s.nearness))

    async def _denial(
        self,
        question: Question,
        recalled: Sequence[Recalled],
        near: Sequence[Statement],
        nearness: float,
    ) -> Answer | None:
        """An answer that nothing is known, with what is closest; None where something near may
        answer."""
        strangers: Sequence[str] = ()
        if nearness >= self._floor:
            told = recalled[:_ROUNDS_FOR_NAMES]
            # "Our conversation" is no thing of the user's that must have been mentioned.
            things = nearness < _SURELY_NEAR and not question.asked.about_replies
            size = sum(one.record.round.size for one in told)
            is_far = nearness < self._floor * _NEW_FROM
            unknown = question.unknown if is_far else frozenset[str]()
            asking = question.asking or question.text
            strangers = await aside(
                size // _READ_FAST, unheard, asking, told, unknown if things else None
            )
        if strangers or nearness < self._floor:
            return self._unknown(near, nearness, strangers)
        if name := unsaid(question.text, near):
            closest = sorted(near, key=lambda s: -s.closeness)[:_QUOTES]
            text = f"{only_from_others(name)}\n{print_quotes(closest, Asked(), CLOSEST)}"
            return Answer(text, closest, Outcome.UNKNOWN)
        return None

    async def _listed(
        self, question: Question, asked: Asked, recalled: Sequence[Recalled]
    ) -> Answer | None:
        """The answer to a question that a few statements cannot answer: for all about the user, of
        a time, or of a topic. None for any other question."""
        if asked.about_user:
            return await self._profile(question, recalled)
        if asked.days is not None:
            then = partial(_is_of, replace(asked.days, zone=question.known.zone))
            return await self._told(question, asked, recalled, then, NOTHING_THEN)
        if asked.overview and not asked.about_replies:
            return await self._overview(question, asked, recalled)
        return None

    async def _profile(self, question: Question, recalled: Sequence[Recalled]) -> Answer:
        """All that is known of the user whose rounds were recalled."""
        days = question.known.within(Days(last=question.asked_at.date()))
        if recalled and days:
            user_id = recalled[0].record.round.user_id
            if known := await profile(self._store, user_id, days, question.where):
                return Answer(known.text, known.quotes)
        return Answer(UNKNOWN, outcome=Outcome.UNKNOWN)

    async def _quoted(
        self,
        question: Question,
        asked: Asked,
        near: Sequence[Statement],
        telling: Sequence[Statement],
        *,
        is_sure: bool,
    ) -> Answer:
        """The conclusion from the statements, and quotes of the nearest and of those `telling`."""
        usual = _QUOTES_OF_PEOPLE if near[0].is_of_people else _QUOTES
        wants_many = asked.counts or asked.wants_advice or not is_sure
        most = _MANY_QUOTES if wants_many else usual
        best = near_the_best(near)
        concluder = Concluder(self._store, question.text, question.asked_at.date())
        conclusion, grounds = await concluder.conclude(asked, near, best[:most])
        if asked.orders and grounds:
            shown = list(grounds)
        else:
            first = [*grounds, *(reply_to(near, best[0]) if asked.about_replies else ()), *telling]
            shown = await self._shown(question.text, asked, near, first, most)
        quoted = print_quotes(shown, asked, OPENING if is_sure or conclusion else UNSURE)
        text = f"{conclusion}\n{quoted}" if conclusion else quoted
        return Answer(text, shown, may_be_it=not (is_sure or conclusion))

    async def _shown(
        self,
        question: str,
        asked: Asked,
        near: Sequence[Statement],
        first: Sequence[Statement],
        most: int,
    ) -> list[Statement]:
        """The passages that are quoted: those that come `first` whatever they are like, and the
        best of the others."""
        language = self._store.language
        others = await ranked(self._store, question, near, asked)
        if asked.about_replies:
            others = [one for one in others if one.asking < ASKS]
        leading = passages(first, language, replies=asked.about_replies)
        chosen = distinct([*leading, *others])[: max(most, len(leading))]
        chosen = await by_time(self._store, question, chosen) if not first else chosen
        if not asked.about_replies:
            chosen = with_later(chosen, near, question)
        newer = passages(with_newer(chosen, near), language, replies=asked.about_replies)
        return askers_first(without_questions(holding_first(distinct(newer))), question)

    def _unknown(
        self, near: Sequence[Statement], nearness: float, strangers: Sequence[str]
    ) -> Answer:
        """An answer that nothing is known, with the closest statements: people ask in other words,
        and may mean them all the same."""
        denial = never_came_up(strangers) if strangers else UNKNOWN
        own = [s for s in near if s.speaker is not Speaker.ASSISTANT and s.asking < ASKS]
        if not strangers and (asked := self._only_asked(near, own)):
            text = f"{denial}\n{print_quotes(asked, Asked(), ONLY_ASKED)}"
            return Answer(text, asked, Outcome.UNKNOWN)
        if not own or near[0].is_of_people:
            return Answer(denial, outcome=Outcome.UNKNOWN)
        most = _CLOSEST if nearness >= self._floor * _MAY_BE_MEANT else 1
        closest = sorted(own, key=lambda s: -s.closeness)[:most]
        shown = passages(closest, self._store.language, replies=False)
        text = f"{denial}\n{print_quotes(shown, Asked(), CLOSEST)}"
        return Answer(text, shown, Outcome.UNKNOWN)

    def _only_asked(self, near: Sequence[Statement], told: Sequence[Statement]) -> list[Statement]:
        """The user's own questions that are near, where nothing that was told is as near."""
        asked = [s for s in near if s.speaker is Speaker.USER and s.asking >= ASKS]
        closest = sorted(asked, key=lambda s: -s.closeness)[:1]
        nearest_told = max((s.closeness for s in told), default=0.0)
        enough = max(self._floor * _SURE_FROM, nearest_told)
        return [one for one in closest if one.closeness >= enough]

    async def _told(
        self,
        question: Question,
        asked: Asked,
        recalled: Sequence[Recalled],
        wanted: Callable[[Statement], bool],
        nothing: str,
    ) -> Answer:
        """An answer with the user's `wanted` statements, however near, as none is like a question
        for all of them; the text `nothing` where there are none."""
        near = await self._told_in(question, recalled)
        told = [statement for statement in near if wanted(statement)][:_MANY_QUOTES]
        if not told:
            return Answer(nothing, outcome=Outcome.UNKNOWN)
        shown = in_order(with_newer(told, near))
        return Answer(print_quotes(shown, asked), shown)

    async def _told_in(self, question: Question, recalled: Sequence[Recalled]) -> list[Statement]:
        """Statements of users in the rounds, nearest first."""
        near = await nearest_statements(self._store, question.text, recalled, replies=False)
        near = [one for one in near if one.asking < ASKS]
        return superseded_among_others(as_typed(near), self._store.language)

    async def _overview(
        self, question: Question, asked: Asked, recalled: Sequence[Recalled]
    ) -> Answer:
        """Statements of the user on a topic, or at all, oldest first."""
        near = await self._told_in(question, recalled)
        of_topic = names_topic(question.text)
        nearness = max((s.closeness for s in near), default=0.0)
        if of_topic and nearness < self._floor:
            return self._unknown(near, nearness, ())
        shown, are_more = overview(near, self._store.language, of_topic=of_topic)
        if not shown:
            return Answer(UNKNOWN, outcome=Outcome.UNKNOWN)
        return Answer(print_quotes(shown, asked, PARTLY if are_more else OVERVIEW), shown)

    async def _closest(
        self,
        question: Question,
        asked: Asked,
        best: Sequence[Recalled],
        near: Sequence[Statement],
    ) -> float:
        """How close the closest sentence is, or the request whose reply is asked for."""
        told = [one for one in near if one.asking < ASKS]
        closest = max((one.closeness for one in told), default=0.0)
        if question.topic != question.text:
            # A statement seldom names the time at which it was made.
            texts = [one.quotable for one in told]
            closest = max(closest, *await self._store.closeness(question.topic, texts), 0.0)
        if asked.about_replies:
            request = best[0].record.round.user_text
            closest = max(closest, *await self._store.closeness(question.text, [request]))
        return closest


def _slots(found: Recalled) -> dict[str | None, str]:
    """The texts of the facts of a round that give a slot its value and still hold, by slot."""
    own = [fact for fact in found.record.facts if fact.is_users]
    holding = [fact for fact in own if fact.superseded_by is None]
    return {fact.slot: fact.text for fact in holding if fact.slot}


def _tells(statement: Statement, slot: str | None) -> bool:
    """Whether the statement contains the fact of its round that gives the slot its value."""
    told = _slots(statement.source).get(slot)
    return statement.speaker is Speaker.USER and told is not None and told in statement.text


def _is_of(days: Days, statement: Statement) -> bool:
    """Whether it was said on one of the days, or talks about one."""
    was_said_then = statement.source.record.round.was_said_on(days)
    return was_said_then or any(days.within(one) for one in statement.event_dates)


def _without_memory(question: Question) -> str:
    if question.is_task:
        return task_reply(question.text, question.conversation)
    # The answer that is stored must not be an excuse.
    return NOTED if question.is_kept else NO_MEMORY
